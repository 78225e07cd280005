"""Compiling a system: from its class and parameters to the definition that every later layer starts from."""

from __future__ import annotations

from collections import Counter
from types import FunctionType
from typing import Any

from quorate.base.errors import ModelError, TargetError, did_you_mean
from quorate.base.places import location_of, member_location
from quorate.base.values import ContentSet, encode, show
from quorate.language.automaton import Automaton
from quorate.language.declared import (
    MARK,
    PLACE_MARK,
    PROPERTY_MARK,
    forgotten,
    refuse_decorated,
    refuse_misspelt,
    refuse_reserved,
    refuse_strangers,
    require_setting,
)
from quorate.language.faults import Faults
from quorate.language.forbidden import forbid_classes, forbid_impure, refuse_suspended
from quorate.language.lemmas import as_invariant, lemma_functions
from quorate.language.lost import refuse_abstract, refuse_hidden, refuse_undurable
from quorate.language.message import Event, Message
from quorate.language.monitor import Monitor
from quorate.language.network import Network
from quorate.language.pid import DecompositionError, column_of
from quorate.language.process import Process
from quorate.language.system import System
from quorate.language.transitions import Declaration
from quorate.model.attacker import Arsenal, Attacker, LearningAttacker
from quorate.model.bound import read_bound, require_initials_inside
from quorate.model.build import Layout, build_all
from quorate.model.definition import Column, Definition, Mode, Property, Spec, Transition
from quorate.model.environment import Environment
from quorate.model.fields import field_types, message_types
from quorate.model.memory import Memory
from quorate.model.outcome import Local
from quorate.model.renumbering import uses_ranks
from quorate.model.temporal import refuse_temporal
from quorate.model.traffic import Channel, check_network


def define(
    system: System | type[System], environment: Environment | None = None, *, decomposed: bool = False
) -> Definition:
    """Build the system and compile what it is made of, in the environment it declares or in the one asked for.

    Decomposed, processes that play several roles are taken apart, or DecompositionError says why they cannot be.
    """
    if isinstance(system, type) and issubclass(system, System):
        refuse_abstract(system, "checked")
        system = system()
    if not isinstance(system, System):
        raise TargetError(
            f"system={show(system)} is not a System",
            hint="give the object, quorate.check(Paxos(acceptors=5)); quorate.protocols has those that are bundled",
            code="Q304",
        )
    system._require_made()
    environment = environment or Environment()
    require_setting(type(system), "network", type(system).network, Network, "fifo()")
    require_setting(type(system), "faults", type(system).faults, Faults, "crashes(1)")
    refuse_misspelt(type(system), {"network": Network, "faults": Faults})
    layout, initials, posted, settings = build_all(system, environment.byzantine, decomposed)
    specs = {cls: read_class(cls) for cls in dict.fromkeys(cls for cls, _, _ in layout)}
    attackers = frozenset(index for index, (cls, _, _) in enumerate(layout) if cls is Attacker)
    standing: dict[int, tuple[Message, ...]] = {}
    if attackers:
        standing, initials = _arm(system, layout, specs, attackers, initials)
    network: Network = settings.get("network", type(system).network)
    check_network(environment.network_model, network, specs.values())
    declared: Faults = settings.get("faults", type(system).faults)
    faults = environment.faults(declared)
    columns = tuple(
        Column(
            index=index,
            name=name,
            spec=specs[cls],
            is_monitor=pid is None,
            pid=pid,
            may_crash=pid is not None
            and faults.crashes != 0
            and index not in attackers
            and (faults.of is None or issubclass(cls, faults.of)),
        )
        for index, (cls, name, pid) in enumerate(layout)
    )
    if environment.network_model != "m":
        columns, initials, standing = _with_channels(columns, initials, standing, attackers, environment)
        routes = columns[0].routes or ()
        posted = [tuple((routes[to], message) for to, message in sends) for sends in posted]
    initials = _with_hidden(columns, initials, faults)
    found = read_properties(type(system))
    finals = [candidate for candidate in found if candidate.kind == "final"]
    if len(finals) > 1:
        raise ModelError(
            f"{type(system).__name__} has {len(finals)} @final methods: {', '.join(each.name for each in finals)}",
            hint="combine them into one with `or`",
            code="Q106",
            location=finals[1].location,
        )
    definition = Definition(
        system=system,
        name=type(system).__name__,
        parameters=dict(system.parameters),
        columns=columns,
        network=network,
        faults=faults,
        declared=declared,
        environment=environment,
        initials=tuple(initials),
        invariants=tuple(candidate for candidate in found if candidate.kind == "invariant"),
        cans=tuple(candidate for candidate in found if candidate.kind == "can"),
        final=finals[0] if finals else None,
        bound=read_bound(type(system)),
        standing=standing,
        posted=tuple(posted) if any(posted) else (),
        attackers=attackers,
        messages=message_types(specs.values()),
        scalars=settings["scalars"],
        cells=settings["cells"],
    )
    definition.ranked = uses_ranks(definition)
    if definition.ranked and definition.cells:
        raise ModelError(
            f"{definition.name} has ranks and shared cells: the order of ranks is looked for in processes alone",
            hint="use int in one of them, with a bound: `within`",
            code="Q126",
            location=location_of(type(system).build),
        )
    if decomposed:
        _require_apart(definition)
    _require_room(definition)
    _initials_within(definition)
    require_initials_inside(definition)
    if not decomposed or any(column.server is not None for column in columns):  # else nothing was taken apart
        definition.memory = Memory(definition)
    return definition


