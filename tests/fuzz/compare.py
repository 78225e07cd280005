"""Running Quorate on a drawn protocol, and holding its answer against the reference."""

from __future__ import annotations

import importlib
import linecache
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from zlib import crc32

import quorate
from quorate import QuorateError, Result, _core

from .explorer import Exploration, Verdicts
from .options import Check
from .protocol import Protocol, nodes_in, reads_flight
from .system import System
from .traces import ours, wrong_with
from .translate import NOTE, translate
from .whole_runs import differs

_numbers = count()
THRESHOLDS: Any = getattr(_core, "thresholds", None)
"""Those of the core, if it lets them be set."""


MODULES = {
    "check": "quorate.search.safety",
    "optimistic": "quorate.reduce.optimistic",
    "reductions": "quorate.reduce.reductions",
    "share": "quorate.reduce.share",
}
"""Where the other thresholds are."""


class Finding(NamedTuple):
    """Something that is wrong: a short kind, by which findings are told apart, and what was seen."""

    kind: str
    text: str


@contextmanager
def loaded(protocol: Protocol) -> Iterator[Any]:
    """The system class of a protocol, as if it had been imported from a file."""
    name = f"drawn_{next(_numbers)}"
    source = translate(protocol)
    file = f"{name}.py"
    module = types.ModuleType(name)
    module.__file__ = file
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    sys.modules[name] = module
    try:
        exec(compile(source, file, "exec"), module.__dict__)
        yield module.__dict__["Drawn"]
    finally:
        del sys.modules[name], linecache.cache[file]


@contextmanager
def switched(thresholds: tuple[tuple[str, int], ...]) -> Iterator[None]:
    """Let modes switch sooner for a while."""
    before: list[tuple[Any, str, Any]] = []
    try:
        for name, value in thresholds:
            module, _, constant = name.partition(".")
            there: Any = THRESHOLDS if module == "core" else importlib.import_module(MODULES[module])
            if there is None:
                continue
            before.append((there, constant, getattr(there, constant)))
            setattr(there, constant, value)
        yield
    finally:
        for there, constant, old in reversed(before):
            setattr(there, constant, old)


def taken_apart(check: Check) -> tuple[tuple[str, int], ...]:
    """In every other check processes are taken apart from the beginning (core: model/hubs.hpp); in small systems no
    process has so many cells that a search would do it of itself."""
    return (("core.most_cells", 1), ("core.hub_gain", 0)) if crc32(check.command.encode()) % 2 else ()


class Answer(NamedTuple):
    """What a check said: a result, or the code of an error."""

    result: Result | None = None
    code: str = ""
    text: str = ""
    seen: frozenset[tuple[Any, ...]] = frozenset()
    """What the properties that only look have looked at: a name, and values."""


def _notes(seen: set[tuple[Any, ...]]) -> Callable[..., bool]:
    """Says yes to everything, and remembers what it was asked.

    It passes for a function of Quorate's, so that it is no part of the model, which must not remember anything.
    """

    def note(*what: Any) -> bool:
        seen.add(tuple(ours(each) for each in what))
        return True

    note.__code__ = note.__code__.replace(co_filename=quorate.__file__)
    note.__module__ = quorate.__name__
    return note


def ask(system: Any, check: Check) -> Answer:
    """Any way to end other than a result or one of Quorate's own errors is an accident, with the code `traceback`."""
    options = check.options
    if "keep" in options:
        try:
            return Answer(None, "runs", differs(system, *options["keep"]))
        except QuorateError:
            return Answer(None, "runs")  # refused, as other checks of the case say
        except Exception as error:
            return Answer(None, "runs", f"{type(error).__name__}: {error}")
    if "por_options" in options:
        options["por_options"] = dict.fromkeys(options["por_options"], False)
    if "property" in options:
        options["property"] = list(options["property"])
    options.setdefault("timeout", 20.0)
    seen: set[tuple[Any, ...]] = set()
    module = sys.modules[system.__module__].__dict__
    if NOTE in module:
        module[NOTE] = _notes(seen)
    try:
        with switched((*taken_apart(check), *check.thresholds)):
            return Answer(_checked(system, options), seen=frozenset(seen))
    except QuorateError as error:
        return Answer(None, error.code or "", str(error))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        return Answer(None, "traceback", f"{type(error).__name__}: {error}")


def _checked(system: Any, options: dict[str, Any]) -> Result:
    """The check; with its states in files, or stopped again and again and gone on with from a checkpoint."""
    if not options.keys() & {"spill", "checkpoint"}:
        return quorate.check(system, **options)
    with TemporaryDirectory() as folder:
        if "spill" in options:
            return quorate.check(system, **options | {"spill": folder})
        few: int = options["checkpoint"]
        result = quorate.check(system, **options | {"checkpoint": folder, "max_states": few})
        while result.stopped_by == "states" and result.checkpoint is not None:
            few += max(few, result.states)
            result = quorate.resume(folder, system, max_states=few)
        return result


