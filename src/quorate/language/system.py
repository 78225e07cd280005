"""Systems: parameters, the processes they spawn, the network, the faults and the properties."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform, overload

from quorate.base.errors import ModelError, ParameterError, caller, did_you_mean
from quorate.base.places import class_location, location_of, member_location
from quorate.base.values import show
from quorate.language.automaton import own_annotations
from quorate.language.declared import refuse_decorated, refuse_making, refuse_reserved, refuse_taken
from quorate.language.faults import Faults
from quorate.language.lost import refuse_lost
from quorate.language.maps import Map
from quorate.language.message import Message
from quorate.language.monitor import Monitor
from quorate.language.network import Network
from quorate.language.parameters import Parameter, collect
from quorate.language.pid import Peers, Pid
from quorate.language.presets import Preset
from quorate.language.process import Process
from quorate.language.scalar import Scalar
from quorate.language.shared import Access, Shared

P = TypeVar("P", bound=Process)
W = TypeVar("W", bound=Monitor)
V = TypeVar("V", bound=Scalar)
T = TypeVar("T")
K = TypeVar("K")
M = TypeVar("M", bound=Message)

_SETTINGS = {"network", "faults"}


@dataclass_transform(kw_only_default=True)
class System:
    """An instance of a protocol.

    class Paxos(System):
        acceptors: int = 3               # a parameter: Paxos(acceptors=5), or -p acceptors=5

        def build(self) -> None:
            self.spawn(Acceptor, self.acceptors)

        @invariant
        def agreement(self) -> bool:
            return len({value for learner in self[Learner] for value in learner.learned}) <= 1
    """

    network: Network = Network()
    faults: Faults = Faults()
    quorums: ClassVar[Mapping[str, str]] = {}
    """Parameter that is the size of a quorum -> parameter that says how many it is taken from; for sweeps."""
    presets: ClassVar[Mapping[str, Preset]] = {}
    """Named choices of parameters. They are not inherited: an argument about a protocol is none about its variants."""
    _parameters: ClassVar[dict[str, Parameter] | None] = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        refuse_lost(cls, (System,))
        refuse_taken(cls, own_annotations(cls), ("_values", "_builder", "_views", "_chosen"))
        refuse_making(
            cls,
            "declare parameters with their values, `servers: int = 3`; `build` makes the processes",
            "__post_init__",
        )
        for name in ("parameters", "declared_parameters", "preset"):  # asked for before anything is defined
            if name in cls.__dict__:
                refuse_reserved(cls, name, member_location(cls, name))

    def __init__(self, **values: Any) -> None:
        cls = type(self)
        if not __debug__:
            raise ModelError(
                "Python was started with -O, which leaves out every assert: what a model asserts would seem to hold",
                hint="start it without -O, and without PYTHONOPTIMIZE",
                code="Q127",
            )
        known = cls.declared_parameters()
        for name, value in values.items():
            if name not in known:
                raise ParameterError(
                    f"{cls.__name__} has no parameter `{name}`", hint=did_you_mean(name, known), code="Q201"
                )
            known[name].check(value)
        for name, parameter in known.items():
            if parameter.required and name not in values:
                raise ParameterError(
                    f"{cls.__name__} needs the parameter `{name}`: {parameter.type_name}",
                    hint=f"give it: {cls.__name__}({name}=...), or -p {name}=... on the command line",
                    code="Q204",
                )
        chosen = {name: values.get(name, parameter.default) for name, parameter in known.items()}
        self.__dict__.update(chosen)
        self.__dict__["_values"] = chosen
        self.__dict__["_builder"] = None
        self.__dict__["_views"] = None
        self.__dict__["_chosen"] = ()

    @classmethod
    def preset(cls, *names: str, **values: Any) -> Self:
        """An instance with named choices of parameters: `Paxos.preset("any-proposers", acceptors=5)`."""
        own: Mapping[str, Preset] = cls.__dict__.get("presets", {})
        chosen: dict[str, Any] = {}
        for name in names:
            if name not in own:
                hint = did_you_mean(name, own)
                if name in cls.presets:
                    hint = "it belongs to the protocol this one is derived from, and says nothing about variants"
                raise ParameterError(f"{cls.__name__} has no preset `{name}`", hint=hint, code="Q210")
            for parameter, value in own[name].values.items():
                if {**values, **chosen}.get(parameter, value) != value:
                    raise ParameterError(
                        f"the preset `{name}` means {parameter}={value}, but {parameter} is given as well",
                        hint="leave one of them out",
                        code="Q210",
                    )
                chosen[parameter] = value
        made = cls(**{**chosen, **values})
        made.__dict__["_chosen"] = tuple((name, own[name]) for name in names)
        return made

    @classmethod
    def declared_parameters(cls) -> dict[str, Parameter]:
        """The parameters by name, with type and default."""
        if "_parameters" not in cls.__dict__ or cls._parameters is None:
            cls._parameters = collect(cls, System, _SETTINGS)
        return cls._parameters

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The values of the parameters by name."""
        return MappingProxyType(self.__dict__["_values"])

    def build(self) -> None:
        """Spawn the processes; every system defines it."""
        raise ModelError(
            f"{type(self).__name__} has no `build`",
            hint="define `def build(self) -> None` and spawn processes in it: self.spawn(Server, 3)",
            code="Q110",
            location=class_location(type(self)),
        )

    @overload
    def spawn(self, process: type[Process], /, **fields: Any) -> Pid: ...

    @overload
    def spawn(self, process: type[Process], count: int, /, **fields: Any) -> Peers: ...

    def spawn(self, process: type[Process], count: int | None = None, /, **fields: Any) -> Pid | Peers:
        """Make one process, or `count` equal ones, with the given values of their fields."""
        builder = self._building("spawn")
        if count is None:
            pid: Pid = builder.spawn(process, fields)
            return pid
        if type(count) is not int or count < 0:
            raise ModelError(
                f"spawn({process.__name__}, {show(count)}): the count is an int, 0 or more",
                code="Q109",
                location=caller(),
            )
        return Peers([builder.spawn(process, fields) for _ in range(count)])

    def connect(self, pids: Pid | Iterable[Pid], /, **fields: Any) -> None:
        """Set fields of processes that are spawned already, where they need to know one another."""
        builder = self._building("connect")
        for pid in _listed(pids):
            builder.connect(pid, fields)

    def send(self, to: Pid | Iterable[Pid], message: Message, /, *, sender: Pid | None = None) -> None:
        """A message that is there at the beginning, as if `sender` had sent it: to one process, or to several."""
        builder = self._building("send")
        if sender is None:
            raise ModelError(
                f"self.send({show(to)}, {show(message)}) in `build` names no sender",
                hint="every message comes from a process: self.send(pid, message, sender=other)",
                code="Q109",
                location=caller(),
            )
        for pid in _listed(to):
            builder.post(pid, message, sender)

    def scalars(self, kind: type[V], count: int) -> frozenset[V]:
        """So many values that are only compared for equality: `self.scalars(Value, 3)`."""
        made: frozenset[V] = self._building("scalars").make_scalars(kind, count)
        return made

    @overload
    def share(self, name: str, value: T, /, *, access: Access = "atomic") -> Shared[T]: ...

    @overload
    def share(self, name: str, value: T, /, *, each: Iterable[K], access: Access = "atomic") -> Map[K, Shared[T]]: ...

    def share(self, name: str, value: Any, /, *, each: Iterable[Any] | None = None, access: Access = "atomic") -> Any:
        """A cell that processes read and write, with its first value; or one `each` of several keys: a Map.

        With access="single" a step that reads or writes it has no other access to shared cells.
        """
        return self._building("share").share(name, value, each, access)

    def shared(self, name: str, *key: Any) -> Any:
        """In properties: what a shared cell holds; of several with one name, the one of that key."""
        views = self.__dict__["_views"]
        if views is None or not hasattr(views, "shared"):
            raise ModelError(
                f"{type(self).__name__}.shared(...) was called outside of a property",
                hint="transitions read a cell through the field that holds it: self.counter.value",
                code="Q108",
                location=caller(),
            )
        return views.shared(name, *key)

    def corrupt(self, pids: Pid | Iterable[Pid], count: int | None = None, /) -> None:
        """Let an exhaustive attacker take the place of these processes, or of the last `count` of them.

        It may send any well-typed message to anyone at any time, under its own identity. Properties do not see it.
        """
        self._building("corrupt").corrupt(_listed(pids), count)

    def watch(self, monitor: type[Monitor], /, **fields: Any) -> None:
        """Let a monitor see every event that is emitted."""
        self._building("watch").watch(monitor, fields)

    def require(self, condition: object, text: str) -> None:
        """Refuse parameters that make no sense: `self.require(self.faulty < self.servers, "...")`."""
        self._building("require")
        if not condition:
            if not isinstance(text, str):
                raise ModelError(
                    f"`require` was given a {type(text).__name__}",
                    hint="it takes a condition, and a text that says what is wrong if it does not hold",
                    code="Q109",
                    location=caller(),
                )
            values = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
            raise ParameterError(text, hint=f"the parameters are {values}" if values else "", code="Q203")

    def choose(self, options: Iterable[T]) -> T:
        """Several initial states: `build` is run again for every option."""
        chosen: T = self._building("choose").choose(options)
        return chosen

    @overload
    def __getitem__(self, cls: type[P], /) -> tuple[P, ...]: ...

    @overload
    def __getitem__(self, cls: type[W], /) -> W: ...

    def __getitem__(self, cls: Any, /) -> Any:
        """In properties: the processes of a class in the order of spawning, or the monitor of a class, to read."""
        views = self.__dict__["_views"]
        if views is None:
            name = getattr(cls, "__name__", repr(cls))
            raise ModelError(
                f"{type(self).__name__}: self[{name}] was read outside of a property",
                hint="processes can be read in @invariant, @can and @final; in `build`, keep what spawn returns",
                code="Q108",
                location=caller(),
            )
        return views.of(cls)

    def pending(self, cls: type[M], /, *, to: Process | Pid | None = None) -> tuple[M, ...]:
        """In properties: the messages of a class that were sent and not consumed yet; `to`: to one process."""
        views = self.__dict__["_views"]
        if not hasattr(views, "pending"):
            raise ModelError(
                f"{type(self).__name__}.pending(...) was called outside of a property",
                hint="messages in flight can be read in @invariant, @can, @final and `within` of a System",
                code="Q108",
                location=caller(),
            )
        found: tuple[M, ...] = views.pending(cls, to)
        return found

    def ever_sent(self, by: Process, message: Any, /) -> bool:
        """In lemmas: whether a process has ever sent just this message."""
        return bool(self._history("ever_sent").sent(by, message))

    def ever_sent_any(self, cls: type[M], where: Callable[[M], object], /, *, by: Process | None = None) -> bool:
        """In lemmas: whether a message of this class was ever sent of which something holds."""
        return bool(self._history("ever_sent_any").exists(cls, where, by))

    def has_started(self, by: Process, name: str, /) -> bool:
        """In lemmas: whether a process has taken its `@start` step of this name."""
        return bool(self._history("has_started").started(by, name))

    def _history(self, method: str) -> Any:
        views = self.__dict__["_views"]
        if not hasattr(views, "sent"):
            raise ModelError(
                f"{type(self).__name__}.{method}(...) was called outside of a @lemma",
                hint="what was sent is known to proofs alone; in an @invariant, use a Monitor",
                code="Q108",
                location=caller(),
            )
        return views

    def _require_made(self) -> None:
        """Refuse an __init__ that leaves out what this class does in its own."""
        if "_builder" not in self.__dict__:
            cls = type(self)
            refuse_decorated(cls)
            raise ModelError(
                f"{cls.__name__}.__init__ does not call super().__init__(**values) first",
                hint="declare parameters with their values, `servers: int = 3`: then no __init__ is needed",
                code="Q106",
                location=location_of(cls.__init__) or class_location(cls),
            )

    def __setattr__(self, name: str, value: Any) -> None:
        cls = type(self)
        self._require_made()
        if self.__dict__["_builder"] is not None:
            if name in _SETTINGS:
                wanted = Network if name == "network" else Faults
                if not isinstance(value, wanted):
                    example = "fifo()" if name == "network" else "crashes(1)"
                    raise ModelError(
                        f"{cls.__name__}.{name} = {show(value)}",
                        hint=f"e.g. self.{name} = {example}",
                        code="Q111",
                        location=caller(),
                    )
                self.__dict__["_builder"].settings[name] = value
                self.__dict__[name] = value
                return
            hint = "keep it in a local variable; a build sets only self.network and self.faults"
        else:
            hint = f"make another system: {cls.__name__}({name}=...)"
        if self.__dict__["_views"] is not None:
            hint = "a property only reads: return a bool that depends on fields of processes and monitors"
        raise ModelError(f"{cls.__name__}.{name} was assigned", hint=hint, code="Q108", location=caller())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={show(value)}' for name, value in self.parameters.items())})"

    def _building(self, method: str) -> Any:
        builder = self.__dict__["_builder"]
        if builder is None:
            raise ModelError(
                f"{type(self).__name__}.{method}(...) was called outside of `build`",
                hint="a system spawns and connects its processes in `def build(self) -> None`",
                code="Q108",
                location=caller(),
            )
        return builder


def _listed(pids: Pid | Iterable[Pid]) -> list[Pid]:
    """One identity or several; what is neither is left to be refused by whoever takes them."""
    return list(pids) if isinstance(pids, Iterable) and not isinstance(pids, Pid) else [pids]
