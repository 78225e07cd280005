"""The solver: terms go in, "unsat", "sat" or "unknown" comes out. Only "unsat" is ever taken for a proof.

z3 is an extra (`quorate[prove]`), imported here and nowhere else.
"""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from quorate.base.errors import QuorateError, Signal
from quorate.base.interruptible import Interruptible
from quorate.proofs.terms import Term

Answer = Literal["unsat", "sat", "unknown"]


def require() -> Any:
    """The solver's module, or an error that says what to install."""
    try:
        import z3
    except ImportError:
        raise QuorateError(
            "`quorate prove` needs the solver z3, which is not installed",
            hint="pip install 'quorate[prove]', or: pip install z3-solver",
            code="Q751",
        ) from None
    return z3


GRACE = 1.0
"""Seconds after which code of the model is stopped that does not come to a decision."""


class Stopped(Signal):
    """The time is up, or Ctrl-C came: what is known so far is the answer."""


class Deadline(Interruptible):
    """When to stop: after so many seconds, or at Ctrl-C. Every query gets what is left, and no more than its own limit.

    As a context it takes Ctrl-C, and code of the model that runs meanwhile is stopped.
    """

    def __init__(self, seconds: float | None, within: Deadline | None = None) -> None:
        super().__init__()
        self.ends = None if seconds is None else time.monotonic() + seconds
        self._within = within
        self._over_since = 0.0
        self.answering = False
        """From then on nothing is stopped any more: the little that is still to be run belongs to the answer."""
        self._began, self._used = time.monotonic(), time.process_time()

    @property
    def interrupted(self) -> bool:
        return self._interrupted or (self._within is not None and self._within.interrupted)

    def interrupt(self) -> None:
        """Somebody else has taken Ctrl-C, and it was meant for all of this."""
        self._interrupted = True

    @property
    def left(self) -> float:
        if self.interrupted:
            return 0.0
        own = float("inf") if self.ends is None else max(0.0, self.ends - time.monotonic())
        return own if self._within is None else min(own, self._within.left)

    @property
    def seconds_left(self) -> float | None:
        return None if self.left == float("inf") else self.left

    @property
    def slowness(self) -> float:
        """How many seconds a second of the processor's time takes here."""
        return min(10.0, max(1.0, (time.monotonic() - self._began + 0.1) / (time.process_time() - self._used + 0.1)))

    @property
    def passed(self) -> bool:
        return self.left <= 0

    def check(self) -> None:
        """Stop here, if it is time."""
        if self.passed:
            raise Stopped

    def _is_over(self) -> bool:
        """Where the model's code asks anything of unknown integers, it is stopped there; only else from outside."""
        if not self.passed or self.answering:
            return False
        self._over_since = self._over_since or time.monotonic()
        return time.monotonic() > self._over_since + GRACE


class Translation:
    """Terms as z3 has them, each translated once."""

    def __init__(self) -> None:
        self.z3 = require()
        self._known: dict[Term, Any] = {}
        self._functions: dict[tuple[str, int], Any] = {}
        self._sorts = {"Int": self.z3.IntSort(), "Bool": self.z3.BoolSort()}

    def __call__(self, term: Term) -> Any:
        found = self._known.get(term)
        if found is None:
            found = self._known[term] = self._made(term)
        return found

    def function(self, term: Term) -> Any:
        key = term.args[0], len(term.args[1])
        found = self._functions.get(key)
        if found is None:
            sorts = [self.sort(each.sort) for each in term.args[1]]
            if sorts:
                found = self.z3.Function(term.args[0], *sorts, self.sort(term.sort))
            else:
                found = self.z3.Const(term.args[0], self.sort(term.sort))
            self._functions[key] = found
        return found

    def sort(self, name: str) -> Any:
        found = self._sorts.get(name)
        if found is None:
            found = self._sorts[name] = self.z3.DeclareSort(name)
        return found

    def _made(self, term: Term) -> Any:
        z3, op, args = self.z3, term.op, term.args
        if op == "bool":
            return z3.BoolVal(args[0])
        if op == "var":
            return z3.Const(args[0], self.sort(term.sort))
        if op == "lin":
            parts = [self(atom) if factor == 1 else factor * self(atom) for atom, factor in args[1]]
            if not parts:
                return z3.IntVal(args[0])
            if args[0]:
                parts.append(z3.IntVal(args[0]))
            return parts[0] if len(parts) == 1 else z3.Sum(parts)
        if op == "app":
            function = self.function(term)
            return function(*[self(each) for each in args[1]]) if args[1] else function
        if op == "ite":
            return z3.If(self(args[0]), self(args[1]), self(args[2]))
        if op == "div":
            return self(args[0]) / args[1]
        if op == "mod":
            return self(args[0]) % args[1]
        if op in ("ge0", "eq0"):
            return self._compared(op, args[0])
        if op == "same":
            return self(args[0]) == self(args[1])
        if op == "not":
            return z3.Not(self(args[0]))
        if op == "and":
            return z3.And([self(each) for each in args])
        if op == "or":
            return z3.Or([self(each) for each in args])
        bound = [self(each) for each in args[0]]
        if op == "exists":
            return z3.Exists(bound, self(args[1]))
        patterns = []
        for pattern in args[2]:
            parts = [self(each) for each in pattern]
            patterns.append(parts[0] if len(parts) == 1 else z3.MultiPattern(*parts))
        return z3.ForAll(bound, self(args[1]), patterns=patterns)

    def _compared(self, op: str, difference: Term) -> Any:
        """a + b - c >= 0 as a + b >= c: the shape that solvers index and people read."""
        z3 = self.z3
        constant, parts = difference.args if difference.op == "lin" else (0, ((difference, 1),))
        left = [self(atom) if factor == 1 else factor * self(atom) for atom, factor in parts if factor > 0]
        right = [self(atom) if factor == -1 else -factor * self(atom) for atom, factor in parts if factor < 0]
        if constant > 0:
            left.append(z3.IntVal(constant))
        elif constant < 0:
            right.append(z3.IntVal(-constant))
        one = z3.Sum(left) if len(left) > 1 else left[0] if left else z3.IntVal(0)
        two = z3.Sum(right) if len(right) > 1 else right[0] if right else z3.IntVal(0)
        return one == two if op == "eq0" else one >= two


