"""Workers of Ray, on several nodes of one machine: the same answer as one thread, whatever happens to them.

`tests/oracle/test_shards.py` has many more protocols and options, without Ray.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from typer.testing import CliRunner

import corpus
from generator import Protocol
from quorate import QuorateError, System
from quorate.cli.main import app
from quorate.cli.progress import line
from quorate.cluster.errors import LostError, WorkerLostError
from quorate.cluster.ray import _require_listener, _start
from quorate.cluster.worker import Job, Parcel
from quorate.model.define import define
from quorate.model.environment import Environment
from quorate.model.target import load
from quorate.options import Options
from quorate.protocols.paxos import Paxos
from quorate.results.result import Progress, Result
from quorate.search.check import check
from shards import answer, needs_one_process
from small_instances import SMALL, small

try:
    import ray
    from ray.cluster_utils import Cluster
except ImportError as error:  # an extra
    MISSING: str | None = f"Ray cannot be imported, so nothing was tried with it ({error})"
else:
    MISSING = None

pytestmark = [
    pytest.mark.skipif(MISSING is not None, reason=str(MISSING)),
    pytest.mark.xdist_group("cluster"),  # one cluster is enough
    pytest.mark.filterwarnings("ignore"),  # Ray's own
]

POR: dict[str, Any] = {"por": "lpor"}
FEW: dict[str, Any] = {"max_behaviours": 4_000, "max_states": 60_000}
PLAIN: dict[str, Any] = {"quotient": "off", "dead_messages": "off", "symmetry": "none"}
MEETINGS = count()
WAYS: list[dict[str, Any]] = [{}, PLAIN, {"all": True}, POR]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes, each with a store for objects as small as Ray lets it be."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    node = {"num_cpus": 5, "object_store_memory": 80 << 20, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args={**node, "_system_config": {"memory_monitor_refresh_ms": 0}})
    made.add_node(num_cpus=5, object_store_memory=80 << 20)
    ray.init(address=made.address, logging_level="ERROR", log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.mark.parametrize(("name", "workers"), [("faulty-paxos", 2), ("paxos", 5)])
def test_the_same_answer(cluster: Any, name: str, workers: int) -> None:
    system = load(name)
    one, many = check(system, **POR), check(system, workers=workers, **POR)
    assert answer(many) == answer(one)
    assert many.workers is not None
    assert many.workers["where"] == "on 2 nodes"
    assert len(many.workers["states"]) == workers


@pytest.fixture(scope="module")
def started(cluster: Any) -> Iterator[list[Any]]:
    """Actors that serve one check after another: to start new ones takes most of the time of a small check."""
    made: list[Any] = []
    yield made
    for each in made:
        ray.kill(each)


@pytest.fixture
def reused(started: list[Any]) -> Iterator[None]:
    from quorate.cluster import actors

    class Reused(actors.Actor):
        def serve(self, *given: Any) -> None:
            self.given = given

    class Crew(actors.RayCrew):
        def _made(self, source: Any, job: Any) -> list[Any]:
            if not started:
                remote: Any = ray.remote(num_cpus=1, concurrency_groups={"exchange": 16, "control": 1})
                made = remote(actors._grouped(Reused))
                started.extend(made.remote(number, 5, source, job) for number in range(5))
            ray.get([started[number].serve.remote(number, self.size, source, job) for number in range(self.size)])
            self._meetings = next(MEETINGS)
            return started[: self.size]

        def close(self) -> None:
            self._started.end()

    with patch.object(actors, "RayCrew", Crew):
        yield


def same(system: System, workers: int, options: dict[str, Any]) -> None:
    options = options | FEW
    one = check(system, **options)
    if needs_one_process(one):
        options["symmetry"] = "none"
        one = check(system, **options)
    assert answer(check(system, workers=workers, **options)) == answer(one)


@pytest.mark.parametrize("name", [name for name in SMALL if not define(small(name)).cells])
def test_every_bundled_protocol(reused: None, name: str) -> None:
    dice = Random(name)
    same(small(name), dice.randint(1, 5), dice.choice(WAYS))


@pytest.mark.usefixtures("reused")
@corpus.each(corpus.few_states, 10, first=200)
def test_generated_protocols(protocol: Protocol, dice: Random) -> None:
    same(corpus.built(protocol), dice.randint(1, 5), dice.choice(WAYS))


def test_a_target_is_loaded_by_each_worker(cluster: Any) -> None:
    one, many = (
        check(load("faulty-paxos"), target="faulty-paxos"),
        check(load("faulty-paxos"), target="faulty-paxos", workers=2),
    )
    assert answer(many) == answer(one)


def test_two_searches_at_once(cluster: Any) -> None:
    found: list[Result] = []
    other = threading.Thread(target=lambda: found.append(check(Paxos(), workers=2, **PLAIN)))
    other.start()
    mine = check(small("raft-election"), workers=2)
    other.join()
    assert answer(mine) == answer(check(small("raft-election")))
    assert answer(found[0]) == answer(check(Paxos(), **PLAIN))


def test_shares_are_told_while_they_work(cluster: Any) -> None:
    told: list[Progress] = []
    many = check(large(), workers=4, max_states=1_000_000, progress=told.append, **PLAIN)
    assert many.workers is not None
    shares = [each.shares for each in told if len(each.shares) == 4 and each.states]
    assert shares
    assert all(sum(each) <= many.states for each in shares)
    assert re.search(r"  shares \d+ \d+ \d+ \d+%$", line([each for each in told if each.shares in shares][-1]))


def test_a_sweep_gives_an_instance_to_each(cluster: Any) -> None:
    words = ["sweep", "paxos", "-p", "acceptors=1..3", "-p", "majority=1..2", "--csv"]
    alone, many = (CliRunner().invoke(app, [*words, *more]) for more in (["-j", "1"], ["--workers", "2"]))
    assert alone.exit_code == many.exit_code == 1
    rows = [[row.split(",")[:6] for row in each.stdout.splitlines()] for each in (alone, many)]
    assert len(rows[0]) == 7
    assert rows[0] == rows[1]


def test_an_instance_whose_process_dies_is_a_row_like_any_other(cluster: Any, tmp_path: Path) -> None:
    model = tmp_path / "dies.py"
    model.write_text(
        "import os\nfrom quorate import System\n\n\nclass Dies(System):\n    number: int = 1\n\n"
        "    def build(self) -> None:\n        os._exit(9)\n"
    )
    found = CliRunner().invoke(app, ["sweep", str(model), "-p", "number=1..2", "--workers", "2"])
    assert found.exit_code == 2
    assert found.stdout.count("without an answer") == 2


class Killing:
    """Kills a worker once the search has come so far."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, states: int) -> None:
        from quorate.cluster import actors

        self.states = states
        self.killed = 0
        self.processes: list[int] = []

        def launched(*given: Any) -> Any:
            crew = actors.RayCrew(*given)
            self.processes = ray.get([each.process.remote() for each in crew.actors])
            return crew

        monkeypatch.setattr(actors, "launched", launched)

    def __call__(self, progress: Progress) -> None:
        if progress.states >= self.states and not self.killed and self.processes:
            self.killed = self.processes[-1]
            self.harm(self.killed)

    def harm(self, process: int) -> None:
        os.kill(process, signal.SIGKILL)


