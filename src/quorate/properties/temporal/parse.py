"""From text to a formula, with an error that points at the column where the text stops making sense.

Operators bind as in Spot, from loose to tight: `-> <->`, `|`, `&`, `U R W`, `! G F A E`. Where tools disagree about a
text without parentheses, parentheses are asked for instead of one reading being taken: a formula that is read otherwise
than it was meant gives a wrong verdict that nobody notices. These are `p U q U r` (from the right in Spot, from the
left in Spin), `p -> q <-> r`, and `A p U q` (is the quantifier about `p`, or about all of it?).
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Collection
from difflib import get_close_matches
from typing import NamedTuple

from quorate.base.errors import LimitError, did_you_mean
from quorate.properties.temporal.errors import FormulaError
from quorate.properties.temporal.formula import (
    BINARY_TEMPORAL,
    BINDS,
    FALSE,
    QUANTIFIERS,
    TRUE,
    Formula,
    Op,
    conjunction,
    disjunction,
    has_quantifier,
    is_temporal,
    name,
    negation,
)

DEEPEST = 100  # levels of parentheses and prefix operators: what is deeper was not written by a person

_TOKENS = re.compile(
    r"\s+|\[\s*\]|<->|<=>|<>|->|=>|==|&&|\|\||/\\|\\/|[&|!()\[\]]|\d+|[^\W\d]\w*(?:\.[^\W\d]\w*)*|.", re.DOTALL
)
_SPELLINGS = {"[]": "G", "<>": "F", "&&": "&", "||": "|"}
_BINARY = {op.value: op for op in (Op.IMPLIES, Op.IFF, Op.OR, Op.AND, Op.U, Op.R, Op.W)}
_PREFIX = {op.value: op for op in (Op.NOT, Op.G, Op.F, Op.A, Op.E)}
_LETTERS = frozenset("GFAE")  # a word of these alone is operators, one after the other: GF, AG, EF
ORDERS = frozenset({"precedes", "concurrent"})  # of two operations
RESERVED = frozenset({*"GFURWXAE", "true", "false", "next"})

# What other tools and languages write.
_ELSEWHERE = {
    "=>": "->",
    "<=>": "<->",
    "==": "<->",
    "=": "<->",
    "~": "!",
    "/\\": "&",
    "\\/": "|",
    "*": "&",
    "+": "|",
    "^": "!(p <-> q)",
    "1": "true",
    "0": "false",
    "True": "true",
    "False": "false",
    "not": "!",
    "and": "&",
    "or": "|",
    "xor": "!(p <-> q)",
    "implies": "->",
    "equivalent": "<->",
    "iff": "<->",
    "always": "G",
    "globally": "G",
    "eventually": "F",
    "finally": "F",
    "until": "U",
    "weakuntil": "W",
    "release": "R",
    "V": "R",
    "M": "q U (p & q)",
    "forall": "A",
    "exists": "E",
}  # fmt: skip
_NO_NEXT = "X (next) is not supported: no property may count steps"
_NEXT_HINT = (
    "how many steps something takes depends on how the model is cut into steps, and on the reductions; "
    "say what happens before what with U, W or F"
)


class _Token(NamedTuple):
    text: str
    column: int


def parse(text: str, known: Collection[str] | None = None) -> Formula:
    """Read a formula of CTL*; names must be among the known ones, if these are given."""
    return _Parser(text, known).whole()


def parse_ltl(text: str, known: Collection[str] | None = None) -> Formula:
    """Read a formula of LTL: about one run, so without path quantifiers."""
    parser = _Parser(text, known)
    formula = parser.whole()
    if has_quantifier(formula):
        raise FormulaError(
            f"{parser.quantifier.text} belongs to CTL and CTL*; an LTL formula is about every run already",
            text=text,
            column=parser.quantifier.column,
            operator=parser.quantifier.text,
            hint='leave it out, or declare the property with ctl("...")',
            code="Q407",
        )
    return formula


def parse_ctl(text: str, known: Collection[str] | None = None) -> Formula:
    """Read a formula of CTL or CTL*: about states, so every temporal operator is within an A or E."""
    parser = _Parser(text, known)
    formula = parser.whole()
    if is_temporal(formula):
        raise FormulaError(
            f"{parser.temporal.text} is about a run, and no A or E says about which runs",
            text=text,
            column=parser.temporal.column,
            operator=parser.temporal.text,
            expected="A or E",
            hint=f"A({text.strip()}) for every run, E({text.strip()}) for some run",
            code="Q407",
        )
    return formula


def _precedes(first: str, second: str) -> Formula:
    implied = Formula(Op.IMPLIES, (name(f"{second}.began"), name(f"{first}.ended")))
    return Formula(Op.G, (implied,))


class _Parser:
    def __init__(self, text: str, known: Collection[str] | None) -> None:
        self.text = text
        self.known = known
        self.tokens: list[_Token] = []
        for match in _TOKENS.finditer(text):
            self._add(match[0], match.start() + 1)
        self.end = _Token("", len(text) + 1)
        self.place = 0
        self.depth = 0
        self.bare: _Token | None = None  # a quantifier of the operand read last, unless parentheses enclose it
        self.quantifier = self.end  # the first one
        self.temporal = self.end  # the first temporal operator without a quantifier round it
        self.quantified = 0

    def _add(self, found: str, column: int) -> None:
        if found.isspace():
            return
        if found[0] == "[" and found[-1] == "]":
            found = "[]"
        if len(found) > 1 and set(found) <= _LETTERS | {"X"} and found not in (self.known or ()):
            for offset, letter in enumerate(found):
                self.tokens.append(_Token(letter, column + offset))
            return
        self.tokens.append(_Token(_SPELLINGS.get(found, found), column))

    @property
    def here(self) -> _Token:
        return self.tokens[self.place] if self.place < len(self.tokens) else self.end

    # --- grammar -----------------------------------------------------------------------------------------------

    def whole(self) -> Formula:
        if not self.tokens:
            raise self._error("there is no formula", self.end, expected="a formula")
        formula = self._binary(1)
        if self.here is not self.end:
            raise self._unexpected()
        return formula

    def _binary(self, loosest: int) -> Formula:
        """Operands joined by operators that bind at least so tightly."""
        left = self._operand()
        while (op := _BINARY.get(self.here.text)) is not None and BINDS[op] >= loosest:
            if op in BINARY_TEMPORAL:
                left = self._until(op, left)
            elif op in (Op.IMPLIES, Op.IFF):
                left = self._implication(op, left)
            else:
                parts = [left]
                while self.here.text == op.value:
                    self._advance(op)
                    parts.append(self._binary(BINDS[op] + 1))
                left = conjunction(parts) if op is Op.AND else disjunction(parts)
            self.bare = None
        return left

    def _until(self, op: Op, left: Formula) -> Formula:
        token = self.here
        if self.bare is not None:
            letter = self.bare.text
            raise self._error(
                f"{letter} before {op.value} without parentheses can be meant in two ways",
                token,
                operator=op.value,
                expected="parentheses",
                hint=f"{letter}(p {op.value} q) if {letter} is about all of it, ({letter} p) {op.value} q if not",
            )
        self._note_temporal(token)
        self._advance(op)
        formula = Formula(op, (left, self._binary(BINDS[op] + 1)))
        after = _BINARY.get(self.here.text)
        if after in BINARY_TEMPORAL:
            assert after is not None
            raise self._error(
                f"{op.value} and {after.value} follow each other without parentheses",
                self.here,
                operator=after.value,
                expected="parentheses",
                hint=f"tools differ here: write (p {op.value} q) {after.value} r or p {op.value} (q {after.value} r)",
            )
        return formula

    def _implication(self, op: Op, left: Formula) -> Formula:
        parts = [left]
        while (following := _BINARY.get(self.here.text)) in (Op.IMPLIES, Op.IFF):
            if following is not op:
                raise self._error(
                    "-> and <-> follow each other without parentheses",
                    self.here,
                    operator=self.here.text,
                    expected="parentheses",
                    hint="tools differ here: say which of them belongs together",
                )
            self._advance(op)
            parts.append(self._binary(BINDS[op] + 1))
        formula = parts.pop()
        while parts:
            formula = Formula(op, (parts.pop(), formula))
        return formula

    def _advance(self, op: Op) -> None:
        """Go beyond a binary operator; there must be something to its right."""
        token = self.here
        self.place += 1
        if self.here is self.end or self.here.text in (")", "]"):
            raise self._error(
                f"{op.value} has nothing to its right",
                self.here if self.here is not self.end else token,
                operator=op.value,
                expected="a formula",
            )

    def _operand(self) -> Formula:
        self.bare = None
        token = self.here
        op = _PREFIX.get(token.text)
        if op is not None:
            return self._prefixed(op)
        if token.text in ("(", "["):
            formula = self._enclosed(")")
            self.bare = None
            return formula
        return self._atom()

    def _prefixed(self, op: Op) -> Formula:
        token = self.here
        if op in QUANTIFIERS and self.quantifier is self.end:
            self.quantifier = token
        if op in (Op.G, Op.F):
            self._note_temporal(token)
        self.place += 1
        if self.here is self.end or self.here.text in (")", "]"):
            raise self._error(f"{op.value} has nothing to its right", token, operator=op.value, expected="a formula")
        self._deeper(1)
        self.quantified += op in QUANTIFIERS
        if op in QUANTIFIERS and self.here.text == "[":
            inner = self._enclosed("]")  # A[p U q], as books on CTL write it
        else:
            inner = self._operand()
        self.quantified -= op in QUANTIFIERS
        self._deeper(-1)
        if op in QUANTIFIERS:
            self.bare = token
        return Formula(op, (inner,))

    def _enclosed(self, closing: str) -> Formula:
        opening = self.here
        if opening.text == "[" and closing != "]":
            raise self._error(
                "[ is for A[...] and E[...] only", opening, expected="a formula", hint="use parentheses; [] is G"
            )
        self.place += 1
        self._deeper(1)
        if self.here.text in (")", "]"):
            raise self._error(f"nothing stands between {opening.text} and {self.here.text}", self.here,
                              expected="a formula")  # fmt: skip
        formula = self._binary(1)
        self._deeper(-1)
        if self.here is self.end:
            raise self._error(f"the {opening.text} at column {opening.column} is never closed", self.end,
                              expected=f"an operator or {closing}")  # fmt: skip
        if self.here.text != closing:
            raise self._unexpected(f"an operator or {closing}")
        self.place += 1
        return formula

    def _atom(self) -> Formula:
        token = self.here
        word = token.text
        if token is self.end:
            raise self._error("the formula ends too early", token, expected="a formula")
        if word in ("X", "next"):
            raise self._error(_NO_NEXT, token, operator="X", hint=_NEXT_HINT, code="Q406")
        if word in _BINARY:
            raise self._error(f"{word} has nothing to its left", token, operator=word, expected="a formula")
        if word in ("true", "false"):
            self.place += 1
            return TRUE if word == "true" else FALSE
        word = unicodedata.normalize("NFKC", word)  # as Python does with identifiers
        if word in ORDERS and (self.known is None or word not in self.known):
            return self._order(word)
        if not all(part.isidentifier() and not keyword.iskeyword(part) for part in word.split(".")):
            raise self._foreign(token)
        if self.known is not None and word not in self.known:
            raise self._unknown(token)
        self.place += 1
        return name(word)

    def _order(self, word: str) -> Formula:
        """`precedes(w, r)`: r begins only once w has ended. `concurrent(w, r)`: neither precedes the other."""
        token = self.here
        self._note_temporal(token)
        self.place += 1
        texts = [self.tokens[at].text if at < len(self.tokens) else "" for at in range(self.place, self.place + 5)]
        if (texts[0], texts[2], texts[4]) != ("(", ",", ")") or not (
            texts[1].isidentifier() and texts[3].isidentifier()
        ):
            raise self._error(f"{word} is of two operations", token, operator=word, expected=f"{word}(w, r)")
        for place, event in ((1, "began"), (1, "ended"), (3, "began"), (3, "ended")):
            one = self.tokens[self.place + place]
            if self.known is not None and f"{one.text}.{event}" not in self.known:
                raise self._error(
                    f"{one.text} is no operation of the system", one, hint=f"{one.text} = operation(Read, by=Reader)",
                    code="Q405",
                )  # fmt: skip
        self.place += 5
        first, second = _precedes(texts[1], texts[3]), _precedes(texts[3], texts[1])
        return first if word == "precedes" else conjunction([negation(first), negation(second)])

    # --- what goes wrong ---------------------------------------------------------------------------------------

    def _deeper(self, levels: int) -> None:
        self.depth += levels
        if self.depth > DEEPEST:
            raise LimitError(f"the formula is nested more than {DEEPEST} levels deep", code="Q505")

    def _note_temporal(self, token: _Token) -> None:
        if self.quantified == 0 and self.temporal is self.end:
            self.temporal = token

    def _unexpected(self, expected: str = "an operator or the end") -> FormulaError:
        """Something stands behind a whole formula."""
        token = self.here
        if token.text == ")":
            return self._error("this ) closes nothing", token, expected=expected)
        if token.text in ("X", "next"):
            return self._error(_NO_NEXT, token, operator="X", hint=_NEXT_HINT, code="Q406")
        if token.text in _ELSEWHERE and not (self.known and token.text in self.known):
            return self._foreign(token)
        before = self.tokens[self.place - 1].text
        hint = ""
        if len(before) == 1 and before.isupper():
            hint = f"{before} is a name here, as the operators are G F U R W A E"
        return self._error(f"{token.text} cannot follow {before}", token, expected=expected, hint=hint)

    def _foreign(self, token: _Token) -> FormulaError:
        instead = _ELSEWHERE.get(token.text, "")
        if keyword.iskeyword(token.text) and not instead:
            return self._error(f"{token.text} is a word of Python and cannot be a predicate", token,
                               expected="a formula")  # fmt: skip
        hint = f"write {instead}" if instead else "operators are ! & | -> <-> G F U R W, and predicates are names"
        return self._error(f"{token.text} has no meaning in a formula", token, operator=token.text,
                           expected=instead or "a formula", hint=hint)  # fmt: skip

    def _unknown(self, token: _Token) -> FormulaError:
        assert self.known is not None
        hint = did_you_mean(token.text, self.known)
        if token.text in _ELSEWHERE and not get_close_matches(token.text, self.known):
            hint = f"if you mean the operator, write {_ELSEWHERE[token.text]}"
        return self._error(
            f"no predicate is called {token.text}", token, expected="a predicate", hint=hint, code="Q405"
        )

    def _error(
        self,
        problem: str,
        token: _Token,
        *,
        operator: str = "",
        expected: str = "",
        hint: str = "",
        code: str | None = None,
    ) -> FormulaError:
        if expected and code is None:
            problem = f"{problem}; expected {expected}"
        return FormulaError(
            problem,
            text=self.text,
            column=token.column,
            operator=operator,
            expected=expected,
            hint=hint,
            code=code,
        )
