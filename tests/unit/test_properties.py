from typing import Any

import pytest

from quorate import Monitor, Peers, Process, System, can, crashes, invariant, start
from quorate.model.define import define
from quorate.model.definition import Definition
from quorate.model.outcome import Crashed
from quorate.properties import Evaluation, evaluate, explain
from support import here


class Server(Process):
    up: bool = True
    load: int = 0
    friends: Peers = Peers()

    @property
    def idle(self) -> bool:
        return self.up and self.load == 0

    @start
    def go(self) -> None:
        self.load = 1


class Special(Server):
    extra: frozenset[int] = frozenset({2, 1})


class Log(Monitor):
    entries: tuple[int, ...] = (1, 2)


class Base(System):
    limit: int = 10

    def build(self) -> None:
        self.spawn(Server, 2)
        self.spawn(Special, load=5)
        self.watch(Log)


class Good(Base):
    @invariant
    def loads(self) -> bool:
        return sum(server.load for server in self[Server]) < self.limit

    @invariant
    def short_circuit(self) -> bool:
        first, second, *_ = self[Server]
        return first.up or second.up

    @invariant
    def by_a_method(self) -> bool:
        return self[Server][0].idle

    @can
    def logged(self) -> bool:
        return len(self[Log].entries) == 2

    @invariant
    def repeated(self) -> bool:
        return all(special.load > 0 and special.load < 9 and 1 in special.extra for special in self[Special])

    @invariant
    def nothing(self) -> bool:
        return self.parameters["limit"] == 10 and str(self[Special][0].pid) == "special1"


def ask(definition: Definition, name: str) -> Evaluation:
    return evaluate(definition, definition.property(name), definition.initials[0])


class TestReads:
    @pytest.fixture
    def definition(self) -> Definition:
        return define(Good())

    @pytest.mark.parametrize(
        ("name", "reads"),
        [
            ("loads", ((0, 1), (1, 1), (2, 1))),
            ("short_circuit", ((0, 0),)),
            ("by_a_method", ((0, 0), (0, 1))),
            ("logged", ((3, 0),)),
            ("repeated", ((2, 1), (2, 3))),
            ("nothing", ()),
        ],
    )
    def test_first_reads_are_recorded_in_order(
        self, definition: Definition, name: str, reads: tuple[tuple[int, int], ...]
    ) -> None:
        assert ask(definition, name) == Evaluation(True, reads)

    def test_the_state_asked_about_is_the_one_given(self, definition: Definition) -> None:
        locals = list(definition.initials[0])
        locals[0] = (False, 7, Peers(), False)
        prop = definition.property("short_circuit")
        assert evaluate(definition, prop, tuple(locals)) == Evaluation(True, ((0, 0), (1, 0)))
        assert evaluate(definition, definition.property("loads"), tuple(locals)).value is False
        assert ask(definition, "loads").value is True

    def test_what_was_read_is_explained(self, definition: Definition) -> None:
        assert explain(definition, definition.property("repeated"), definition.initials[0]) == (
            "special1.load = 5",
            "special1.extra = {1, 2}",
        )
        assert explain(definition, definition.property("logged"), definition.initials[0]) == ("Log.entries = (1, 2)",)


class Crashing(Base):
    faults = crashes(1, of=Special)

    @invariant
    def few(self) -> bool:
        return not any(server.crashed for server in self[Server])

    @invariant
    def loads(self) -> bool:
        return all(server.load < 9 for server in self[Server])


class TestCrashes:
    def test_crashed_processes_keep_their_fields_and_asking_for_the_crash_is_a_read(self) -> None:
        definition = define(Crashing())
        alive = definition.initials[0]
        dead = (*alive[:2], Crashed(alive[2]), alive[3])
        few, loads = definition.invariants
        assert evaluate(definition, few, alive) == Evaluation(True, ((0, -1), (1, -1), (2, -1)))
        assert evaluate(definition, few, dead) == Evaluation(False, ((0, -1), (1, -1), (2, -1)))
        assert evaluate(definition, loads, alive) == Evaluation(True, ((0, 1), (1, 1), (2, 1)))
        assert evaluate(definition, loads, dead) == Evaluation(True, ((0, 1), (1, 1), (2, 1)))
        assert explain(definition, few, dead) == ("special1 has crashed",)
        assert explain(definition, few, alive) == ()


class Bad(Base):
    @invariant
    def raises(self) -> bool:
        return self[Server][7].up  # here: raises

    @invariant
    def assigns(self) -> bool:
        self[Server][0].load = 3  # here: assigns
        return True

    @invariant
    def assigns_to_the_system(self) -> bool:
        self.limit = 3
        return True

    @invariant
    def sends(self) -> bool:
        self[Server][0].send(self[Server][0].pid, None)  # type: ignore[arg-type]
        return True

    @invariant
    def returns_nothing(self) -> bool:  # type: ignore[return]
        _ = self[Server][0].up

    @invariant
    def returns_a_number(self) -> bool:
        return len(self[Server])  # type: ignore[return-value]

    @invariant
    def unknown_monitor(self) -> bool:
        class Other(Monitor): ...

        return self[Other] is not None

    @invariant
    def no_class(self) -> bool:
        return bool(self["Server"])  # type: ignore[call-overload]

    @invariant
    def spawns(self) -> bool:
        self.spawn(Server)
        return True

    @invariant
    def misspelt(self) -> bool:
        return self[Server][0].laod == 0  # type: ignore[attr-defined, no-any-return]

    @invariant
    def asserts(self) -> bool:
        assert self[Server][0].load > 5, "idle"
        return True


class TestFailures:
    @pytest.mark.parametrize(
        ("name", "kind", "text"),
        [
            ("raises", "exception", "IndexError: tuple index out of range"),
            ("assigns", "model", "Server.load was assigned in a property, which may only read"),
            ("assigns_to_the_system", "model", "Bad.limit was assigned"),
            ("sends", "model", "Server.send(...) was called in a property, which may only read"),
            ("returns_nothing", "exception", "returns_nothing returned None, not True or False"),
            ("returns_a_number", "exception", "returns_a_number returned 3, not True or False"),
            ("unknown_monitor", "model", "self[Other] in a property, but no such monitor watches"),
            ("no_class", "model", "self['Server'] in a property: not a class of processes or monitors"),
            ("spawns", "model", "Bad.spawn(...) was called outside of `build`"),
            ("misspelt", "exception", "AttributeError: 'Server' object has no attribute 'laod'"),
            ("asserts", "assertion", "idle"),
        ],
    )
    def test_a_property_that_cannot_answer_is_an_error_of_that_property(self, name: str, kind: str, text: str) -> None:
        definition = define(Bad())
        result = ask(definition, name)
        assert result.value is False
        assert result.failure is not None
        assert (result.failure.kind, result.failure.text) == (kind, text)
        assert result.failure.file == __file__

    def test_it_is_located(self) -> None:
        definition = define(Bad())
        found: list[Any] = [ask(definition, name).failure for name in ("raises", "assigns")]
        assert found[0][2:4] == here("raises")
        assert found[1][2:4] == here("assigns")
        assert "for history use a Monitor" in found[1].hint
