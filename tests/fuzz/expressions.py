"""Drawing expressions and statements: small ones, of the kind that handlers and guards are made of."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, TypeVar

from .protocol import FALSE, NONE, PASS, TRUE, Field, Node, Record, Type, node

T = TypeVar("T")
MOST = 2
"""The largest number that fields hold."""


class Dice:
    """Random decisions; all that is drawn comes from one of these."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def chance(self, percent: float) -> bool:
        return self.random.random() * 100 < percent

    def one(self, options: Sequence[T]) -> T:
        return self.random.choice(options)

    def weighted(self, options: dict[T, float]) -> T:
        return self.random.choices([*options], [*options.values()])[0]

    def between(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def some(self, options: Sequence[T], most: int) -> list[T]:
        return self.random.sample(options, min(len(options), self.between(0, most)))


class Writer:
    """Draws what a handler of one class may say, from its fields, its constants and the message at hand."""

    def __init__(
        self,
        dice: Dice,
        fields: Sequence[Field],
        constants: Sequence[str] = (),
        message: Sequence[Field] | None = None,
        several: bool = False,
        failing: float = 3.0,
    ) -> None:
        self.dice = dice
        self.fields = fields
        self.constants = constants
        self.message = message if not several else None
        self.several = message if several else None
        self.failing = failing
        """How often, in percent, something may raise."""

    def named(self, *types: Type) -> list[str]:
        return [each.name for each in self.fields if each.type in types]

    def said(self, *types: Type) -> list[str]:
        return [each.name for each in self.message or () if each.type in types]

    # Expressions

    def number(self, depth: int = 1) -> Node:
        d = self.dice
        ways: dict[str, float] = {"int": 4}
        if self.named("int"):
            ways |= {"self": 4}
            if depth:
                ways |= {"plus": 2, "cycle": 1}
        if self.said("int"):
            ways |= {"m": 5}
        if self.constants:
            ways |= {"constant": 2}
        if self.several is not None:
            ways |= {"size": 6}
            if any(each.type == "int" for each in self.several):
                ways |= {"sum": 2, "top": 2}
        if self.named("peers"):
            ways |= {"len": 1}
        if self.named("map"):
            ways |= {"get": 2}
        way = d.weighted(ways)
        if depth and d.chance(self.failing) and self.named("int"):
            return node("divide", self.number(0), node("self", d.one(self.named("int"))))
        if way == "self":
            return node("self", d.one(self.named("int")))
        if way == "m":
            return node("m", d.one(self.said("int")))
        if way == "constant":
            return node("constant", d.one(self.constants))
        if way == "plus":
            return node("plus", node("self", d.one(self.named("int"))), 1, d.between(1, MOST))
        if way == "cycle":
            return node("cycle", node("self", d.one(self.named("int"))), 1, d.between(2, MOST + 1))
        if way == "size":
            return node("size")
        if way in ("sum", "top"):
            assert self.several is not None
            return node(way, d.one([each.name for each in self.several if each.type == "int"]))
        if way == "len":
            return node("len", node("self", d.one(self.named("peers"))))
        if way == "get":
            raising = d.chance(self.failing * 2)
            return node("lookup" if raising else "get", node("self", d.one(self.named("map"))), self.identity())
        return node("int", d.between(0, MOST))

    def identity(self) -> Node:
        d = self.dice
        ways: list[Node] = [node("me")]
        ways += [node("self", name) for name in self.named("pid")]
        if self.message is not None:
            ways += [node("m", "sender")] * 3
            ways += [node("m", name) for name in self.said("pid")]
        if self.named("peers") and d.chance(self.failing):
            return node("first", node("self", d.one(self.named("peers"))))
        return d.one(ways)

    def condition(self, depth: int = 1) -> Node:
        d = self.dice
        ways: dict[str, float] = {"constant": 0.3}
        if self.named("int"):
            ways |= {"eq": 6, "lt": 2, "among": 2}
        if self.named("bool"):
            ways |= {"flag": 4}
        if self.said("int", "bool"):
            ways |= {"said": 6}
        if self.named("maybe"):
            ways |= {"known": 3}
        if self.named("pair"):
            ways |= {"paired": 2}
        if self.named("peers") and (self.message is not None or self.named("pid")):
            ways |= {"in": 2}
        if self.message is not None:
            ways |= {"sender": 0.7}
        if self.said("signed", "sealed", "twice") or self.named("signed", "sealed", "twice"):
            ways |= {"signed": 3}
        if self.several is not None:
            ways |= {"size": 2}
            if any(each.type == "int" for each in self.several):
                ways |= {"some": 3, "every": 1}
        if depth:
            ways |= {"and": 1.5, "or": 1, "not": 0.7}
        way = d.weighted(ways)
        if way in ("and", "or"):
            return node(way, self.condition(0), self.condition(0))
        if way == "not":
            return node("not", self.condition(0))
        if way == "eq":
            return node(d.weighted({"eq": 4, "ne": 1}), node("self", d.one(self.named("int"))), self.number(0))
        if way == "lt":
            return node(d.one(("lt", "le")), node("self", d.one(self.named("int"))), self.number(0))
        if way == "among":
            options = tuple(sorted(d.random.sample(range(MOST + 2), 2)))
            return node("among", node("self", d.one(self.named("int"))), options)
        if way == "flag":
            flag = node("self", d.one(self.named("bool")))
            return node("not", flag) if d.chance(55) else flag
        if way == "said":
            name = d.one(self.said("int", "bool"))
            if name in self.said("bool"):
                return node("m", name)
            return node(d.one(("eq", "lt", "le")), node("m", name), self.number(0))
        if way == "known":
            other = NONE if d.chance(50) else self.identity()
            return node(d.one(("eq", "ne")), node("self", d.one(self.named("maybe"))), other)
        if way == "paired":
            return node(d.one(("eq", "ne")), node("self", d.one(self.named("pair"))), self.pair())
        if way == "in":
            there = node("in", self.identity(), node("self", d.one(self.named("peers"))))
            return node("not", there) if d.chance(40) else there
        if way == "sender":
            return node(d.one(("eq", "ne")), node("m", "sender"), self.identity())
        if way == "signed":
            return self._about_signed()
        if way == "size":
            return node(d.one(("eq", "le")), node("int", d.between(1, 2)), node("size"))
        if way in ("some", "every"):
            assert self.several is not None
            return node(way, d.one([each.name for each in self.several if each.type == "int"]), d.between(0, 1))
        return TRUE if d.chance(80) else FALSE

    def _about_signed(self) -> Node:
        d = self.dice
        kinds: tuple[Type, ...] = ("signed", "sealed", "twice")
        known = [(kind, node("m", name)) for kind in kinds for name in self.said(kind)]
        known += [(kind, node("self", name)) for kind in kinds for name in self.named(kind)]
        kind, there = d.one(known)
        one = there
        if kind == "sealed":
            one = node("item", there, 0)
        elif kind == "twice" and d.chance(70):
            one = node("value", there)
        plain = kind != "twice" or one is not there
        inner = d.one(
            [
                node("eq", node("value", one), node("int", d.between(0, 1))) if plain else TRUE,
                node("eq", node("signer", one), self.identity()),
                node("ne", node("signer", one), self.identity()),
                TRUE,
            ]
        )
        return node("and", node("ne", there, NONE), inner)

    def pair(self) -> Node:
        if self.said("pair") and self.dice.chance(50):
            return node("m", self.dice.one(self.said("pair")))
        return NONE if self.dice.chance(25) else node("pair", self.identity(), self.number(0))

    def group(self) -> Node:
        d = self.dice
        ways = [node("self", name) for name in self.named("peers")]
        if self.said("peers"):
            ways.append(node("m", d.one(self.said("peers"))))
        if self.several is not None:
            ways.append(node("senders"))
        one = d.one(ways) if ways else node("nobody")
        if d.chance(40) and one.op != "senders":
            return node(d.weighted({"with": 3, "less": 1}), one, self.identity())
        return one

    def of_type(self, wanted: Type) -> Node:
        d = self.dice
        if wanted == "int":
            return self.number()
        if wanted == "bool":
            return d.weighted({TRUE: 3, FALSE: 1}) if d.chance(70) else self.condition(0)
        if wanted == "pid":
            return self.identity()
        if wanted == "maybe":
            return NONE if d.chance(15) else self.identity()
        if wanted == "peers":
            return self.group()
        if wanted == "pair":
            return self.pair()
        if wanted == "signed":
            handed = [node("m", name) for name in self.said("signed")] + [
                node("self", name) for name in self.named("signed")
            ]
            return d.one(handed) if handed and d.chance(60) else node("sign", node("int", d.between(0, 1)))
        if wanted in ("sealed", "twice"):
            handed = [node("m", name) for name in self.said(wanted)] + [
                node("self", name) for name in self.named(wanted)
            ]
            if handed and d.chance(50):
                return d.one(handed)
            mine = node("sign", node("int", d.between(0, 1)))
            return node("seal", mine, 0) if wanted == "sealed" else node("sign", mine)
        ways = [node("self", name) for name in self.named("map")] or [node("empty")]
        return node("put", d.one(ways), self.identity(), node("int", d.between(0, 1))) if d.chance(70) else d.one(ways)

    # Statements

    def change(self) -> Node:
        """An assignment to a field."""
        d = self.dice
        changing = [each for each in self.fields if each.type != "pid" and not each.name.startswith(("to", "needed"))]
        if not changing:
            return PASS
        field = d.one(changing)
        if field.type == "int" and d.chance(8):
            return node("choose", field.name, self._options())
        if field.type == "int" and d.chance(55):
            return node("set", field.name, node("int", d.between(0, MOST)))
        return node("set", field.name, self.of_type(field.type))

    def _options(self) -> Node:
        d = self.dice
        if d.chance(30):
            return node("range", self.number(0))
        return node("options", node("int", d.between(0, 1)), self.number(0))

    def make(self, record: Record, fields: Sequence[Field]) -> Node:
        """A message. Numbers in messages stay in their domain, so that attackers could have sent them too."""
        arguments: list[Any] = []
        for field in fields:
            if field.type == "int":
                small = [node("m", name) for name in self.said("int")] + [node("int", 0), node("int", 1)]
                if self.named("int"):
                    small.append(node("cycle", node("self", self.dice.one(self.named("int"))), 0, 2))
                arguments.append(self.dice.one(small))
            else:
                arguments.append(self.of_type(field.type))
        return node("make", record.name, tuple(arguments))
