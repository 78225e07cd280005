"""The subsystem: one server for each store and each query that may see it, and clients that ask these alone.

The clients are the protocol's own. In each round they ask the servers of the pairs that the round belongs to, wait
until each of them has answered, and go on as they would with a quorum of answers like the highest one. The servers
run the protocol's own handlers. That "some quorum has answered" is a choice of the run: which of the store and the
query gets to their common server first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import FunctionType, MappingProxyType
from typing import Any, NamedTuple

from quorate.base.errors import Location
from quorate.base.values import encode
from quorate.language.declared import MARK
from quorate.language.message import Message, stamped
from quorate.language.pid import Peers, Pid
from quorate.language.process import Process
from quorate.language.system import System
from quorate.language.transitions import Declaration
from quorate.model.define import define
from quorate.model.definition import Definition, Property
from quorate.projection.answering import Servers, content, resized
from quorate.projection.conditions import KINDS, PROPERTIES, RefusedError
from quorate.projection.rounds import Rounds
from quorate.properties.parts import parts_of

IN_FLIGHT = "messages in flight"
ROUND = "round_of_subsystem"
"""The field in which a client of the subsystem counts its rounds."""


class Parts(NamedTuple):
    """What the clients of a subsystem are told."""

    servers: tuple[Pid, ...]
    asks: Mapping[tuple[str, int], tuple[Pid, ...]]
    """By name of the client and number of its round."""
    ranks: Mapping[tuple[str, int, bytes], int]
    """By client, round and answer: how high the state of the server was."""


class Pair(NamedTuple):
    """A store, a query that may see it, and the server that both of their quorums hold."""

    store: str
    query: str
    server: str


class Subsystem(NamedTuple):
    system: System
    pairs: tuple[Pair, ...]
    rounds: Rounds
    read: list[str]
    """What properties have asked for that is of servers, or tells their number: with any, the answer is none."""


def subsystem(
    system: System, parameter: str, server: type[Process], shape: Rounds, without: frozenset[int]
) -> Subsystem:
    """The subsystem of an instance whose rounds are known; `without` leaves out the servers of some pairs."""
    pairs = shape.pairs()
    present = [pair for at, pair in enumerate(pairs) if at not in without]
    # A round that shares no pair still has somebody to ask: a server of its own, which tells nobody else.
    lonely = [(each, each) for each in sorted(shape.rounds) if not any(each in pair for pair in present)]
    everyone = pairs + lonely
    number = max(len(everyone), len(shape.servers.columns))
    whole = resized(system, parameter, number)
    servers = Servers(define(whole), server)
    rounds = Rounds(servers, shape.varying, tried="none")
    pids = tuple(column.pid for column in servers.columns if column.pid is not None)
    asks: dict[tuple[str, int], tuple[Pid, ...]] = {}
    for each in rounds.rounds:
        mine = [at for at, pair in enumerate(everyone) if each in pair and at not in without]
        asks[servers.clients[each.client].name, each.number] = tuple(pids[at] for at in mine)
    parts = Parts(pids, asks, _ranks(rounds))
    read: list[str] = []
    clients: dict[type[Any], type[Process]] = {}
    for column in servers.clients:
        alike = [each.name for each in servers.clients if each.cls is column.cls]
        told = {column.fields[at] for name in alike for at in shape.varying.get(name, ())}
        clients[column.cls] = _client(column.cls, parts, told, read)
    made = _system(whole, server, parameter, read, {**clients, server: _server(server, read)})
    kept = {column.cls for column in define(made).processes if not issubclass(column.cls, server)}
    assert kept == {*clients.values()}, "every client is one of the subsystem"
    named = tuple(
        Pair(shape.named(store), shape.named(query), str(pids[at])) for at, (store, query) in enumerate(pairs)
    )
    return Subsystem(made, named, rounds, read)


def _ranks(rounds: Rounds) -> dict[tuple[str, int, bytes], int]:
    servers = rounds.servers
    ranks: dict[tuple[str, int, bytes], int] = {}
    for each, requests in rounds.requests.items():
        name = servers.clients[each.client].name
        for number, code in enumerate(sorted(requests)):
            request = servers.requests[code]
            mine: dict[tuple[str, int, bytes], int] = {}
            for state_code, state in servers.states.items():
                key = name, each.number, encode(servers.respond(state, request)[1])
                mine[key] = max(mine.get(key, 0), rounds.rank[state_code] if each.kind == "query" else 0)
            if number and any(ranks.get(key, rank) != rank for key, rank in mine.items()):
                raise RefusedError(
                    KINDS, f"an answer to {rounds.named(each)} does not tell how high the server's state is"
                )
            ranks |= mine
    return ranks


def _client(cls: Any, parts: Parts, told: set[str], read: list[str]) -> type[Process]:
    """The class of a client that asks servers of pairs; it notes if a property reads who or how many they are."""

    def watched(made: Any, /, **how: Any) -> None:
        super(client, made).__init_subclass__(**how)
        for name in told if how.get("view") else ():
            setattr(made, name, _noting(made.__dict__[name], f"{cls.__name__}.{name}", read))

    body: dict[str, Any] = {
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__doc__,
        "__annotations__": {ROUND: "int"},
        ROUND: 0,
        "__init_subclass__": classmethod(watched),
    }
    busy: list[Any] = []
    for base in reversed(cls.__mro__):
        for name, value in base.__dict__.items():
            if isinstance(value, FunctionType) and hasattr(value, MARK):
                function = getattr(cls, name)
                if function is not None:
                    body[name] = _transition(function, getattr(function, MARK), parts, busy)
    client: type[Process] = type(cls.__name__, (cls,), body)
    return client


def _server(cls: Any, read: list[str]) -> type[Process]:
    """The class of a server, which notes whatever a property reads of it, however it came to it."""

    def watched(made: Any, /, **how: Any) -> None:
        super(server, made).__init_subclass__(**how)
        if how.get("view"):
            members = made.__dict__.items()
            fields = {name: each for name, each in members if isinstance(each, property) and name != "__class__"}
            for name, each in {**fields, "pid": Process.pid}.items():
                setattr(made, name, _noting(each, cls.__name__, read))

    body = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
    server: type[Process] = type(cls.__name__, (cls,), {**body, "__init_subclass__": classmethod(watched)})
    return server


def _noting(field: Any, name: str, read: list[str]) -> Any:
    def get(self: Any) -> Any:
        read.append(name)
        return field.fget(self)

    return property(get)


def _transition(function: Any, declaration: Declaration, parts: Parts, busy: list[Any]) -> Any:
    if declaration.kind == "quorum" and declaration.size is not None:
        size = declaration.size

        def waited(self: Any, answers: frozenset[Message]) -> Any:
            client, number = str(self.pid), getattr(self, ROUND)
            best = max(answers, key=lambda each: (parts.ranks[client, number, encode(content(each))], encode(each)))
            wanted = getattr(self, size) if isinstance(size, str) else size(self) if callable(size) else size
            like_best = frozenset(stamped(content(best), pid) for pid in parts.servers[:wanted])
            return function(self, like_best)

        def asked(self: Any) -> Any:
            return Peers(parts.asks.get((str(self.pid), getattr(self, ROUND)), ()))

        return _marked(_asking(waited, function, parts, busy), function, replace(declaration, size=None, each=asked))
    return _marked(_asking(function, function, parts, busy), function, declaration)


def _asking(step: Any, function: Any, parts: Parts, busy: list[Any]) -> Callable[..., Any]:
    """The step, and then what it asks for. A handler that is called by another one is a part of that one's step."""

    def taken(self: Any, *messages: Any) -> Any:
        run = self._run
        if any(run is each for each in busy):
            return function(self, *messages)
        busy.append(run)
        try:
            done = step(self, *messages)
        finally:
            busy.remove(run)
        _ask(self, parts)
        return done

    return taken


