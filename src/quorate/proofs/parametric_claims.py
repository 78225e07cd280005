"""Invariants and lemmas of a family as formulas: for all processes of a role, however many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from itertools import product
from typing import Any

from quorate.base.errors import Location, ModelError, PropertyError, caller, did_you_mean
from quorate.base.places import location_of
from quorate.language.lemmas import Parameter, is_lemma, lemma_functions, parameters_of
from quorate.language.monitor import Monitor
from quorate.language.pid import Pid
from quorate.model.definition import Column
from quorate.proofs.actions import code_of
from quorate.proofs.leaves import SLOTS
from quorate.proofs.machine import ChangedError
from quorate.proofs.parametric_actions import FamilyEncoder, Move
from quorate.proofs.parametric_code import Rewriting
from quorate.proofs.parametric_family import Family
from quorate.proofs.parametric_loops import now
from quorate.proofs.parametric_machine import FamilyMachine, Line, NodeFrame
from quorate.proofs.parametric_values import Generic, Members, Node
from quorate.proofs.paths import Explorer, Path
from quorate.proofs.propositions import (
    Claim,
    Instance,
    _bool,
    _class,
    _disjunction,
    is_data,
    raise_errors,
    reads_messages,
)
from quorate.proofs.proxies import SymBool, lifted, plain_class, taking, truth
from quorate.proofs.refusal import running
from quorate.proofs.solver import Deadline, Translation
from quorate.proofs.terms import (
    TRUE,
    Term,
    app,
    conjunction,
    disjunction,
    exists,
    forall,
    implies,
    negation,
    rebuilt,
    var,
)

_fresh = iter(range(1 << 62))


class EncodedFamily:
    """Everything that induction needs of a family."""

    def __init__(
        self, family: Family, *, free: Iterable[str] = (), slots: int = SLOTS, deadline: Deadline | None = None
    ) -> None:
        self.family = family
        self.definition = family.reference
        self.translate = Translation()
        self.explorer = Explorer(self.translate, deadline or Deadline(None))
        assigned: set[tuple[type, str]] = set()
        while True:
            self.machine = FamilyMachine(family, free=free, assigned=assigned, slots=slots)
            self.lifting = Rewriting(code_of(self.machine))
            try:
                with self.lent(witnesses=True):
                    self.moves: list[Move] = FamilyEncoder(self.machine, self.explorer, self.lifting).moves()
                break
            except ChangedError as changed:
                assigned.add(changed.key)

    @contextmanager
    def lent(self, *, witnesses: bool = False) -> Iterator[None]:
        before = now.explorer, now.captures, now.witnesses, now.quorums
        now.used = []
        now.explorer, now.captures, now.witnesses, now.quorums = self.explorer, [], witnesses, self.machine.tallied
        try:
            with self.lifting.lent():
                yield
        finally:
            now.explorer, now.captures, now.witnesses, now.quorums = before

    @property
    def steps(self) -> list[Move]:
        return [move for move in self.moves if move.kind not in ("fail", "overflow")]

    @cached_property
    def typed(self) -> list[Term]:
        """What the encoding itself guarantees of every state: types, and what messages look like."""
        rules = [self.machine.well_formed()]
        for line in self.machine.lines.values():
            sender = [var("s", line.sender_role.name)] if line.sender_role is not None else []
            receiver = [var("r", line.receiver_role.name)] if line.receiver_role is not None else []
            leaves = [var(f":w{suffix}", sort) for suffix, sort in line.shape.leaves]
            pending = app(line.pending, (*sender, *receiver, *leaves))
            ghost = app(line.sent, (*sender, *leaves))
            rules.append(forall([*sender, *leaves], implies(ghost, line.shape.wf(leaves)), [[ghost]]))
            # By construction: what is pending was sent, since nothing else puts it there.
            rules.append(forall([*sender, *receiver, *leaves], implies(pending, ghost), [[pending]]))
        return [each for each in rules if each is not TRUE]

    @property
    def background(self) -> list[Term]:
        return [*self.typed, *self.machine.axioms()]


class FamilyPanel:
    """What `self[...]` is in a property of a family."""

    def __init__(self, encoded: EncodedFamily) -> None:
        self.machine = encoded.machine
        self._views: dict[int, Any] = {}

    def view(self, column: Column, node: Term | None = None) -> Any:
        if node is not None:
            return self.machine.view(column, NodeFrame(self.machine, column, "a property", node))
        found = self._views.get(column.index)
        if found is None:
            frame = NodeFrame(self.machine, column, "a property")
            found = self._views[column.index] = self.machine.view(column, frame)
        return found

    def of(self, cls: Any) -> Any:
        columns = columns_of(self.machine, cls)
        fixed = tuple(self.view(column) for column in columns if self.machine.role(column) is None)
        if issubclass(cls, Monitor):
            return fixed[0]
        generics = []
        size = None
        for column in columns:
            role = self.machine.role(column)
            if role is not None:
                generics.append(Generic(role.name, partial(self.view, column)))
                size = self.machine.family.number(role)
        if not generics:
            return fixed
        return Members(f"self[{cls.__name__}]", generics, fixed, size if len(generics) == 1 and not fixed else None)

    def pending(self, cls: Any, to: Any) -> Any:
        raise reads_messages(cls)

    def sent(self, by: Any, message: Any) -> Any:
        column, node = self._who(by)
        cls = plain_class(message)
        name = self.machine.sent_name(cls, column)
        if not any(each.sent == name for each in self.machine.lines.values()):
            return False
        return truth(app(name, (*node, *self.machine.lower_message(message))))

    def exists(self, cls: Any, where: Any, by: Any) -> Any:
        found: list[Term] = []
        outer = running.path
        assert outer is not None
        assert now.explorer is not None
        only = None if by is None else self._who(by)
        for column, line in senders_of(self.machine, cls):
            if only is not None and only[0] is not column:
                continue
            bound = [var(f":e{next(_fresh)}{suffix}", sort) for suffix, sort in line.shape.leaves]
            extra: list[Term] = []
            node = only[1] if only is not None else ()
            origin: Any = column.pid
            if line.sender_role is not None:
                if only is None:
                    extra = [var(f":e{next(_fresh)}from", line.sender_role.name)]
                    node = tuple(extra)
                origin = Node(line.sender_role, node[0])

            def run(path: Path, origin: Any = origin, bound: list[Term] = bound) -> Any:
                with taking(path):
                    answer = where(self.machine.received(cls, origin, bound))
                    return answer if isinstance(answer, SymBool) else bool(answer)

            assumed = [*outer.assumed, *outer.conditions, line.shape.wf(bound)]
            ways = now.explorer.explore(run, assumed=assumed, what=f"exists({cls.__name__})", place=None)
            ghost = app(line.sent, (*node, *bound))
            raise_errors(ways, [*extra, *bound], conjunction([ghost, line.shape.wf(bound)]))
            found.append(exists([*extra, *bound], conjunction([ghost, line.shape.wf(bound), _disjunction(ways)])))
        return truth(disjunction(found))

    def started(self, by: Any, name: str) -> Any:
        column, _ = self._who(by)
        frame: NodeFrame = by._run
        for each in self.machine.fields[column.index]:
            if each.name == f"started:{name}" and each.index >= column.spec.visible:
                return truth(self.machine.at(each.terms, column, frame.node)[0])
        raise ModelError(f"{column.cls.__name__} has no @start step `{name}`", code="Q108", location=caller())

    def _who(self, by: Any) -> tuple[Column, tuple[Term, ...]]:
        if isinstance(by, Node):
            return self.machine.column_of(by), (by.term,)
        if isinstance(by, Pid):
            return self.machine.column_of(by), ()
        frame: NodeFrame = by._run
        return frame.column, () if frame.node is None else (frame.node,)


def columns_of(machine: FamilyMachine, cls: Any) -> list[Column]:
    return [
        column
        for column in machine.shown
        if issubclass(column.cls, cls) and (cls._byzantine or not column.cls._byzantine)
    ]


def senders_of(machine: FamilyMachine, cls: Any) -> list[tuple[Column, Line]]:
    """Who sends messages of just this class."""
    found: dict[int, tuple[Column, Line]] = {}
    for line in machine.lines.values():
        if line.cls is cls:
            found.setdefault(line.sender.index, (line.sender, line))
    return [found[index] for index in sorted(found)]


def formula_of(
    encoded: EncodedFamily,
    run: Callable[[FamilyPanel, Any], Any],
    what: str,
    place: Location | None,
    assumed: Sequence[Term] = (),
) -> Term:
    """The formula of a predicate over states."""
    whole = [each for each in (encoded.machine.well_formed(), *assumed) if each is not TRUE]

    def once(path: Path) -> Any:
        with taking(path):
            panel = FamilyPanel(encoded)
            answer = run(panel, _system(encoded, panel))
            return answer if isinstance(answer, SymBool) else _bool(answer)

    with encoded.lent():
        ways = encoded.explorer.explore(once, assumed=whole, what=what, place=place)
    return _disjunction(ways)


def _system(encoded: EncodedFamily, panel: FamilyPanel) -> Any:
    system = encoded.family.system
    bound = object.__new__(type(system))
    for cls in reversed(type(system).__mro__):
        if cls.__module__.startswith("quorate.language") or cls is object:
            continue
        bound.__dict__.update({name: lifted(value) for name, value in vars(cls).items() if is_data(name, value)})
    for name, value in system.__dict__.items():
        bound.__dict__[name] = encoded.family.parameter(name, value) if name[0] != "_" else value
    bound.__dict__.update(encoded.definition.settings)
    bound.__dict__["_views"] = panel
    return bound


def _asked(function: Any, _: FamilyPanel, system: Any) -> Any:
    return function(system)


def invariants(encoded: EncodedFamily, names: Sequence[str] | None) -> list[Claim]:
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
        body = formula_of(encoded, partial(_asked, prop.function), prop.name, prop.location)
        found.append(Claim(prop.name, "goal", (Instance((), (), body),), prop.doc, "invariant", prop.location))
    return found


# --- lemmas ------------------------------------------------------------------------------------------------------


def lemmas(encoded: EncodedFamily) -> list[Claim]:
    """The lemmas that the author of a system has written."""
    functions = lemma_functions(type(encoded.family.system))
    return [lemma(encoded, name, function) for name, function in functions.items()]


def lemma(encoded: EncodedFamily, name: str, function: Any, origin: Any = "given", text: str = "") -> Claim:
    """A lemma for all values of its parameters."""
    parameters = parameters_of(function)
    place = location_of(function)
    parts: list[Term] = []
    for binding in product(*(_range(encoded.machine, each) for each in parameters)):
        bound: list[Term] = []
        guards: list[Term] = []
        makers: list[Callable[[FamilyPanel], Any]] = []
        for parameter, found in zip(parameters, binding, strict=True):
            if isinstance(found, Column):
                role = encoded.machine.role(found)
                node = None if role is None else var(f":l.{parameter.name}", role.name)
                bound += [] if node is None else [node]
                makers.append(partial(_process, found, node))
                continue
            line = found
            leaves = [var(f":l.{parameter.name}{suffix}", sort) for suffix, sort in line.shape.leaves]
            sender = [] if line.sender_role is None else [var(f":l.{parameter.name}from", line.sender_role.name)]
            receiver = [] if line.receiver_role is None else [var(f":l.{parameter.name}to", line.receiver_role.name)]
            guards.append(line.shape.wf(leaves))
            if parameter.pending:
                guards.append(app(line.pending, (*sender, *receiver, *leaves)))
            else:
                guards.append(app(line.sent, (*sender, *leaves)))
                receiver = []
            bound += [*sender, *receiver, *leaves]
            makers.append(partial(_message, line, sender, leaves, receiver, parameter.pending))
        body = formula_of(encoded, partial(_claimed, function, makers), name, place, guards)
        parts.append(forall(bound, disjunction([*(negation(each) for each in guards), body])))
    return Claim(
        name,
        _class(parameters),
        tuple(Instance((), (), each) for each in parts if each is not TRUE),
        text or (function.__doc__ or "").strip(),
        origin,
        place,
    )


def _process(column: Column, node: Term | None, panel: FamilyPanel) -> Any:
    return panel.view(column, node)


def _message(
    line: Line, sender: list[Term], leaves: list[Term], receiver: list[Term], pending: bool, panel: FamilyPanel
) -> Any:
    origin: Any = line.sender.pid
    if line.sender_role is not None:
        origin = Node(line.sender_role, sender[0])
    to: Any = None
    if pending:
        to = Node(line.receiver_role, receiver[0]) if line.receiver_role is not None else line.receiver.pid
    return panel.machine.received(line.cls, origin, leaves, to)


def _claimed(function: Any, makers: Sequence[Callable[[FamilyPanel], Any]], panel: FamilyPanel, system: Any) -> Any:
    return function(system, *(make(panel) for make in makers))


def _range(machine: FamilyMachine, parameter: Parameter) -> list[Column | Line]:
    if not parameter.is_message:
        return list(columns_of(machine, parameter.cls))
    if parameter.pending:
        return [line for line in machine.lines.values() if line.cls is parameter.cls]
    return [line for _, line in senders_of(machine, parameter.cls)]


def obligations(encoded: EncodedFamily) -> list[Claim]:
    """What the encoding leaves to be shown: that no handler fails, and that no collection overflows its slots."""
    bad: dict[str, list[Instance]] = {}
    places: dict[str, Location | None] = {}
    for move in encoded.moves:
        if move.kind in ("fail", "overflow"):
            text = f"{move.transition}: {move.text}"
            bad.setdefault(text, []).append(Instance((), (), negation(move.guard)))
            places[text] = move.place
    return [
        Claim(f"never: {text}", "goal", tuple(instances), text, "obligation", places[text])
        for text, instances in bad.items()
    ]


def begins(encoded: EncodedFamily, term: Term, number: int) -> Term:
    """What a formula says of an initial state."""
    known = encoded.machine.starting(number)

    def apply(old: Term, arguments: tuple[Term, ...]) -> Term:
        name = old.args[0]
        if name in known:
            formal, value = known[name]
            return rebuilt(value, dict(zip(formal, arguments, strict=True)))
        if name.startswith(("pending:", "sent:")):
            from quorate.proofs.terms import FALSE

            return FALSE
        return app(name, arguments, old.sort)

    fixed = {var(name, value.sort): value for name, (formal, value) in known.items() if not formal}
    return rebuilt(term, fixed, apply)
