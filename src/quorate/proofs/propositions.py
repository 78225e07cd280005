"""Properties and lemmas as formulas: run on unknown integers, one way after the other, and put together again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import Any, Literal

from quorate.base.errors import Location, ModelError, PropertyError, caller, did_you_mean
from quorate.base.places import location_of
from quorate.language.lemmas import Parameter, is_lemma, lemma_functions, parameters_of
from quorate.language.maps import Map
from quorate.language.monitor import Monitor
from quorate.language.pid import Pid, column_of
from quorate.language.process import Process
from quorate.model.definition import Column
from quorate.proofs.cells import Cells, present
from quorate.proofs.encode import Encoded
from quorate.proofs.machine import Channel, Frame
from quorate.proofs.paths import Path
from quorate.proofs.proxies import SymBool, condition_of, decide, lifted, plain_class, taking, truth
from quorate.proofs.refusal import RefusedError, running
from quorate.proofs.solver import Query
from quorate.proofs.terms import (
    FALSE,
    TRUE,
    Term,
    app,
    conjunction,
    disjunction,
    equal,
    exists,
    forall,
    negation,
    nodes,
    rebuilt,
    var,
    variables,
)
from quorate.proofs.truth_values import may_be_hashed

Class = Literal["D", "SM", "MF", "SV", "goal"]
"""Definition, system model, message flow, state validity (Bokor 2011, section 5.1), or what is to be proved."""

_fresh = iter(range(1 << 62))


@dataclass(frozen=True, eq=False)
class Instance:
    """A claim about certain processes: for all messages in certain channels, something holds."""

    bound: tuple[Term, ...]
    guards: tuple[Term, ...]
    body: Term

    @property
    def matrix(self) -> Term:
        """Without the quantifier."""
        return disjunction([*(negation(guard) for guard in self.guards), self.body])

    @property
    def formula(self) -> Term:
        """As a hypothesis. Instances are wanted where its messages are spoken of."""
        if not self.bound:
            return self.matrix
        reads = [read(guard) for guard in self.guards]
        patterns = [[each for each in reads if each.args[1]]] if self.guards else []  # the others say nothing of which
        wanted = set(self.bound)
        for each in nodes(self.body):
            if each.op == "app" and wanted <= variables(each) and [each] not in patterns:
                patterns.append([each])
        return forall(self.bound, self.matrix, patterns[:4])

    def skolem(self, tag: str) -> Term:
        """For certain messages: what a goal has to be for all of them."""
        return rebuilt(self.matrix, {each: var(f"!{tag}{each.args[0]}", each.sort) for each in self.bound})


def read(guard: Term) -> Term:
    """The predicate in a guard: itself, or what is counted in `count >= 1`."""
    if guard.op == "app":
        return guard
    return next(each for each in nodes(guard) if each.op == "app")


@dataclass(eq=False)
class Claim:
    """Something that shall hold in every reachable state."""

    name: str
    kind: Class
    instances: tuple[Instance, ...]
    text: str = ""
    """How it is written in Python, or what it says."""
    origin: Literal["invariant", "given", "found", "obligation", "derived"] = "given"
    location: Location | None = None
    weight: int = 0
    """How much it says: of several that serve, the one that says least is tried first."""

    @cached_property
    def formulas(self) -> list[Term]:
        return [each.formula for each in self.instances]

    @property
    def formula(self) -> Term:
        return conjunction(self.formulas)


class Panel:
    """What `self[...]` is in a property that runs on unknown integers."""

    def __init__(self, encoded: Encoded) -> None:
        self.machine = encoded.machine
        self.encoded = encoded
        self._views: dict[int, Any] = {}
        self.cells = Cells(self.machine, lambda cell: Frame(self.machine, cell, "a property"))

    def view(self, column: Column) -> Any:
        found = self._views.get(column.index)
        if found is None:
            found = self._views[column.index] = self.machine.view(column, Frame(self.machine, column, "a property"))
        return found

    def of(self, cls: Any) -> Any:
        found = tuple(self.view(column) for column in columns_of(self.encoded, cls))
        return found[0] if issubclass(cls, Monitor) else found

    def sent(self, by: Any, message: Any) -> Any:
        column = self._column(by)
        cls = plain_class(message)
        name = self.machine.sent_name(cls, column)
        if not any(each.sent == name for each in self.machine.channels.values()):
            return False
        return truth(app(name, self.machine.lower_message(message)))

    def exists(self, cls: Any, where: Any, by: Any) -> Any:
        """Whether a message was sent of which a condition holds; the condition is run for itself, on all its ways."""
        found: list[Term] = []
        outer = running.path
        assert outer is not None
        for sender, shape in senders_of(self.encoded, cls, None if by is None else self._column(by)):
            bound = [var(f":e{next(_fresh)}{suffix}", sort) for suffix, sort in shape.leaves]

            def run(path: Path, sender: Column = sender, bound: list[Term] = bound) -> Any:
                with taking(path):
                    assert sender.pid is not None
                    found = where(self.machine.received(cls, sender.pid, bound))
                    return found if isinstance(found, SymBool) else bool(found)

            assumed = [*outer.assumed, *outer.conditions, shape.wf(bound)]
            ways = self.encoded.explorer.explore(run, assumed=assumed, what=f"exists({cls.__name__})", place=None)
            ghost = app(self.machine.sent_name(cls, sender), bound)
            raise_errors(ways, bound, conjunction([ghost, shape.wf(bound)]))
            body = conjunction([ghost, shape.wf(bound), _disjunction(ways)])
            found.append(exists(bound, body) if bound else body)
        return truth(disjunction(found))

    def shared(self, name: str, *key: Any) -> Any:
        return self.cells.named(name, key)

    def pending(self, cls: Any, to: Any) -> Any:
        raise reads_messages(cls)

    def started(self, by: Any, name: str) -> Any:
        column = self._column(by)
        for each in self.machine.fields[column.index]:
            if each.name == f"started:{name}" and each.index >= column.spec.visible:
                return truth(each.terms[0])
        raise ModelError(f"{column.cls.__name__} has no @start step `{name}`", code="Q108", location=caller())

    def _column(self, by: Any) -> Column:
        if isinstance(by, Pid):
            return self.machine.definition.columns[column_of(by)]
        column: Column = by._run.column
        return column


def reads_messages(cls: type) -> RefusedError:
    return RefusedError(
        f"reads the {cls.__name__} in flight, which has no encoding in an invariant",
        f"say it in a @lemma with a parameter of type Pending[{cls.__name__}]",
    )


def raise_errors(ways: Iterable[Any], bound: Sequence[Term], given: Term) -> None:
    """Where there is a message on which the condition fails, the property fails: that it is not true would be wrong
    under a `not`."""
    for way in ways:
        if way.error is not None:
            body = conjunction([given, way.path.condition])
            if decide(exists(bound, body) if bound else body):
                raise way.error


def columns_of(encoded: Encoded, cls: Any) -> list[Column]:
    return [
        column
        for column in encoded.definition.columns
        if issubclass(column.cls, cls) and (cls._byzantine or not column.cls._byzantine)
    ]


def senders_of(encoded: Encoded, cls: Any, only: Column | None = None) -> list[tuple[Column, Any]]:
    """Who sends messages of just this class."""
    found: dict[int, tuple[Column, Any]] = {}
    for channel in encoded.machine.channels.values():
        if channel.cls is cls and (only is None or channel.sender is only):
            found[channel.sender.index] = (channel.sender, channel.shape)
    return [found[index] for index in sorted(found)]


def _disjunction(ways: Iterable[Any]) -> Term:
    """The formula of a function by its ways. One that fails or has no answer is not true."""
    ways = list(ways)
    if any(way.path.picked for way in ways):  # the order of a set: true is what is so in every order
        answers = [(way.path.condition, condition_of(way.value) if way.error is None else None) for way in ways]
        return negation(disjunction(conjunction([given, negation(answer or FALSE)]) for given, answer in answers))
    yes: list[Term] = []
    no: list[Term] = []
    open_ = False
    for way in ways:
        condition = way.path.condition
        if way.error is not None:
            open_ = True
            continue
        answer = condition_of(way.value)
        if answer is None:
            open_ = True
            continue
        if answer is not FALSE:
            yes.append(conjunction([condition, answer]))
        if answer is not TRUE:
            no.append(conjunction([condition, negation(answer)]))
    # The ways cover everything and exclude each other: the shorter of two equal formulas.
    return negation(disjunction(no)) if len(no) < len(yes) and not open_ else disjunction(yes)


def formula_of(
    encoded: Encoded,
    run: Callable[[Panel, Any], Any],
    what: str,
    place: Location | None,
    assumed: Sequence[Term] = (),
    function: Any = None,
) -> Term:
    """The formula of a predicate over states."""
    machine = encoded.machine
    whole = [machine.well_formed(), *assumed]
    whole = [each for each in whole if each is not TRUE]

    def once(path: Path) -> Any:
        with taking(path):
            panel = Panel(encoded)
            with present(panel.cells):
                answer = run(panel, _system(encoded, panel))
                return answer if isinstance(answer, SymBool) else _bool(answer)

    def explored() -> Term:
        with encoded.lifting.lent():
            return _disjunction(encoded.explorer.explore(once, assumed=whole, what=what, place=place))

    # That 0 and 1 hash like truth values hardly ever matters, and tells many more ways apart.
    running.alike, running.tried = True, False
    try:
        rough = explored()
    finally:
        running.alike, tried = False, running.tried
    if not tried or not may_be_hashed(encoded.definition, function):
        return rough
    exact = explored()
    query = Query(encoded.translate)
    query.add(*whole)
    seconds = 5 * encoded.explorer.deadline.slowness
    return rough if query.ask([negation(equal(rough, exact))], seconds=seconds) == "unsat" else exact


def _bool(answer: Any) -> Any:
    if type(answer) is not bool:
        raise TypeError("not True or False")
    return answer


def is_data(name: str, value: Any) -> bool:
    """Whether a class keeps a value under this name that its methods may read."""
    return not name.startswith("__") and type(value) in (int, tuple, list, set, frozenset, dict, Map)


def _system(encoded: Encoded, panel: Panel) -> Any:
    system = encoded.definition.system
    bound = object.__new__(type(system))
    for cls in reversed(type(system).__mro__):
        if cls.__module__.startswith("quorate.language") or cls is object:
            continue
        bound.__dict__.update({name: lifted(value) for name, value in vars(cls).items() if is_data(name, value)})
    bound.__dict__.update({name: lifted(value) for name, value in system.__dict__.items() if name[0] != "_"})
    bound.__dict__.update({name: value for name, value in system.__dict__.items() if name[0] == "_"})
    bound.__dict__.update(encoded.definition.settings)
    bound.__dict__["_views"] = panel
    return bound


def _asked(function: Any, _: Panel, system: Any) -> Any:
    return function(system)


def invariants(encoded: Encoded, names: Sequence[str] | None) -> list[Claim]:
    """The invariants to be proved."""
    definition = encoded.definition
    stated = [each for each in definition.invariants if not is_lemma(each.function)]
    known = [each.name for each in stated]
    for name in names or ():
        if name not in known:
            extra = "; only invariants can be proved" if name in [p.name for p in definition.properties] else ""
            raise PropertyError(
                f"{definition.name} has no invariant `{name}`", hint=did_you_mean(name, known) + extra, code="Q401"
            )
    found = []
    for prop in stated:
        if names and prop.name not in names:
            continue
        body = formula_of(encoded, partial(_asked, prop.function), prop.name, prop.location, (), prop.function)
        parts = body.args if body.op == "and" else (body,)
        found.append(
            Claim(
                prop.name, "goal", tuple(Instance((), (), part) for part in parts), prop.doc, "invariant", prop.location
            )
        )
    return found


# --- lemmas ----------------------------------------------------------------------------------------------------


def lemmas(encoded: Encoded) -> list[Claim]:
    """The lemmas that the author of a system has written."""
    return [
        lemma(encoded, name, function) for name, function in lemma_functions(type(encoded.definition.system)).items()
    ]


def lemma(encoded: Encoded, name: str, function: Any, origin: Any = "given", text: str = "") -> Claim:
    parameters = parameters_of(function)
    place = location_of(function)
    instances: list[Instance] = []
    for binding in product(*(_range(encoded, each) for each in parameters)):
        bound: list[Term] = []
        guards: list[Term] = []
        rules: list[Term] = []
        makers: list[Callable[[Panel], Any]] = []
        for parameter, (column, channel) in zip(parameters, binding, strict=True):
            if not parameter.is_message:
                makers.append(partial(_process, column))
                continue
            shape = encoded.machine.message(parameter.cls)
            leaves = tuple(var(f":{parameter.name}{suffix}", sort) for suffix, sort in shape.leaves)
            bound += leaves
            rules.append(shape.wf(leaves))
            if channel is None:
                guards.append(app(encoded.machine.sent_name(parameter.cls, column), leaves))
            else:
                guards.append(encoded.machine.held(channel, leaves))
            to = channel.receiver.pid if channel is not None else None
            makers.append(partial(_message, parameter.cls, column, leaves, to))
        body = formula_of(
            encoded,
            partial(_claimed, function, makers),
            name,
            place,
            rules,
        )
        if body is not TRUE:
            instances.append(Instance(tuple(bound), tuple(guards), body))
    return Claim(name, _class(parameters), tuple(instances), text or (function.__doc__ or "").strip(), origin, place)


def _process(column: Column, panel: Panel) -> Any:
    return panel.view(column)


def _message(cls: type, column: Column, leaves: tuple[Term, ...], to: Pid | None, panel: Panel) -> Any:
    assert column.pid is not None
    return panel.machine.received(cls, column.pid, leaves, to)


def _claimed(function: Any, makers: Sequence[Callable[[Panel], Any]], panel: Panel, system: Any) -> Any:
    return function(system, *(make(panel) for make in makers))


def _range(encoded: Encoded, parameter: Parameter) -> list[tuple[Column, Channel | None]]:
    if not parameter.is_message:
        return [(column, None) for column in columns_of(encoded, parameter.cls)]
    if parameter.pending:
        return [
            (channel.sender, channel) for channel in encoded.machine.channels.values() if channel.cls is parameter.cls
        ]
    return [(column, None) for column, _ in senders_of(encoded, parameter.cls)]


def _class(parameters: Sequence[Parameter]) -> Class:
    """By what it speaks of: of messages, of several processes, of one."""
    if any(each.is_message for each in parameters):
        return "MF"
    return "SV" if len([each for each in parameters if issubclass(each.cls, Process)]) > 1 else "D"


def obligations(encoded: Encoded) -> list[Claim]:
    """What the encoding leaves to be shown: that no handler fails, and that no collection overflows its slots.

    Each is a claim about the state before a step: the guard of a bad action does not hold.
    """
    bad: dict[tuple[str, str], list[Instance]] = {}
    places: dict[tuple[str, str], Location | None] = {}
    for action in encoded.actions:
        if action.kind in ("fail", "overflow"):
            bound = action.parameters
            inner = {each: var(f"o{each.args[0]}", each.sort) for each in bound}
            key = action.kind, f"{action.transition}: {action.text}"
            reads = [encoded.machine.held(put.channel, put.leaves) for put in action.consumed]
            rest = conjunction(
                each
                for each in (action.guard.args if action.guard.op == "and" else (action.guard,))
                if each not in reads
            )
            bad.setdefault(key, []).append(
                Instance(
                    tuple(inner.values()),
                    tuple(rebuilt(each, inner) for each in reads),
                    rebuilt(negation(rest), inner),
                )
            )
            places[key] = action.place
    return [
        Claim(f"never: {text}", "goal", tuple(instances), text, "obligation", places[kind, text])
        for (kind, text), instances in bad.items()
    ]