class Model:
    """Values that a solver gives to variables and channels."""

    def __init__(self, translate: Translation, model: Any) -> None:
        self._translate = translate
        self._model = model

    def value(self, term: Term) -> Any:
        found = self._model.eval(self._translate(term), model_completion=True)
        if term.sort == "Bool":
            return bool(self._translate.z3.is_true(found))
        # A term with a quantifier-free value is a numeral; anything else is not known, and nothing may be built on it.
        return found.as_long() if hasattr(found, "as_long") else 0

    def true(self, term: Term) -> bool:
        return bool(self.value(term))


class Query:
    """Hypotheses that stay, and questions that come and go."""

    def __init__(self, translate: Translation, *, quantified: bool = False) -> None:
        self.translate = translate
        z3 = translate.z3
        self.solver = z3.SimpleSolver() if not quantified else z3.Solver()
        if quantified:
            # Instances only where a pattern occurs. The other way finds models of its own making, and no end.
            self.solver.set("smt.mbqi", False, "smt.auto_config", False)
        self.answers = 0
        self.seconds = 0.0

    def add(self, *terms: Term) -> None:
        for term in terms:
            self.solver.add(self.translate(term))

    def ask(self, terms: Iterable[Term] = (), *, seconds: float = 10.0) -> Answer:
        """Whether the hypotheses and these can be true together. The model, if there is one, is `model()`."""
        began = time.perf_counter()
        self.solver.push()
        try:
            for term in terms:
                self.solver.add(self.translate(term))
            answer = self._check(seconds)
            self._model = None
            if answer != "unsat":
                try:
                    self._model = Model(self.translate, self.solver.model())
                except self.translate.z3.Z3Exception:
                    self._model = None
            return answer  # type: ignore[return-value]
        finally:
            self.solver.pop()
            self.answers += 1
            self.seconds += time.perf_counter() - began

    def _check(self, seconds: float, *assumed: Any) -> str:
        """The answer. The solver takes Ctrl-C for itself while it works: pass it on to whom it was meant for.

        It says "canceled" of its time as well, of which it is given whole milliseconds.
        """
        given = max(1, min(math.ceil(seconds * 1000), 2**31))
        self.solver.set("timeout", given)
        began = time.perf_counter()
        answer = str(self.solver.check(*assumed))
        early = time.perf_counter() < began + 0.9 * given / 1000
        reason = self.solver.reason_unknown() if answer == "unknown" else ""
        if "keyboard" in reason or (reason == "canceled" and early):
            signal.raise_signal(signal.SIGINT)
        return answer

    def core(self, terms: Iterable[Term], switches: Sequence[Term], *, seconds: float = 10.0) -> set[Term] | None:
        """The switches that are needed for "unsat"; None if that is not the answer."""
        began = time.perf_counter()
        by_name = {str(self.translate(each)): each for each in switches}
        self.solver.push()
        try:
            self.solver.set("core.minimize", True)
            for term in terms:
                self.solver.add(self.translate(term))
            answer = self._check(seconds, *map(self.translate, switches))
            if answer != "unsat":
                return None
            return {by_name[str(each)] for each in self.solver.unsat_core()}
        finally:
            self.solver.pop()
            self.answers += 1
            self.seconds += time.perf_counter() - began

    def model(self) -> Model | None:
        return self._model


def assigned(model: Model, terms: Iterable[Term]) -> Mapping[Term, Any]:
    return {term: model.value(term) for term in terms}