def _ask(self: Any, parts: Parts) -> None:
    """Direct what was sent to all servers to those of the pairs of this round."""
    run = self._run
    if run.sends:
        message = run.sends[0][1]
        setattr(self, ROUND, getattr(self, ROUND) + 1)
        run.sends[:] = [(pid._index, message) for pid in parts.asks[str(self.pid), getattr(self, ROUND)]]


def _marked(function: Callable[..., None], original: Any, declaration: Declaration) -> Any:
    setattr(function, MARK, declaration)
    function.__name__, function.__doc__ = original.__name__, original.__doc__
    function.__wrapped__ = original  # type: ignore[attr-defined]
    return function


class _Builder:
    """Spawns the clients of the subsystem in place of the protocol's, whatever way its `build` takes to spawn them."""

    def __init__(self, builder: Any, clients: Mapping[type[Any], type[Process]]) -> None:
        self._builder = builder
        self._clients = clients

    def spawn(self, process: Any, fields: dict[str, Any]) -> Any:
        return self._builder.spawn(self._clients.get(process, process), fields)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._builder, name)


def _system(
    system: System, server: type[Process], parameter: str, read: list[str], clients: Mapping[type[Any], type[Process]]
) -> System:
    cls: Any = type(system)
    values = dict(system.parameters)

    def number(self: Any) -> Any:
        if self.__dict__["_views"] is not None:
            read.append(parameter)
        return values[parameter]

    def parameters(self: Any) -> Any:
        if self.__dict__["_views"] is not None:
            read.append(parameter)
        return MappingProxyType(values)

    def building(self: Any, method: str) -> Any:
        return _Builder(cls._building(self, method), clients)

    def seen(self: Any, role: Any, /) -> Any:
        if isinstance(role, type) and (issubclass(role, server) or issubclass(server, role)):
            read.append(role.__name__)
        return cls.__getitem__(self, role)

    def pending(self: Any, message: Any, /, *, to: Any = None) -> Any:
        if self.__dict__["_views"] is not None:
            read.append(IN_FLIGHT)
        return cls.pending(self, message, to=to)

    def looked_up(self: Any, name: str) -> Any:
        # Attributes of the class that `build` may set by the number of servers; no property may stand in their place.
        if name in ("faults", "network") and object.__getattribute__(self, "__dict__")["_views"] is not None:
            read.append(name)
        return object.__getattribute__(self, name)

    body = {
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__getattribute__": looked_up,
        "__getitem__": seen,
        "pending": pending,
        parameter: property(number),
    }
    kind: Any = type(cls.__name__, (cls,), body)
    # Names that no model may give.
    kind.parameters, kind._parameters, kind._building = property(parameters), cls.declared_parameters(), building
    made: System = kind(**values)
    made.__dict__["_values"] = _Values(values, parameter, read)
    del made.__dict__[parameter]  # which would be a constant to whoever takes properties apart
    return made


class _Values(Mapping[str, Any]):
    """Where a system keeps its parameters: whoever looks for the number of servers there is noted."""

    def __init__(self, values: Mapping[str, Any], parameter: str, read: list[str]) -> None:
        self._of, self._parameter, self._read = values, parameter, read

    def __getitem__(self, name: str) -> Any:
        if name == self._parameter:
            self._read.append(name)
        return self._of[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._of)

    def __len__(self) -> int:
        return len(self._of)


def require_unread(definition: Definition, server: type[Process], properties: Iterable[Property]) -> None:
    """Refuse a property that goes through the servers one by one: what it reads so is not asked for by class."""
    for prop in properties:
        parts = parts_of(definition, prop)
        for fold in parts.folds if parts is not None else ():
            if any(issubclass(definition.columns[index].cls, server) for index in fold.columns):
                raise seen_by(prop.name, server.__name__, prop.location)


def seen_by(name: str, what: str, location: Location | None = None) -> RefusedError:
    counted = what == IN_FLIGHT or (what[:1].isupper() and "." not in what)
    why = "of which the subsystem has another number" if counted else "which depends on the number of servers"
    return RefusedError(PROPERTIES, f"{name} reads {what}, {why}", location)
