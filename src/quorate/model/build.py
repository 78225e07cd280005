"""Running `System.build`: once per path of its choices, giving the columns and the initial states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from quorate.base.errors import LimitError, Location, ModelError, ParameterError, QuorateError, caller, did_you_mean
from quorate.base.failures import blame
from quorate.base.places import location_of
from quorate.base.values import BadValueError, ContentSet, encode, freeze, show
from quorate.base.watchdog import supervised
from quorate.language.automaton import MISSING, Automaton
from quorate.language.declared import WATCH_MARK
from quorate.language.forbidden import forbid_impure, refuse_suspended
from quorate.language.maps import Map
from quorate.language.message import Crash, Message, bad_field, stamped
from quorate.language.monitor import Monitor
from quorate.language.pid import DecompositionError, Peers, Pid, column_of, server_of
from quorate.language.process import Process
from quorate.language.scalar import Scalar, scalar
from quorate.language.shared import Cell, Shared, cell_name, shared
from quorate.language.system import System
from quorate.model.again import CAUSES
from quorate.model.attacker import Attacker
from quorate.model.choices import MAX_PATHS, Choices, NoOption
from quorate.model.outcome import Local
from quorate.model.renaming import names_in

WHOLE = 1 << 31
"""Where the numbers of identities begin that stand for a process taken apart."""

Layout = list[tuple[type[Automaton], str, Pid | None]]
Posted = tuple[tuple[int, Message], ...]


class Builder:
    """What one run of `build` has spawned so far."""

    def __init__(self, system: System, choices: Choices, decomposed: bool = False) -> None:
        self.system = system
        self.choices = choices
        self.settings: dict[str, Any] = {}
        self.processes: list[tuple[type[Process], Pid, dict[str, Any], Location | None]] = []
        self.monitors: list[tuple[type[Monitor], dict[str, Any], Location | None]] = []
        self.cells: list[tuple[Shared[Any], Any]] = []
        """The shared cells, each with its first value."""
        self.corrupted: set[int] = set()
        self.posted: list[tuple[int, Message]] = []
        """What is sent before the run begins, and to whom."""
        self.scalars: dict[str, tuple[Scalar, ...]] = {}
        self.decomposed = decomposed
        """Whether processes that play several roles are taken apart."""
        self.servers: list[Pid] = []
        """Those that were."""
        self._counts: dict[str, int] = {}

    def spawn(self, cls: Any, fields: dict[str, Any]) -> Pid:
        if not (isinstance(cls, type) and issubclass(cls, Process)):
            raise _not_a(cls, "spawn", "Process")
        kind = cls.__name__.lower()
        number = self._counts[kind] = self._counts.get(kind, 0) + 1
        name = f"{kind}{number}"
        values = _checked(cls, dict(cls._fields), fields)
        roles = _roles_of(cls) if self.decomposed else ()
        if roles:
            return self._spawn_apart(roles, name, values)
        pid = Pid(len(self.processes), name)
        self.processes.append((cls, pid, values, caller()))
        return pid

    def _spawn_apart(self, roles: tuple[type[Process], ...], name: str, values: dict[str, Any]) -> Pid:
        """One process per role; the identity of the whole leads to them, and must not be part of a state."""
        number = len(self.servers)
        parts: dict[type, Pid] = {}
        for role in roles:
            parts[role] = Pid(len(self.processes), name, number)
            mine = {field: values[field] for field in role._fields}
            self.processes.append((role, parts[role], mine, caller()))
        self.servers.append(Pid(WHOLE + number, name, roles=parts))
        return self.servers[-1]

    def make_scalars(self, cls: Any, count: int) -> ContentSet[Any]:
        if not (isinstance(cls, type) and issubclass(cls, Scalar) and cls is not Scalar):
            raise ModelError(
                f"scalars({getattr(cls, '__name__', cls)}, ...): not a subclass of Scalar",
                hint="class Value(Scalar): ..., and then self.scalars(Value, 3)",
                code="Q109",
                location=caller(),
            )
        made = tuple(scalar(cls, index) for index in range(count))
        self.scalars[cls.__name__] = max(made, self.scalars.get(cls.__name__, ()), key=len)
        return ContentSet(made)

    def connect(self, pid: Pid, fields: dict[str, Any]) -> None:
        if type(pid) is not Pid:
            raise ModelError(
                f"connect({show(pid)}, ...): not the identity of a process",
                hint="connect takes what spawn returned: self.connect(replicas, peers=replicas)",
                code="Q109",
                location=caller(),
            )
        if pid._roles:
            for role, part in pid._roles.items():
                self.connect(part, {name: value for name, value in fields.items() if name in _fields_of(role)})
            return
        cls, _, values, _ = self.processes[pid._index]
        _checked(cls, values, fields)

    def post(self, to: Pid, message: Any, sender: Pid) -> None:
        for what, pid in (("send", to), ("send(..., sender=...)", sender)):
            if type(pid) is not Pid:
                raise ModelError(
                    f"{what}: {show(pid)} is not the identity of a process",
                    hint="it takes what spawn returned: self.send(server, Request(1), sender=client)",
                    code="Q109",
                    location=caller(),
                )
        if not isinstance(message, Message) or isinstance(message, Crash):
            raise ModelError(
                f"send: {show(message)} is not a message that a process sends",
                hint="the receiver comes first: self.send(server, Request(1), sender=client)",
                code="Q109",
                location=caller(),
            )
        self.posted.append((to._index, stamped(message, sender)))

    def corrupt(self, pids: list[Pid], count: int | None) -> None:
        if count is not None and (type(count) is not int or not 0 <= count <= len(pids)):
            raise ModelError(
                f"corrupt(..., {show(count)}): an int from 0 to {len(pids)}, the number of processes named",
                code="Q109",
                location=caller(),
            )
        for pid in pids[len(pids) - count if count is not None else 0 :]:
            if type(pid) is not Pid:
                raise ModelError(
                    f"corrupt({show(pid)}): not the identity of a process",
                    hint="corrupt takes what spawn returned: self.corrupt(replicas, 1)",
                    code="Q109",
                    location=caller(),
                )
            self.corrupted.add(pid._index)

    def corrupt_role(self, role: str, count: int) -> None:
        """Those of a class by name, however it is written: `replica` and `Replica` are the same."""
        roles: dict[str, list[Pid]] = {}
        for cls, pid, _, _ in self.processes:
            roles.setdefault(cls.__name__, []).append(pid)
        named = [name for name in roles if _plain(name) == _plain(role)]
        if not named:
            raise ParameterError(
                f"{type(self.system).__name__} has no processes of the role `{role}`",
                hint=did_you_mean(role, roles),
                code="Q207",
            )
        pids = roles[named[0]]
        if count > len(pids):
            raise ParameterError(
                f"{count} Byzantine of {len(pids)} {named[0]}: there are not that many",
                hint=f"{type(self.system).__name__} spawns {len(pids)}; see its parameters",
                code="Q207",
            )
        self.corrupt(pids, count)

    def playing(self, role: type) -> Peers:
        """The processes of a class."""
        return Peers(pid for cls, pid, _, _ in self.processes if issubclass(cls, role))

    def watch(self, cls: Any, fields: dict[str, Any]) -> None:
        if not (isinstance(cls, type) and issubclass(cls, Monitor)):
            raise _not_a(cls, "watch", "Monitor")
        if any(cls is other for other, _, _ in self.monitors):
            raise ModelError(
                f"watch({cls.__name__}) twice: a property could not tell the two apart",
                hint="make a subclass of it for the second",
                code="Q109",
                location=caller(),
            )
        self.monitors.append((cls, _checked(cls, dict(cls._fields), fields), caller()))

    def share(self, name: Any, value: Any, each: Iterable[Any] | None, access: str) -> Any:
        if access not in ("atomic", "single"):
            raise _not_shared(f"access={show(access)}", "access is 'atomic' or 'single'")
        if not isinstance(name, str) or any(name == cell_name(cell) for cell, _ in self.cells):
            raise _not_shared(show(name), "every shared cell, or row of cells, has a name of its own")
        made: list[tuple[Any, Shared[Any]]] = []
        try:
            for key in [()] if each is None else list(each):
                cell = shared(name, key, access == "single")
                self.cells.append((cell, freeze(value)))
                made.append((key, cell))
        except BadValueError as bad:
            raise _not_shared(f"{show(bad.value)}, of type {type(bad.value).__name__}", bad.advice) from None
        return made[0][1] if each is None else Map(made)

    def choose(self, options: Iterable[Any]) -> Any:
        return self.choices.pick(type(self.system).__name__, options)

    def layout(self) -> Layout:
        found: Layout = [
            (Attacker if pid._index in self.corrupted else cls, _label(cls, pid), pid)
            for cls, pid, _, _ in self.processes
        ]
        found += [(cls, cls.__name__, None) for cls, _, _ in self.monitors]
        return found + [(Cell, str(cell), None) for cell, _ in self.cells]

    def state(self) -> tuple[Local, ...]:
        rows: list[tuple[type[Automaton], str, dict[str, Any], Location | None]] = []
        rows += [
            (cls, str(pid), values if pid._index not in self.corrupted else {}, place)
            for cls, pid, values, place in self.processes
        ]
        rows += [(cls, cls.__name__, values, place) for cls, values, place in self.monitors]
        for cls, name, values, place in rows:
            missing = [field for field, value in values.items() if value is MISSING]
            if missing:
                raise ModelError(
                    f"{name} was given no value for {', '.join(f'{cls.__name__}.{field}' for field in missing)}",
                    hint=f"give it where it is spawned: {missing[0]}=..., or a default in the class",
                    code="Q109",
                    location=place,
                )
        if self.servers:
            self._require_roles_in(rows)
        return (*(tuple(values.values()) for _, _, values, _ in rows), *((value,) for _, value in self.cells))

    def post_box(self) -> Posted:
        """What is pending at the beginning. Attackers send what they like, and need not have sent anything."""
        return tuple((to, message) for to, message in self.posted if column_of(message.sender) not in self.corrupted)

    def _require_roles_in(self, rows: list[tuple[type[Automaton], str, dict[str, Any], Location | None]]) -> None:
        """Refuse identities of processes that were taken apart: which of their roles is meant must be said."""
        if self.corrupted:
            raise DecompositionError("Byzantine processes are not taken apart")
        if self.posted:
            raise DecompositionError("messages are pending at the beginning, which say nothing of roles")
        whole = {encode(pid) for pid in self.servers}
        for cls, _, values, _ in rows:
            for field, value in values.items():
                if not whole.isdisjoint(names_in(value)):
                    raise DecompositionError(
                        f"{cls.__name__}.{field} does not say which role of a process it leads to: "
                        "`.playing(Role)` does"
                    )


def build_all(
    system: System, byzantine: Mapping[str, int], decomposed: bool = False
) -> tuple[Layout, list[tuple[Local, ...]], list[Posted], dict[str, Any]]:
    """The processes and monitors, the distinct initial states in content order, what is pending in each, and the
    network and faults set."""
    first: Builder | None = None
    first_path: list[int] = []
    found: dict[bytes, tuple[tuple[Local, ...], Posted]] = {}
    prefix: list[int] | None = []
    paths = 0
    while prefix is not None:
        path = prefix  # completed by the choices that are made
        builder = _build_once(system, path, decomposed)
        prefix = builder.choices.following()
        paths += 1
        if paths > MAX_PATHS:
            raise LimitError(
                f"{type(system).__name__}.build has more than {MAX_PATHS} initial states",
                hint="choose fewer fields, or among fewer options; a @start that calls self.choose makes the choice "
                "in the run instead",
                code="Q502",
                location=_where(system),
            )
        if builder.settings.pop("no option", False):
            continue
        if byzantine and builder.servers:
            raise DecompositionError("Byzantine processes are not taken apart")
        if builder.cells and builder.servers:
            raise DecompositionError("roles of a process may read and write shared cells in one step")
        for role, count in byzantine.items():
            builder.corrupt_role(role, count)
        if builder.cells and builder.corrupted:
            raise ModelError(
                f"{type(system).__name__} has Byzantine processes and shared cells: what an attacker writes is not "
                "explored",
                hint="write it down as a process: class Liar(Thread, byzantine=True)",
                code="Q126",
                location=_where(system),
            )
        if first is None:
            first, first_path = builder, list(path)
            _not_empty(system, builder)
        _alike(system, first, builder)
        if len(builder.corrupted) == len(builder.processes):
            raise ModelError(
                f"all processes of {type(system).__name__} are Byzantine", hint="leave an honest one", code="Q109"
            )
        state, posted = builder.state(), builder.post_box()
        found.setdefault(encode((state, posted)), (state, posted))
    if first is None:
        raise ModelError(
            f"{type(system).__name__} has no initial state: every choice in `build` had no options",
            hint="self.choose needs at least one option",
            code="Q110",
            location=_where(system),
        )
    _repeated(system, first, first_path, decomposed)
    layout, states = first.layout(), [found[key][0] for key in sorted(found)]
    _constants_agree(system, layout, states)
    pending = [found[key][1] for key in sorted(found)]
    cells = tuple(cell for cell, _ in first.cells)
    return layout, states, pending, {**first.settings, "scalars": first.scalars, "cells": cells}


def _constants_agree(system: System, layout: Layout, states: list[tuple[Local, ...]]) -> None:
    """Refuse a constant that is chosen: initial states would differ in what nobody is shown."""
    for index, (cls, name, _) in enumerate(layout):
        for at, field in enumerate(cls._fields):
            if field in cls._constants and len({encode(state[index][at]) for state in states}) > 1:
                raise ModelError(
                    f"{name}.{field} is a constant, but not the same in all initial states",
                    hint="what self.choose decides is a field: declare it without `Constant[...]`",
                    code="Q112",
                    location=_where(system),
                )


def _repeated(system: System, first: Builder, path: list[int], decomposed: bool) -> None:
    """Refuse a `build` that makes something else when it is run again: a saved run could not be replayed."""
    again = _build_once(system, path, decomposed)
    again.corrupted = first.corrupted
    same = encode((first.state(), first.post_box())) == encode((again.state(), again.post_box()))
    if first.layout() != again.layout() or not same:
        raise ModelError(
            f"{type(system).__name__}.build made something else when it was run again",
            hint=CAUSES,
            code="Q104",
            location=_where(system),
        )


def _build_once(system: System, prefix: list[int], decomposed: bool) -> Builder:
    builder = Builder(system, Choices(prefix), decomposed)
    # A fresh object: `build` may set the network, and the user's system stays as it was made.
    running = object.__new__(type(system))
    running.__dict__.update(system.__dict__)
    running.__dict__["_builder"] = builder
    build = type(system).build
    refuse_suspended(build, f"{type(system).__name__}.build")
    forbid_impure(f"{type(system).__name__}.build", build)
    try:
        built: object = supervised(lambda: build(running))
        if built is not None:
            raise ModelError(
                f"{type(system).__name__}.build returned something",
                hint="a build spawns and connects processes; its return value is ignored",
                code="Q106",
                location=location_of(build),
            )
        for monitor in _brought_along(type(system)):
            builder.watch(monitor, monitor._brought(running, builder.playing))
    except NoOption:
        builder.settings["no option"] = True
    except QuorateError:
        raise
    except BaseException as error:
        hint = "if it is the parameters that make no sense: self.require(condition, text) refuses them"
        raise blame(f"`{type(system).__name__}.build`", error, location_of(build), hint) from error
    return builder


def _brought_along(cls: type[System]) -> list[Any]:
    """The monitors of properties that bring their own, in the order of the properties."""
    names = dict.fromkeys(name for base in reversed(cls.__mro__) for name in base.__dict__)
    found = [getattr(getattr(cls, name, None), WATCH_MARK, None) for name in names]
    return list(dict.fromkeys(monitor for monitor in found if monitor is not None))


def _not_empty(system: System, builder: Builder) -> None:
    if not builder.processes:
        values = ", ".join(f"{name}={value}" for name, value in system.parameters.items())
        raise ModelError(
            f"{type(system).__name__}({values}) has no processes",
            hint="spawn them in `build`: self.spawn(Server, 3)",
            code="Q110",
            location=_where(system),
        )


def _alike(system: System, first: Builder, other: Builder) -> None:
    same = [(cls, name) for cls, name, _ in first.layout()] == [
        (cls, name) for cls, name, _ in other.layout()
    ] and first.settings == other.settings
    if not same:
        raise ModelError(
            f"{type(system).__name__}.build spawns different processes, or sets another network, depending on a choice",
            hint="let choices set fields; what is spawned must depend on parameters only",
            code="Q112",
            location=_where(system),
        )


def _roles_of(cls: type[Process]) -> tuple[type[Process], ...]:
    """The roles that a class is composed of, `class Server(Proposer, Acceptor)`; none if it is a role itself."""
    bases = tuple(base for base in cls.__bases__ if issubclass(base, Process) and base is not Process)
    return bases if len(bases) > 1 else ()


def _label(cls: type[Automaton], pid: Pid) -> str:
    return str(pid) if server_of(pid) is None else f"{pid}.{cls.__name__.lower()}"


def _fields_of(role: Any) -> dict[str, Any]:
    fields: dict[str, Any] = role._fields
    return fields


def _where(system: System) -> Location | None:
    return location_of(type(system).build)


def _checked(cls: type[Automaton], values: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """The values with the given ones put in, after checking their names and values."""
    for name, value in given.items():
        if name not in cls._fields:
            raise ModelError(
                f"{cls.__name__} has no field `{name}`",
                hint=did_you_mean(name, cls._fields),
                code="Q102",
                location=caller(),
            )
        try:
            values[name] = freeze(value)
        except BadValueError as bad:
            raise bad_field(cls, name, bad) from None
    return values


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def _not_shared(what: str, why: str) -> ModelError:
    return ModelError(f"share(...): {what}", hint=why, code="Q109", location=caller())


def _not_a(cls: Any, method: str, base: str) -> ModelError:
    name = getattr(cls, "__name__", repr(cls))
    other = "watch" if method == "spawn" else "spawn"
    return ModelError(
        f"{method}({name}): not a {base} class",
        hint=f"{method} takes a subclass of {base}; for the other kind use self.{other}",
        code="Q109",
        location=caller(),
    )