def _with_hidden(
    columns: tuple[Column, ...], initials: list[tuple[Local, ...]], faults: Faults
) -> list[tuple[Local, ...]]:
    """The initial states with the fields that nobody sees, all flags down.

    A process that recovers has its volatile fields as they were at the beginning of the run. Where that differs from
    one initial state to another, it is a part of what the process will do, so it is noted in the local state: for all
    processes of the class, since these are to be exchanged.
    """
    for column in columns:
        column.beginning = initials[0][column.index]
    for column in columns if faults.recover else ():
        spec = column.spec
        volatile = [at for at, kept in enumerate(spec.durable) if not kept]
        seen = {encode(tuple(state[column.index][at] for at in volatile)) for state in initials}
        if column.may_crash and len(seen) > 1 and spec.origin < 0:
            spec.origin = len(spec.fields)
            spec.fields += ("began:as",)

    def whole(column: Column, values: Local) -> Local:
        spec = column.spec
        flags = (False,) * (len(spec.fields) - spec.visible - (spec.origin >= 0))
        if spec.origin < 0:
            return values + flags
        return (*values, *flags, tuple(None if kept else v for v, kept in zip(values, spec.durable, strict=True)))

    return [tuple(whole(column, values) for column, values in zip(columns, state, strict=True)) for state in initials]


def _require_room(definition: Definition) -> None:
    """Refuse more messages at the beginning than a channel holds."""
    capacity = definition.network.capacity
    for sends in definition.posted if capacity is not None else ():
        merged = list({encode((to, each)): (to, each) for to, each in sends}.values())
        channels = Counter((to, each.sender) for to, each in (merged if definition.network.kind == "set" else sends))
        for (to, sender), count in channels.items():
            if capacity is not None and count > capacity:
                raise ModelError(
                    f"{definition.name}.build sends {count} messages from {sender} to {definition.receiver(to)}, "
                    f"and the channel holds {capacity}",
                    hint="send fewer, or give the network a larger capacity=",
                    code="Q109",
                    location=location_of(type(definition.system).build),
                )


def _require_apart(definition: Definition) -> None:
    """Refuse environments in which the roles of a process have more in common than a name."""
    if all(column.server is None for column in definition.processes):
        return
    network = definition.network
    if network.ordered or network.bounded:
        raise DecompositionError(
            "messages to several roles of a process go through one channel, which keeps order or room"
        )
    if definition.bound is not None:
        raise DecompositionError(f"{definition.name}.within is about whole processes")
    if definition.faults.crashes:
        raise DecompositionError("the roles of a process crash together")
    if definition.environment.network_model != "m":
        raise DecompositionError("messages to several roles of a process are delivered to one input buffer")