class Stopping(Killing):
    """Lets it do nothing for a while."""

    def harm(self, process: int) -> None:
        os.kill(process, signal.SIGSTOP)
        threading.Timer(1.5, lambda: os.kill(process, signal.SIGCONT)).start()


def large() -> System:
    return Paxos(acceptors=5)


def test_a_worker_that_is_slow(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stop = Stopping(monkeypatch, 20_000)
    many = check(large(), workers=2, progress=stop, **PLAIN)
    assert stop.killed
    assert answer(many) == answer(check(large(), **PLAIN))


def test_a_worker_that_is_killed_is_started_again(
    cluster: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kill = Killing(monkeypatch, 60_000)
    place = tmp_path / "kept"
    many = check(large(), workers=2, checkpoint=str(place), checkpoint_every=0.001, progress=kill, **PLAIN)
    assert kill.killed
    assert many.workers is not None
    assert many.workers["recovered"] == 1
    assert answer(many) == answer(check(large(), **PLAIN))
    assert list(place.iterdir()) == []


def test_what_was_asked_of_a_worker_that_is_gone(cluster: Any) -> None:
    """Ray hands it to the one in its place, which knows nothing; and what was sent before may still arrive later."""
    from quorate.cluster.actors import Actor, Source

    job = Job(Environment(), Options(), (), final=False, apart=False, behaviours=100, deadlock=False)
    actor = Actor(0, 2, Source.of(Paxos(), None), job)
    parcel = Parcel(0, b"", [], [], 0)
    for ask in (
        lambda: actor.call("share", (), {}),
        lambda: actor.level(0, (), {}),
        lambda: actor.take(1, 1, 0, parcel),
    ):
        with pytest.raises(WorkerLostError, match="started again"):
            ask()
    actor.meet([None, None], 2)
    with pytest.raises(WorkerLostError, match="since this was sent"):
        actor.take(1, 1, 0, parcel)
    waiting: list[BaseException] = []

    def bring() -> None:
        try:
            actor.take(2, 1, 0, parcel)  # of a level that does not begin any more
        except WorkerLostError as error:
            waiting.append(error)

    other = threading.Thread(target=bring)
    other.start()
    actor.meet([None, None], 3)
    other.join(20)
    assert str(*waiting) in ("another worker was lost", "a worker was lost since this was sent")


def test_without_a_checkpoint_the_search_ends_with_an_error(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kill = Killing(monkeypatch, 60_000)
    with pytest.raises(LostError) as caught:
        check(large(), workers=2, progress=kill, **PLAIN)
    assert kill.killed
    assert caught.value.code == "Q512"
    assert "--checkpoint" in caught.value.hint


@pytest.mark.parametrize(("limit", "stopped"), [({"max_states": 50_000}, "states"), ({"timeout": 0.5}, "time")])
def test_limits_end_the_search_everywhere(cluster: Any, limit: dict[str, Any], stopped: str) -> None:
    found = check(large(), workers=2, **limit, **PLAIN)
    assert found.verdict == "incomplete"
    assert found.stopped_by == stopped


@pytest.mark.parametrize("listens", [False, True])
def test_an_address_where_there_is_no_ray(listens: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer within seconds, in one line."""
    monkeypatch.setattr("quorate.cluster.ray.REACHED_WITHIN", 0.2)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        if listens:
            other.listen()
        where = f"127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(ConnectionError, match="no answer from there" if listens else "nobody listens there"):
            _require_listener(where)


def test_an_address_where_there_is_one(cluster: Any) -> None:
    _require_listener(cluster.address)


def test_sigterm_while_ray_starts() -> None:
    """Ray takes it for itself and leaves the program: that is nothing the model did."""
    taken: list[int] = []

    def init(**_: Any) -> None:
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(number))
        signal.raise_signal(signal.SIGTERM)

    started = SimpleNamespace(init=init, shutdown=lambda: taken.append(0))
    before = signal.signal(signal.SIGTERM, lambda number, _: taken.append(number))
    try:
        with pytest.raises(KeyboardInterrupt):
            _start(started, 1, None)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert taken == [0, signal.SIGTERM]


def test_more_workers_than_there_is_room_for(cluster: Any) -> None:
    with pytest.raises(QuorateError, match="the cluster has 10 CPUs"):
        check(Paxos(), workers=11)
