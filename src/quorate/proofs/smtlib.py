"""Questions as SMT-LIB 2.6, for other solvers: made from the terms themselves, not by the solver that answered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from quorate.proofs.terms import Term, children, nodes


def script(terms: Sequence[Term], comment: str = "") -> str:
    """A file that asks whether all of these can be true; the answer that proves something is `unsat`."""
    lines = [f"; {line}" for line in comment.splitlines()]
    lines.append("(set-logic UFLIA)")
    constants: dict[str, str] = {}
    functions: dict[str, str] = {}
    bound: set[Term] = set()
    for each in nodes(*terms):
        if each.op in ("forall", "exists"):
            bound.update(each.args[0])
    for each in nodes(*terms):
        if each.op == "var" and (each not in bound or each in _free(terms, each)):
            constants[each.args[0]] = sorted_(each.sort)
        elif each.op == "app":
            signature = " ".join(sorted_(argument.sort) for argument in each.args[1])
            functions[each.args[0]] = f"({signature}) {sorted_(each.sort)}"
    sorts = {each.sort for each in nodes(*terms)} | {each.sort for each in bound}
    lines += [f"(declare-sort {sorted_(name)} 0)" for name in sorted(sorts - {"Int", "Bool"})]
    lines += [f"(declare-const {quoted(name)} {sort})" for name, sort in sorted(constants.items())]
    lines += [f"(declare-fun {quoted(name)} {signature})" for name, signature in sorted(functions.items())]
    lines += [f"(assert {written(each)})" for each in terms]
    lines.append("(check-sat)")
    return "\n".join(lines) + "\n"


def _free(terms: Iterable[Term], wanted: Term) -> set[Term]:
    """The variable, if it occurs outside of the quantifiers that bind it."""
    todo = list(terms)
    seen: set[Term] = set()
    while todo:
        term = todo.pop()
        if term in seen:
            continue
        seen.add(term)
        if term is wanted:
            return {wanted}
        if term.op in ("forall", "exists") and wanted in term.args[0]:
            continue
        todo.extend(children(term))
    return set()


def quoted(name: str) -> str:
    """As SMT-LIB writes any name. Those that begin with @ are reserved there."""
    name = f"step.{name[1:]}" if name.startswith("@") else name
    return "|" + name.replace("|", "!").replace("\\", "!") + "|"


def sorted_(name: str) -> str:
    """A sort, as SMT-LIB writes it."""
    return name if name in ("Int", "Bool") else quoted(name)


def written(term: Term) -> str:
    """A term, written out; shared parts are repeated."""
    op, args = term.op, term.args
    if op == "bool":
        return "true" if args[0] else "false"
    if op == "var":
        return quoted(args[0])
    if op == "lin":
        parts = [written(atom) if factor == 1 else f"(* {_int(factor)} {written(atom)})" for atom, factor in args[1]]
        if args[0] or not parts:
            parts.append(_int(args[0]))
        return parts[0] if len(parts) == 1 else f"(+ {' '.join(parts)})"
    if op == "app":
        inside = " ".join(map(written, args[1]))
        return f"({quoted(args[0])} {inside})" if args[1] else quoted(args[0])
    if op in ("div", "mod"):
        return f"({op} {written(args[0])} {args[1]})"
    if op == "ge0":
        return f"(>= {written(args[0])} 0)"
    if op == "eq0":
        return f"(= {written(args[0])} 0)"
    if op == "same":
        return f"(= {' '.join(map(written, args))})"
    if op in ("not", "and", "or", "ite"):
        return f"({op} {' '.join(map(written, args))})"
    variables = " ".join(f"({quoted(each.args[0])} {sorted_(each.sort)})" for each in args[0])
    body = written(args[1])
    patterns = "".join(f" :pattern ({' '.join(map(written, each))})" for each in args[2])
    return f"({op} ({variables}) {f'(! {body}{patterns})' if patterns else body})"


def _int(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"