def _arm(
    system: System,
    layout: Layout,
    specs: dict[type[Automaton], Spec],
    attackers: frozenset[int],
    initials: list[tuple[Local, ...]],
) -> tuple[dict[int, tuple[Message, ...]], list[tuple[Local, ...]]]:
    """Give the attackers of a system their messages; where there is something to learn, a memory as well."""
    honest = [(pid, specs[cls]) for cls, _, pid in layout if pid is not None and cls is not Attacker]
    pids = [pid for _, _, pid in layout if pid is not None]
    arsenal = Arsenal(system, honest, [pid for pid in pids if column_of(pid) in attackers], pids)
    if arsenal.learns:
        specs[Attacker] = read_class(type("Byzantine", (LearningAttacker,), {"arsenal": arsenal}))
        specs[Attacker].ends = True
        memory: Local = (ContentSet(),)
        initials = [
            tuple(memory if index in attackers else local for index, local in enumerate(state)) for state in initials
        ]
    return arsenal.initial(), initials


def _with_channels(
    columns: tuple[Column, ...],
    initials: list[tuple[Local, ...]],
    standing: dict[int, tuple[Message, ...]],
    attackers: frozenset[int],
    environment: Environment,
) -> tuple[tuple[Column, ...], list[tuple[Local, ...]], dict[int, tuple[Message, ...]]]:
    """Put a channel before every process: behind the processes, so that identities keep their numbers."""
    processes = [column for column in columns if not column.is_monitor]
    count = len(processes)
    routes = tuple(range(count, 2 * count))
    spec = read_class(Channel)
    channels = [
        Column(
            index=count + column.index,
            name=f"channel to {column.name}",
            spec=spec,
            is_monitor=False,
            pid=None,
            may_crash=False,
            delivers_to=column.index,
        )
        for column in processes
    ]
    for column in processes:
        column.routes = routes
        column.keeps = False
        column.clean = environment.network_model == "rm" and column.index not in attackers
    for column in columns[count:]:
        column.index += count
    empty: tuple[Local, ...] = ((),) * count
    return (
        (*processes, *channels, *columns[count:]),
        [state[:count] + empty + state[count:] for state in initials],
        {routes[index]: messages for index, messages in standing.items()},
    )


def read_class(cls: type[Automaton]) -> Spec:
    """The fields and transitions of a class; an overriding method keeps the place of the one it overrides."""
    refuse_strangers(cls, PROPERTY_MARK)
    refuse_decorated(cls)
    refuse_abstract(cls, "part of a system")
    refuse_temporal(cls)
    if issubclass(cls, Process):
        refuse_undurable(cls, Process)
    names: dict[str, list[type]] = {}
    for base in reversed(cls.__mro__):
        for name, value in base.__dict__.items():
            if isinstance(value, FunctionType) and hasattr(value, MARK):
                names.setdefault(name, []).append(base)
    visible = tuple(cls._fields)
    flags: list[str] = []
    transitions: list[Transition] = []
    for name, bases in names.items():
        refuse_hidden(cls, name, bases, Automaton, "transitions")
        function = getattr(cls, name)
        declaration: Declaration | None = getattr(function, MARK, None)
        if declaration is None:
            if function is None:
                continue
            raise forgotten(cls, name, "transition", "the decorator")
        flag = -1
        if declaration.kind == "start":
            flag = len(visible) + len(flags)
            flags.append(f"started:{name}")
        transition = _transition(cls, name, function, declaration, len(transitions), flag)
        d = declaration
        forbid_impure(f"{cls.__name__}.{name}", function, d.when, d.where, d.enough, d.size, d.each, d.same)
        transitions.append(transition)
    within = getattr(cls, "within", None)
    refuse_suspended(within, f"{cls.__name__}.within")
    forbid_impure(f"{cls.__name__}.within", within)
    if within is not None and issubclass(cls, Monitor):
        raise ModelError(
            f"{cls.__name__}.within: a monitor cannot bound what is explored",
            hint="put the bound on a process",
            code="Q106",
            location=member_location(cls, "within"),
        )
    kept = cls.durable if issubclass(cls, Process) else ()  # of a monitor it is a field like any other
    durable = tuple(name in kept for name in visible)
    return Spec(
        cls,
        visible + tuple(flags),
        len(visible),
        tuple(transitions),
        within,
        types=field_types(cls),
        durable=durable,
    )