class Asked(NamedTuple):
    """What a check is about, by name."""

    invariants: tuple[str, ...]
    cans: tuple[str, ...]
    deadlock: bool


def asked(protocol: Protocol, check: Check) -> Asked:
    names = dict(check.keywords).get("property")
    wanted = [each for each in protocol.properties if names is None or each.name in names]
    final = any(each.kind == "final" for each in protocol.properties)
    return Asked(
        tuple(each.name for each in wanted if each.kind == "invariant"),
        tuple(each.name for each in wanted if each.kind == "can"),
        final if names is None else "deadlock" in names,
    )


class Expected(NamedTuple):
    """What can be wrong: name -> (levels expanded until it is found, steps to it)."""

    broken: dict[str, tuple[int, int]]
    raises: dict[str, tuple[int, int]]


def expected(found: Exploration, said: Verdicts, what: Asked) -> Expected:
    """Invariants are seen on the way to a state, stuck states and failing steps only when it is expanded."""
    broken = {name: (depth - 1, depth) for name, depth in said.broken.items() if name in what.invariants}
    raises = {name: (d - 1, d) for name, d in said.raises.items() if name in (*what.invariants, *what.cans)}
    if what.deadlock and "deadlock" in said.broken:
        broken["deadlock"] = (said.broken["deadlock"], said.broken["deadlock"])
    if what.deadlock and "deadlock" in said.raises:
        raises["deadlock"] = (said.raises["deadlock"], said.raises["deadlock"])
    for failure, depth in found.failures.items():
        broken[f"{failure}s"] = (depth, depth + 1)
    return Expected(broken, raises)


def compare(
    protocol: Protocol, system: System, found: Exploration, said: Verdicts, check: Check, answer: Answer
) -> Finding | None:
    """What is wrong with an answer, if anything is."""
    if answer.code == "runs":
        return Finding("runs", answer.text) if answer.text and not found.failures else None
    what = asked(protocol, check)
    wanted = expected(found, said, what)
    result = answer.result
    if "cheat" in found.failures and not (set(wanted.broken) - {"cheats"} or wanted.raises):
        # Some checks are refused whatever the model does.
        refused = answer.code in CHEATS or _about_error(protocol, check, wanted, said, answer) is None
        cheated = result is not None or not refused
        return Finding("a model that cheats", f"{answer.code or 'a verdict'} for it") if cheated else None
    if result is None and answer.code in CHEATS and any(each.op == "cheat" for each in nodes_in(protocol)):
        return None
    if result is None:
        return _about_error(protocol, check, wanted, said, answer)
    approximate = check.options.get("store") == "bitstate"
    incomplete = result.stopped_by is not None or approximate
    outcomes = {each.name: each for each in result.properties}
    broken = [each.name for each in result.properties if each.verdict == "violated" and each.kind != "can"]
    for name in broken:
        if name not in wanted.broken:
            return Finding(f"wrongly violated {_kind(protocol, name)}", f"{name} is not broken in the reference")
    if approximate and not broken:
        sure = [
            each.name for each in result.properties if each.verdict != "incomplete" and each.name not in said.reached
        ]
        if sure:
            return Finding("claims too much", f"{sure} after a search that may have missed states")
    for name in what.cans:
        outcome = outcomes.get(name)
        if outcome is None:
            return Finding("no outcome", f"{name} is missing in the result")
        if outcome.verdict == "violated" and name in said.reached:
            return Finding("missed can", f"{name} can be reached in {said.reached[name]} steps")
        if outcome.verdict == "holds" and name not in said.reached:
            return Finding("wrongly reached can", f"{name} cannot be reached")
        if outcome.verdict == "incomplete" and not broken and not incomplete:
            return Finding("undecided can", f"{name} is {outcome.verdict}")
    must_raise = {name: at for name, at in wanted.raises.items() if name not in said.reached}
    if not broken and not incomplete:
        if wanted.broken:
            name = min(wanted.broken, key=lambda each: wanted.broken[each])
            return Finding(f"missed {_kind(protocol, name)}", f"{name} is broken in {wanted.broken[name][1]} steps")
        if must_raise:
            return Finding("missed error of a property", f"{must_raise} raise")
        unreached = any(name not in said.reached for name in what.cans)
        if result.verdict != ("violated" if unreached else "holds"):
            return Finding("verdict", f"{result.verdict}, with {broken=} and {unreached=}")
    if "all" in check.options and not incomplete and not wanted.raises and set(broken) != wanted.broken.keys():
        return Finding("not all violations", f"{broken} of {list(wanted.broken)}")
    return (
        _about_runs(protocol, system, check, wanted, said, result, broken)
        or _about_counts(found, check, wanted, result, broken)
        or (None if broken or incomplete or must_raise else _about_sights(protocol, system, found, what, answer))
    )


