"""Formulas about any number of processes, evaluated in the plain states of instances; and their steps, taken there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, product
from typing import Any

from quorate.language.pid import Pid, column_of
from quorate.model.definition import Column, Definition
from quorate.model.outcome import is_crashed
from quorate.proofs.parametric_actions import Move
from quorate.proofs.parametric_claims import EncodedFamily
from quorate.proofs.parametric_models import Evaluation, Key, Structure
from quorate.proofs.parametric_values import Node, Role
from quorate.proofs.terms import Term, var
from quorate.semantics.state import State, initial_states
from quorate.semantics.steps import steps

_BUDGETS = ("budget.losses", "budget.duplicates", "budget.crashes")


class Instance:
    """One instance of a family: its states as structures."""

    def __init__(self, encoded: EncodedFamily, point: tuple[int, ...]) -> None:
        self.encoded, self.machine, self.family = encoded, encoded.machine, encoded.family
        self.definition: Definition = self.family.definitions[self.family.points.index(point)]
        self.domains: dict[str, list[Any]] = {
            role.name: [c.index for c in self.definition.columns if c.cls is role.cls] for role in self.family.roles
        }
        self.taken: set[str] = set()
        """The steps that were taken."""
        self.members: dict[str, dict[tuple[Any, ...], Any]] = {}
        for quorums in self.machine.quorums.values():
            size = quorums.size[self.family.points.index(point)]
            sets = list(combinations(self.domains[quorums.role.name], size))
            self.domains[quorums.sort] = list(range(len(sets)))
            self.members[f"is:{quorums.sort}"] = {(at,): True for at in range(len(sets))}
            self.members[f"in:{quorums.sort}"] = {(at, each): True for at, who in enumerate(sets) for each in who}

    def _column(self, column: Column) -> Column:
        """The column of the reference instance that stands for one of this."""
        role = self.family.role_of(column)
        if role is not None:
            return next(each for each in self.machine.shown if each.cls is role.cls)
        theirs = [each for each in self.definition.columns if self.family.role_of(each) is None]
        fixed = [each for each in self.machine.shown if self.family.role_of(each) is None]
        return fixed[theirs.index(column)]

    def _value(self, value: Any) -> Any:
        """A value of this instance with the processes of the family in it."""
        if isinstance(value, Pid):
            column = self.definition.columns[column_of(value)]
            role = self.family.role_of(column)
            if role is None:
                return self._column(column).pid
            return Node(role, var(f"#{column.index}", role.name))
        if isinstance(value, tuple):
            parts = [self._value(each) for each in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if isinstance(value, Mapping):
            made: Any = type(value)
            return made({self._value(key): self._value(each) for key, each in value.items()})
        if isinstance(value, frozenset):
            return type(value)(self._value(each) for each in value)
        return value

    @staticmethod
    def _plain(leaf: Term) -> Any:
        if leaf.op == "var":
            return None if leaf.args[0].startswith("nobody:") else int(leaf.args[0][1:])
        return leaf.args[0]

    def _leaves(self, shape: Any, value: Any) -> tuple[Any, ...]:
        return tuple(self._plain(each) for each in shape.lower(self._value(value)))

    def _who(self, column: Column) -> tuple[Any, ...]:
        return (column.index,) if self.family.role_of(column) is not None else ()

    def structure(self, state: State, sent: Mapping[str, Mapping[tuple[Any, ...], Any]] = {}) -> Structure:
        values: dict[str, Any] = {}
        functions: dict[str, dict[tuple[Any, ...], Any]] = {name: dict(held) for name, held in sent.items()}
        functions.update(self.members)

        def note(term: Term, at: tuple[Any, ...], value: Any) -> None:
            if term.op == "app":
                functions.setdefault(term.args[0], {})[at] = value
            else:
                values[term.args[0]] = value

        for column, local in zip(self.definition.columns, state.locals, strict=True):
            stands = self._column(column)
            for each in self.machine.fields[stands.index]:
                if each.shape is not None:
                    leaves = self._leaves(each.shape, local[each.index])
                    for term, leaf in zip(each.terms, leaves, strict=True):
                        note(term, self._who(column), leaf)
            crashed = self.machine.crashed[stands.index]
            if crashed is not None:
                note(crashed, self._who(column), is_crashed(local))
        for budget, _ in self.machine.budgets():
            values[budget.args[0]] = state.budget[_BUDGETS.index(budget.args[0])]
        for receiver, inbox in zip(self.definition.processes, state.pending, strict=True):
            for message in inbox:
                name, key = self.message(message, receiver)
                functions.setdefault(name, {})[key] = True
        return Structure(values, functions, self.domains)

    def message(self, message: Any, receiver: Column, ghost: bool = False) -> tuple[str, tuple[Any, ...]]:
        sender = self.definition.columns[column_of(message.sender)]
        line = self.machine.line(type(message), self._column(sender), self._column(receiver))
        shape = self.machine.message(type(message))
        leaves = tuple(
            leaf
            for name, part in zip(shape.names, shape.parts, strict=True)
            for leaf in self._leaves(part, getattr(message, name))
        )
        if ghost:
            return line.sent, (*self._who(sender), *leaves)
        return line.pending, (*self._who(sender), *self._who(receiver), *leaves)

    # Runs

    def reachable(self, most: int) -> Iterator[tuple[State, Structure]]:
        """Reachable states, breadth first, each with one history of what was sent."""
        todo: list[tuple[State, dict[str, dict[tuple[Any, ...], Any]]]] = [
            (state, {}) for state in initial_states(self.definition)
        ]
        seen: set[Any] = set()
        while todo and most:
            state, history = todo.pop(0)
            if state.key in seen:
                continue
            seen.add(state.key)
            most -= 1
            history = {name: dict(held) for name, held in history.items()}
            for receiver, inbox in zip(self.definition.processes, state.pending, strict=True):
                for message in inbox:
                    name, key = self.message(message, receiver, ghost=True)
                    history.setdefault(name, {})[key] = True
            yield state, self.structure(state, history)
            todo += [(step.next, history) for step in steps(self.definition, state) if step.next is not None]

    def by_semantics(self, state: State) -> set[tuple[str, Key]]:
        found: set[tuple[str, Key]] = set()
        for step in steps(self.definition, state):
            if step.failure is not None:
                found.add(("fail", frozenset()))
            elif step.next is not None:
                found.add((step.kind, self.structure(step.next).key))
        return found

    # Steps

    def by_moves(self, at: Structure) -> set[tuple[str, Key]]:
        found: set[tuple[str, Key]] = set()
        for move in self.encoded.moves:
            for given in self._parameters(move, at):
                inside = Structure({**at.values, **given.values}, {**at.functions, **given.functions}, self.domains)
                run = Evaluation(inside)
                if not run(move.guard, {}):
                    continue
                if move.kind in ("fail", "overflow"):
                    found.add((move.kind, frozenset()))
                    continue
                self.taken.add(move.name)
                found.add((move.kind, self._after(move, at, run).key))
        return found

    def _parameters(self, move: Move, at: Structure) -> Iterator[Structure]:
        """Values of what no state determines."""
        own = [()] if move.node is None else [(each,) for each in self.domains[move.node.sort]]
        for self_ in own:
            values = {"@self": self_[0]} if self_ else {}
            options: list[list[Structure]] = [
                list(self._taken(each, at, self_[0] if self_ else None)) for each in move.taken
            ]
            rest = [each for each in _unknown(move) if each.args[0].startswith(("@w", "@c"))]
            options += [[Structure({each.args[0]: value}, {}) for value in self.domains[each.sort]] for each in rest]
            cuts = [(at_, send) for at_, send in enumerate(move.sends) if f"@sent{at_}" in move.parameters]
            for number_, send in cuts:
                name = f"@sent{number_}"
                if send.to.among is None:
                    options.append([Structure({name: value}, {}) for value in (False, True)])
                else:
                    whom = self.domains[send.to.among[0].sort]
                    options.append(
                        [
                            Structure({}, {name: {(each,): flag for each, flag in zip(whom, flags, strict=True)}})
                            for flags in product((False, True), repeat=len(whom))
                        ]
                    )
            for chosen in product(*options):
                made = Structure(dict(values), {})
                for each in chosen:
                    made.values.update(each.values)
                    made.functions.update(each.functions)
                yield made

    def _taken(self, taking: Any, at: Structure, self_: Any) -> Iterator[Structure]:
        held = at.functions.get(taking.line.pending, {})
        messages = [key for key in held if held[key]]
        senders = 1 if taking.line.sender_role is not None else 0
        receivers = 1 if taking.line.receiver_role is not None else 0
        if receivers:
            messages = [key for key in messages if key[senders] == self_]
        if taking.among is None:
            for key in messages:
                values = {
                    term.args[0]: leaf for term, leaf in zip(taking.leaves, key[senders + receivers :], strict=True)
                }
                if senders:
                    values[taking.sender.args[0]] = key[0]
                yield Structure(values, {})
            return
        by_sender: dict[Any, list[tuple[Any, ...]]] = {}
        for key in messages:
            by_sender.setdefault(key[0], []).append(key[1 + receivers :])
        quorum = next((each for each in _vars(taking.among) if each.args[0] == "@q"), None)
        for which in self.domains[quorum.sort] if quorum is not None else [None]:
            values = {"@q": which} if quorum is not None else {}
            inside = Evaluation(Structure({**at.values, **values, "@self": self_}, at.functions, self.domains))
            role: Role = taking.line.sender_role
            members = [each for each in self.domains[role.name] if inside(taking.among, {taking.sender: each})]
            for chosen in product(*(by_sender.get(each, []) for each in members)):
                made = Structure(dict(values), {})
                fits = True
                for who, leaves in zip(members, chosen, strict=True):
                    for term, leaf in zip(taking.leaves, leaves, strict=True):
                        if term.op == "var":
                            fits &= made.values.setdefault(term.args[0], leaf) == leaf
                        else:
                            made.functions.setdefault(term.args[0], {})[who,] = leaf
                if fits:
                    yield made

    def _after(self, move: Move, at: Structure, run: Evaluation) -> Structure:
        values = dict(at.values)
        functions = {name: dict(held) for name, held in at.functions.items()}
        for term, value in move.updates.items():
            if term.op == "var":
                values[term.args[0]] = run(value, {})
            else:
                functions.setdefault(term.args[0], {})[tuple(run(each, {}) for each in term.args[1])] = run(value, {})
        # What is pending afterwards, by the formula itself: of all that was pending, and of all that might be sent.
        concerned: list[Any] = [*move.taken, *move.sends]
        for name in {each.line.pending for each in concerned}:
            maybe = {key for key, there in at.functions.get(name, {}).items() if there}
            for send in move.sends:
                if send.line.pending == name:
                    leaves = tuple(run(each, {}) for each in send.leaves)
                    sender = () if send.sender is None else (run(send.sender, {}),)
                    whom: Iterable[tuple[Any, ...]] = [()]
                    if send.line.receiver_role is not None:
                        whom = [(each,) for each in self.domains[send.line.receiver_role.name]]
                    maybe |= {(*sender, *each, *leaves) for each in whom}
            line = next(each.line for each in concerned if each.line.pending == name)
            from quorate.proofs.terms import app

            kinds = [role.name for role in (line.sender_role, line.receiver_role) if role is not None]
            kinds += [sort for _, sort in line.shape.leaves]
            formal = [var(f"arg{at_}", sort) for at_, sort in enumerate(kinds)]
            after = move.after(app(name, formal))
            functions[name] = {key: True for key in maybe if run(after, dict(zip(formal, key, strict=True)))}
        return Structure(values, functions, self.domains)


def _vars(*terms: Term) -> set[Term]:
    from quorate.proofs.terms import variables

    return variables(*terms)


def _unknown(move: Move) -> list[Term]:
    from quorate.proofs.terms import variables

    terms = [move.guard, *move.updates.values(), *(leaf for send in move.sends for leaf in send.leaves)]
    terms += [send.to.node for send in move.sends if send.to.node is not None]
    found = {each for each in variables(*terms) if each.args[0].startswith("@")}
    return sorted(found, key=lambda each: each.args[0])