def _transition(
    cls: type[Automaton], name: str, function: Any, declaration: Declaration, index: int, flag: int
) -> Transition:
    location = location_of(function)
    assert location is not None, "decorators take functions"
    about_events = declaration.message is not None and issubclass(declaration.message, Event)
    if issubclass(cls, Monitor):
        if declaration.kind != "on" or not about_events or declaration.keep or declaration.fair is not True:
            raise ModelError(
                f"{cls.__name__}.{name}: a monitor only reacts to events",
                hint="write @on(SomeEvent) or @on(SomeEvent, when=...)",
                code="Q106",
                location=location,
            )
    elif about_events:
        raise ModelError(
            f"{cls.__name__}.{name}: a process cannot react to an event, events are for monitors",
            hint="make it a Message and send it",
            code="Q106",
            location=location,
        )
    for option, value in (("size", declaration.size), ("each", declaration.each)):
        if isinstance(value, str) and value not in cls._fields:
            raise ModelError(
                f"{cls.__name__}.{name}: {option}={value!r} names no field of {cls.__name__}",
                hint=did_you_mean(value, cls._fields),
                code="Q106",
                location=location,
            )
    mode: Mode | None = None
    if declaration.kind == "quorum":
        mode = "exact" if declaration.size is not None else "each" if declaration.each is not None else declaration.sets
    return Transition(
        index,
        name,
        declaration.kind,
        declaration.message,
        declaration.keep,
        mode,
        location,
        cls,
        function,
        declaration,
        flag,
    )


def read_properties(cls: type[System]) -> list[Property]:
    """The properties of a system class in the order they are written, inherited ones first."""
    refuse_strangers(cls, MARK)
    names: dict[str, list[type]] = {}
    for base in reversed(cls.__mro__):
        for name, value in base.__dict__.items():
            if isinstance(value, FunctionType) and hasattr(value, PROPERTY_MARK):
                names.setdefault(name, []).append(base)
    found: list[Property] = []
    for name, bases in names.items():
        refuse_hidden(cls, name, bases, System, "properties")
        function = getattr(cls, name)
        kind = getattr(function, PROPERTY_MARK, None)
        if kind is None:
            if function is None:
                continue
            raise forgotten(cls, name, "property", "@invariant, @can or @final")
        location = getattr(function, PLACE_MARK, None) or location_of(function)
        assert location is not None, "decorators take functions"
        forbid_impure(f"{cls.__name__}.{name}", function)
        forbid_classes(f"{cls.__name__}.{name}", function)
        refuse_reserved(cls, name, location)
        found.append(Property(name, kind, (function.__doc__ or "").strip(), function, location))
    for name, function in lemma_functions(cls).items():
        asked = as_invariant(function)
        location = location_of(function)
        assert location is not None, "decorators take functions"
        forbid_impure(f"{cls.__name__}.{name}", function)
        forbid_classes(f"{cls.__name__}.{name}", function)
        if asked is not None:
            found.append(Property(name, "invariant", (function.__doc__ or "").strip(), asked, location))
    return found


def _initials_within(definition: Definition) -> None:
    from quorate.model.run import is_within

    for column in definition.columns:
        if column.spec.within is None or column.is_monitor:
            continue
        for state in definition.initials:
            if not is_within(column, state[column.index]):
                raise ModelError(
                    f"{column.cls.__name__}.within excludes the initial state of {column.name}",
                    hint="the bound must hold initially, or nothing is explored",
                    code="Q115",
                    location=location_of(column.spec.within),
                )