def _about_sights(
    protocol: Protocol, system: System, found: Exploration, what: Asked, answer: Answer
) -> Finding | None:
    """Whatever a property could see of some state it has to be shown, and so does the one about final states."""
    assert answer.result is not None
    symmetry = answer.result.reductions.get("symmetry", {})
    if symmetry.get("ran") or "decomposed" in symmetry:
        return None
    for each in protocol.properties:
        if each.claim.op != "note" or not (what.deadlock if each.kind == "final" else each.name in what.invariants):
            continue
        name, *parts = each.claim.args
        states = found.stuck if each.kind == "final" else found.depths
        wanted = {(name, *system.sight(tuple(parts), state)) for state in states}
        if wanted - answer.seen:
            missed = min(map(repr, wanted - answer.seen))
            return Finding(f"{each.kind} never saw", f"{missed}, of {len(wanted)} sights")
    return None


def _kind(protocol: Protocol, name: str) -> str:
    kinds = {each.name: each.kind for each in protocol.properties}
    return kinds.get(name, name)


def _about_error(protocol: Protocol, check: Check, wanted: Expected, said: Verdicts, answer: Answer) -> Finding | None:
    if answer.code == "Q403" and wanted.raises:
        return None
    if answer.code in ("Q601", "Q602") and may_be_refused(protocol, check):
        return None
    if answer.code == "Q605" and refuses_flight(protocol, check):
        return None
    if answer.code == "Q117" and _greedy(protocol):
        return None
    if answer.code == "Q345" and protocol.within is not None and "checkpoint" in check.options:
        return None
    if answer.code == "Q106" and _hides(protocol):
        return None
    if answer.code == "Q207" and not _known_roles(protocol, check):
        return None
    lines = answer.text.splitlines()
    if answer.code == "Q902":
        what = next((short for short, words in SELF_CHECK.items() if words in answer.text), "")
        return Finding(f"error Q902 ({what})", lines[min(1, len(lines) - 1)].strip()[:300])
    return Finding(f"error {answer.code}", lines[0][:300])


CHEATS = ("Q101", "Q102", "Q103", "Q104", "Q106")
"""What models that cheat are told."""

SELF_CHECK = {
    "key": "none of the chosen steps is possible",
    "elsewhere": "leads where it does not lead",
    "fails": "does not fail after a chosen step",
    "seen": "though a property sees",
    "verdict": "is violated, with them it is not",
    "can": "can be reached, with them it cannot",
    "misses": "the reduced search misses",
    "invents": "that the system has not",
}
"""What the self-check says, in a word."""


def _greedy(protocol: Protocol) -> bool:
    """Maximal sets depend on what is not there: attackers are refused."""
    return any(action.sets == "maximal" for cls in protocol.classes for action in cls.actions)


def _hides(protocol: Protocol) -> bool:
    """Whether a class has two bases with a transition of one name, neither an override of the other; or `durable`."""
    for spawn in protocol.spawns:
        order = protocol.ancestry(spawn.cls)
        first_durable = next((cls.name for cls in order if cls.durable), "")
        for cls in order:
            if set(cls.durable) - set(protocol.durable_of(spawn.cls)) and not protocol.is_a(first_durable, cls.name):
                return True
        for name in {action.name for cls in order for action in cls.actions}:
            first, *others = (cls for cls in order if any(action.name == name for action in cls.actions))
            if any(not protocol.is_a(first.name, cls.name) for cls in others):
                return True
    return False


def refuses_flight(protocol: Protocol, check: Check) -> bool:
    """Whether a property reads messages in flight, and the check asks for what cannot be had then."""
    reads = reads_flight(protocol.properties)
    faced = check.options.keys() & {"self_check", "checkpoint"} or check.options.get("por", "none") != "none"
    return reads and (bool(faced) or check.environment.crash == "implicit")


def _known_roles(protocol: Protocol, check: Check) -> bool:
    spawned = {each.cls.lower() for each in protocol.spawns}
    return all(role.lower() in spawned for role, _ in check.environment.byzantine)


