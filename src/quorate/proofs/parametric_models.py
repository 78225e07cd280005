"""States of any number of processes as functions with tables: of instances, and of models that a solver finds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from quorate.proofs.solver import Translation
from quorate.proofs.terms import Term

Key = frozenset[Any]


@dataclass
class Structure:
    """A plain state as functions: what each variable is, what each function maps to what it does not map to nothing."""

    values: dict[str, Any]
    functions: dict[str, dict[tuple[Any, ...], Any]]
    domains: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    elsewhere: Mapping[str, Any] = field(default_factory=dict)
    """Of functions that a solver made: the value where the table has none."""

    @property
    def key(self) -> Key:
        """The state alone, without what was ever sent and who is in which quorum."""
        found: set[Any] = set(self.values.items())
        for name, held in self.functions.items():
            if not name.startswith(("sent:", "in:", "is:", "@")):
                found |= {(name, at, value) for at, value in held.items() if value not in (0, False)}
        return frozenset(found)


class Evaluation:
    """What a term is in a structure."""

    def __init__(self, structure: Structure) -> None:
        self.at = structure

    def __call__(self, term: Term, env: Mapping[Term, Any]) -> Any:
        op, args = term.op, term.args
        if op == "bool":
            return args[0]
        if op == "var":
            if term in env:
                return env[term]
            return self.at.values[args[0]] if args[0] in self.at.values else nothing(term.sort)
        if op == "lin":
            return args[0] + sum(factor * self(atom, env) for atom, factor in args[1])
        if op == "app":
            key = tuple(self(each, env) for each in args[1])
            found = self.at.functions.get(args[0], {})
            return found[key] if key in found else self.at.elsewhere.get(args[0], nothing(term.sort))
        if op == "ite":
            return self(args[1] if self(args[0], env) else args[2], env)
        if op == "div":
            return self(args[0], env) // args[1]
        if op == "mod":
            return self(args[0], env) % args[1]
        if op == "ge0":
            return self(args[0], env) >= 0
        if op == "eq0":
            return self(args[0], env) == 0
        if op == "same":
            return self(args[0], env) == self(args[1], env)
        if op == "not":
            return not self(args[0], env)
        if op == "and":
            return all(self(each, env) for each in args)
        if op == "or":
            return any(self(each, env) for each in args)
        wanted = op == "exists"
        return wanted == any(bool(self(args[1], inner)) == wanted for inner in self._ranges(term, env))

    def _ranges(self, term: Term, env: Mapping[Term, Any]) -> Iterator[dict[Term, Any]]:
        """Values of what is bound: of messages, those that are there; of processes and quorums, all."""
        bound, body, _ = term.args
        literals = body.args if body.op == ("and" if term.op == "exists" else "or") else (body,)
        guards = []
        for each in literals:
            atom = each if term.op == "exists" else each.args[0] if each.op == "not" else None
            if atom is not None and atom.op == "app" and atom.args[0].startswith(("pending:", "sent:", "in:")):
                guards.append(atom)

        def extend(left: list[Term], known: dict[Term, Any]) -> Iterator[dict[Term, Any]]:
            if not left:
                yield known
                return
            for guard in guards:
                inside = [each for each in guard.args[1] if each in left]
                if inside and all(each.op == "var" for each in inside):
                    for held, there in self.at.functions.get(guard.args[0], {}).items():
                        if not there:
                            continue
                        new = dict(known)
                        if all(
                            (new.setdefault(each, value) == value) if each in left else self(each, new) == value
                            for each, value in zip(guard.args[1], held, strict=True)
                        ):
                            yield from extend([each for each in left if each not in inside], new)
                    return
            first, *rest = left
            domain = (False, True) if first.sort == "Bool" else self.at.domains.get(first.sort, (None,))
            for value in domain:
                yield from extend(rest, {**known, first: value})

        yield from extend(list(bound), dict(env))


def nothing(sort: str) -> Any:
    return 0 if sort == "Int" else False if sort == "Bool" else None


def found_by(translate: Translation, model: Any) -> Structure:
    """What a solver says a state is. It need not be one: nothing is concluded from it, it only says where to look."""
    z3 = translate.z3

    def plain(value: Any) -> Any:
        if z3.is_int_value(value):
            return value.as_long()
        if z3.is_true(value) or z3.is_false(value):
            return bool(z3.is_true(value))
        return str(value)

    made = Structure({}, {})
    elsewhere: dict[str, Any] = {}
    for each in model.decls():
        if each.arity() == 0:
            made.values[each.name()] = plain(model[each])
            continue
        table = model[each]
        entries = {}
        for at in range(table.num_entries()):
            entry = table.entry(at)
            key = tuple(plain(entry.arg_value(n)) for n in range(entry.num_args()))
            entries[key] = plain(entry.value())
        made.functions[each.name()] = entries
        rest = table.else_value()
        if rest is not None and (z3.is_int_value(rest) or z3.is_true(rest) or z3.is_false(rest)):
            elsewhere[each.name()] = plain(rest)
    made.domains = {sort.name(): [str(e) for e in model.get_universe(sort) or ()] or [None] for sort in model.sorts()}
    made.elsewhere = elsewhere
    return made