def may_be_refused(protocol: Protocol, check: Check) -> bool:
    """Whether docs/faults.md has a reason to refuse this environment."""
    environment = check.environment
    network = protocol.network
    actions = [action for cls in protocol.classes for action in cls.actions]
    maximal = any(action.sets == "maximal" and action.enough is not None for action in actions)
    if environment.crash == "implicit":
        reads = any(each.op == "crashed" for claim in protocol.properties for each in nodes_in(claim.claim))
        told = any(action.message == "Crash" for action in actions)
        bounded = network.capacity is not None and network.duplicates not in (0, "any")
        replaced = network.full == "replace"
        deadlock = asked(protocol, check).deadlock
        if reads or told or bounded or replaced or deadlock or maximal or protocol.faults.recover:
            return True
    if environment.network_model != "m" and network.capacity is not None:
        return True
    if environment.network_model == "rm":
        keeps = any(action.keep for action in actions)
        return keeps or network.duplicates == "any" or (network.kind == "fifo" and network.head != "block")
    return False


def _about_runs(
    protocol: Protocol,
    system: System,
    check: Check,
    wanted: Expected,
    said: Verdicts,
    result: Result,
    broken: list[str],
) -> Finding | None:
    """Every run that is shown is one, ends in what it claims, and is a shortest one where that is promised."""
    options = dict(check.keywords)
    exact = options.get("por", "none") == "none" and options.get("search") != "dfs"
    exact = exact and not options.get("stateless") and options.get("store") != "bitstate"
    if broken:
        trace = result.trace
        if trace is None:
            return Finding("no run", f"{broken} without a run")
        if trace.property != result.property or trace.property not in wanted.broken:
            return Finding("run of another property", f"{trace.property}, not {result.property}")
        problem = wrong_with(trace, system, protocol)
        if problem:
            return Finding("run", f"{trace.property}: {problem}")
        length = wanted.broken[trace.property][1]
        if len(trace) < length or ((trace.shortest or exact) and len(trace) != length):
            return Finding("length of a run", f"{trace.property}: {len(trace)} steps, {length} in the reference")
        ends = exact and "all" not in options  # else it is a shortest one of all
        if ends and wanted.broken[trace.property][0] != min(at for at, _ in wanted.broken.values()):
            return Finding("not the first violation", f"{trace.property} before {wanted.broken}")
    for each in result.violations or ():
        if each.trace is None or wrong_with(each.trace, system, protocol):
            return Finding("run", f"{each.property}, met {each.count} times")
        # There are several ways to fail, each with a run; of these one is shortest.
        if exact and each.property in said.broken and len(each.trace) != wanted.broken[each.property][1]:
            return Finding("length of a run", f"{each.property}: {len(each.trace)} steps of {wanted.broken}")
    for name, witness in result.witnesses.items():
        problem = wrong_with(witness, system, protocol)
        if problem:
            return Finding("run", f"{name}: {problem}")
        length = said.reached[name]
        if len(witness) < length or ((witness.shortest or exact) and len(witness) != length):
            return Finding("length of a witness", f"{name}: {len(witness)} steps, {length} in the reference")
    return None


def _about_counts(
    found: Exploration, check: Check, wanted: Expected, result: Result, broken: list[str]
) -> Finding | None:
    """Without reductions every state and every step is counted, once."""
    options = dict(check.keywords)
    plain = all(options.get(name) == value for name, value in (("quotient", "off"), ("dead_messages", "off")))
    plain = plain or "messages" in result.reductions  # that a property reads
    if (
        not plain
        or options.get("store") == "bitstate"
        or options.get("por", "none") != "none"
        or result.stopped_by is not None
        or options.get("stateless")
    ):
        return None
    if any("the search ended there" in each.note for each in result.properties):
        return None
    symmetry = result.reductions.get("symmetry", {})
    whole = not broken or "all" in options
    if symmetry.get("ran"):
        if whole and symmetry["stands_for"] != found.states:
            return Finding("stands for", f"{symmetry['stands_for']} states, in the reference {found.states}")
        return None
    counted: tuple[int, ...] = (result.states, result.transitions, result.deadlocks)
    if whole:
        real: tuple[int, ...] = (found.states, found.transitions, len(found.stuck))
        if options.get("search") != "dfs":
            counted, real = (*counted, result.depth), (*real, found.depth)
        if counted != real:
            return Finding("counts", f"states, transitions, deadlocks, depth {counted}, in the reference {real}")
    elif (
        options.get("search") != "dfs"
        and options.get("threads", 1) == 1
        and not check.thresholds
        and "checkpoint" not in options  # a limit may end the search in the midst of a level
    ):
        last = min(at for at, _ in wanted.broken.values())
        states = sum(level[0] for level in found.levels[: last + 2])
        if result.states != states:
            return Finding("counts to a violation", f"{result.states} states, in the reference {states}")
    return None
