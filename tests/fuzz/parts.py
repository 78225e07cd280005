"""Drawing the parts of a protocol: networks, messages, monitors, and the fields and transitions of a class."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Literal

from .expressions import MOST, Dice, Writer
from .handlers import Environment
from .protocol import (
    FALSE,
    NONE,
    PASS,
    TRUE,
    Action,
    Class,
    Faults,
    Field,
    Network,
    Node,
    Record,
    Type,
    node,
)

Style = Literal[
    "counter",
    "steps",
    "messages",
    "roles",
    "attack",
    "many",
    "callers",
    "hidden",
    "cut",
    "modes",
    "cheats",
    "parties",
    "ballots",
    "crowd",
    "pointed",
    "values",
]
STYLES: dict[Style, float] = {"counter": 30, "steps": 12, "messages": 26, "roles": 22, "attack": 7, "many": 3}
STYLES |= {"callers": 5, "hidden": 8, "cut": 5, "modes": 3, "cheats": 0.7, "parties": 6, "ballots": 1.5}  # of drawn.py
STYLES |= {"crowd": 12}  # of drawn_orders.py
STYLES |= {"values": 5, "pointed": 10}  # of drawn_values.py, of pointed/
LETTERS = "xuswkz"
NAMES = ("Alpha", "Beta", "Gamma", "Delta")
MESSAGES = ("Ping", "Vote", "News")
EMPTY: dict[Type, Node] = {"maybe": NONE, "peers": node("nobody"), "pair": NONE, "map": node("empty"), "signed": NONE}
EMPTY |= {"sealed": NONE, "twice": NONE}


@dataclass
class Draft:
    """A class under construction."""

    name: str
    letter: str
    fields: list[Field] = field(default_factory=list)
    constants: list[tuple[str, int]] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    sends: list[Record] = field(default_factory=list)
    takes: list[Record] = field(default_factory=list)


class Parts:
    """What all parts of one protocol have in common, and the drawing of each."""

    def __init__(self, seed: int) -> None:
        self.dice = Dice(Random(seed))
        d = self.dice
        self.style: Style = d.weighted(STYLES)
        self.records: list[Record] = []
        self.events: list[Record] = []
        self.monitors: list[Class] = []
        self.failing = d.weighted({0.0: 70, 4.0: 30})
        self.asserting = d.weighted({0.0: 50, 20.0: 50})
        self.network = self._network()
        self.environment: Environment | None = None  # the one that is drawn with the protocol, if that matters
        self.point = ""  # which of the points it is, if it is one
        self.faults = Faults()
        if d.chance({"roles": 4, "many": 0}.get(self.style, 12)):
            self.faults = Faults(1, (), d.chance(60), d.chance(25))

    # The surroundings

    def _network(self) -> Network:
        d = self.dice
        if d.chance(86 if self.style == "roles" else 62):
            return Network()
        kind = d.weighted({"unordered": 4, "multiset": 3, "fifo": 3})
        losses = d.weighted({0: 5, 1: 3, "any": 1})
        duplicates = d.weighted({0: 5, 1: 4, "any": 1})
        if kind == "fifo" and duplicates == "any":
            duplicates = 0
        capacity = d.weighted({None: 6, 1: 3, 2: 1})
        full: Literal["block", "replace"] = "block"
        if capacity is not None and (kind == "fifo" or capacity == 1) and d.chance(40):
            full = "replace"
        head = d.weighted({"block": 2, "skip": 2, "drop": 2}) if kind == "fifo" else "block"
        return Network(kind, losses, duplicates, capacity, full, head)  # type: ignore[arg-type]

    def _draw_records(self) -> None:
        d = self.dice
        types: dict[Type, float] = {"int": 8, "bool": 2, "pid": 1.5, "maybe": 1, "pair": 1}
        if self.style == "attack":
            types = {"int": 6, "bool": 3, "pid": 1, "signed": 5, "sealed": 1.2, "twice": 1.2}
        elif self.style != "many":
            types |= {"map": 0.4, "peers": 0.4}
        for number in range(d.weighted({1: 5, 2: 7 if self.style == "roles" else 4, 3: 1})):
            base = MESSAGES[0] if number and d.chance(45 if self.style == "roles" else 30) else None
            kinds: list[Type] = [
                d.weighted(types)
                for _ in range(d.weighted({0: 9 if base or self.style == "roles" else 5, 1: 5, 2: 0.7}))
            ]
            fields = tuple(Field("abcdef"[2 * number + at], kind) for at, kind in enumerate(kinds))
            self.records.append(Record(MESSAGES[number], base, fields))

    def _draw_monitor(self) -> None:
        d = self.dice
        event = Record("Seen", None, (Field("v", "int"),) if d.chance(35) else (), is_event=True)
        self.events.append(event)
        fields = (Field("n", "int", node("int", 0)),)
        numbers = [node("plus", node("self", "n"), 1, MOST), node("cycle", node("self", "n"), 1, MOST), node("int", 1)]
        numbers += [node("m", f.name) for f in event.fields]
        statements = [node("set", "n", d.one([numbers[0], *numbers]))]
        if d.chance(30):
            statements.append(node("assert", node("lt", node("self", "n"), node("int", d.between(1, MOST)))))
        guard = node("eq", node("self", "n"), d.one(numbers[2:])) if d.chance(15) else None
        reaction = Action("told", "on", tuple(statements), "Seen", guard)
        self.monitors.append(Class("Watch", fields=fields, actions=(reaction,), is_monitor=True))

    # Classes

    def _letter(self, number: int) -> str:
        """Roles that have a field in common are taken for one; that is to happen, but seldom."""
        return LETTERS[0] if self.dice.chance(3) else LETTERS[number]

    def _share_out(self, drafts: list[Draft]) -> None:
        """Who sends what to whom. A message and its base go to the same class, mostly to just one."""
        d = self.dice
        for record in self.records:
            family = next((each for each in drafts if record.base and self.records[0] in each.takes), None)
            takers = [family if family is not None else d.one(drafts)]
            if family is not None and d.chance(50):
                takers = []  # whoever takes the base takes it too
            elif d.chance(15):
                takers.append(d.one(drafts))
            for each in takers:
                if record not in each.takes:
                    each.takes.append(record)
            senders = [each for each in drafts if d.chance(45)] or [d.one(drafts)]
            if family is not None and d.chance(60):  # two classes of one family, each from a sender of its own
                senders = [each for each in drafts if self.records[0] not in each.sends] or senders
            for each in senders:
                each.sends.append(record)

    def _fill(self, draft: Draft, lean: bool = False) -> None:
        """Fields and transitions of a class."""
        d = self.dice
        letter = draft.letter
        draft.fields.append(Field(letter, "int", node("int", 0)))
        if not lean and d.chance(45 if self.style == "steps" else 20):
            draft.fields.append(Field(letter * 2, "int", node("int", 0)))
        if d.chance(25):
            draft.fields.append(Field(f"ok_{letter}", "bool", FALSE))
        extra: dict[Type | None, float] = {None: 10, "maybe": 2, "peers": 1, "pair": 1, "map": 0.7}
        if self.style == "attack":
            extra |= {"signed": 4, "sealed": 0.7, "twice": 0.7}
        kind = d.weighted(extra) if self.style != "many" else None
        if kind is not None:
            draft.fields.append(Field(f"{kind}_{letter}", kind, EMPTY[kind]))
        if draft.sends:
            draft.fields.append(Field(f"to_{letter}", "peers", node("nobody")))
        if d.chance(12):
            draft.constants.append((f"LIMIT_{letter.upper()}", d.between(1, MOST)))
        for number, record in enumerate(draft.takes):
            for again in range(2 if d.chance(15) else 1):
                draft.actions.append(self._receiving(draft, record, f"hear{number}{'ab'[again]}_{letter}"))
        spontaneous = {"steps": (2, 4), "messages": (0, 1), "roles": (0, 1), "attack": (0, 1), "many": (0, 1)}[
            self.style
        ]
        number = d.between(*spontaneous)
        if draft.sends and (number == 0 or not draft.takes):
            number = max(number, 1)
        if not draft.actions:
            number = max(number, 1)
        for at in range(number):
            draft.actions.append(self._spontaneous(draft, f"do{at}_{letter}", sending=bool(draft.sends) and at == 0))
        if self.faults.crashes and d.chance(25):
            writer = self._writer(draft, [])
            draft.actions.append(Action(f"mourn_{letter}", "on", (writer.change(),), "Crash"))

    def _writer(self, draft: Draft, message: list[Field] | None, several: bool = False) -> Writer:
        names = [name for name, _ in draft.constants]
        return Writer(self.dice, draft.fields, names, message, several, self.failing)

    def _fields(self, record: Record) -> list[Field]:
        inherited = self._fields(self.records[0]) if record.base else []
        return [*inherited, *record.fields]

    def _spontaneous(self, draft: Draft, name: str, sending: bool) -> Action:
        d = self.dice
        writer = self._writer(draft, None)
        kind = d.weighted({"start": 6, "step": 4}) if self.style != "steps" else d.weighted({"start": 3, "step": 7})
        if sending and self.network.kind != "unordered":
            kind = "start" if d.chance(90) else kind
        body = self._body(draft, writer, sending, looping=kind == "step")
        if kind == "start":
            return Action(name, "start", body, when=writer.condition() if d.chance(25) else None)
        guard = writer.condition() if d.chance(90) else TRUE
        return Action(name, "step", body, when=guard)

    def _receiving(self, draft: Draft, record: Record, name: str) -> Action:
        d = self.dice
        fields = self._fields(record)
        keep = d.chance(6)
        family = any(each.base == record.name for each in self.records)
        if d.chance(30 if family else 55):  # a quorum over a base class tells senders apart
            writer = self._writer(draft, fields)
            guard = writer.condition() if d.chance(45) else None
            return Action(name, "on", self._body(draft, writer, d.chance(30)), record.name, guard, keep)
        alone = self._writer(draft, None)
        one = self._writer(draft, fields)
        writer = self._writer(draft, fields, several=True)
        way = d.weighted({"size": 5, "each": 3, "enough": 4})
        size: int | str | Node | None = None
        each: str | Node | None = None
        enough: Node | None = None
        if way == "size":
            size = d.weighted({1: 1, 2: 5, 3: 1.5})
            if d.chance(20):
                draft.fields.append(Field(f"needed_{draft.letter}", "int", node("int", size)))
                size = f"needed_{draft.letter}"
            elif d.chance(15):
                size = node("plus", alone.number(0), 1, 2)
        elif way == "each":
            link = f"to_of_{draft.letter}"
            if link not in [f.name for f in draft.fields]:
                draft.fields.append(Field(link, "peers", node("nobody")))
            each = link
            if d.chance(25):
                each = node("less", node("self", link), node("me"))
        else:
            enough = writer.condition()
        return Action(
            name,
            "quorum",
            self._body(draft, writer, d.chance(20), counting=True),
            record.name,
            when=alone.condition() if d.chance(25) else None,
            keep=keep,
            size=size,
            each=each,
            enough=enough,
            sets="maximal" if way == "enough" and d.chance(45) else "minimal",
            where=one.condition() if d.chance(20) else None,
            same=fields[0].name if fields and fields[0].type in ("int", "bool", "pid") and d.chance(20) else None,
        )

    def _body(
        self, draft: Draft, writer: Writer, sending: bool, looping: bool = False, counting: bool = False
    ) -> tuple[Node, ...]:
        d = self.dice
        found: list[Node] = []
        if counting and d.chance(40):
            found.append(node("set", draft.letter, node("size")))
        for _ in range(d.weighted({0: 1.5, 1: 6, 2: 3})):
            change = writer.change()
            if d.chance(14):
                otherwise = (writer.change(),) if d.chance(30) else ()
                change = node("if", writer.condition(0), (change,), otherwise)
            found.append(change)
        if sending and draft.sends:
            record = d.one(draft.sends)
            to = node("self", f"to_{draft.letter}")
            if d.chance(8):
                to = node("me")
            found.insert(d.between(0, len(found)), node("send", to, writer.make(record, self._fields(record))))
        if writer.message is not None and draft.sends and d.chance(25):
            record = d.one(draft.sends)
            found.append(node("reply", writer.make(record, self._fields(record))))
        if self.events and d.chance(45):
            found.append(node("emit", writer.make(self.events[0], self.events[0].fields)))
        if d.chance(self.asserting):
            claim = FALSE if d.chance(6) else node("not", writer.condition(0))
            found.insert(d.between(0, len(found)), node("assert", claim))
        if d.chance(self.failing / 4):
            found.append(node("raise"))
        if looping and d.chance(12):
            found = []
        return tuple(found) or (PASS,)

    def _finished(self, draft: Draft, bases: tuple[str, ...] = (), spare: bool = False) -> Class:
        d = self.dice
        within: Node | None = None
        ints = [each.name for each in draft.fields if each.type == "int" and not each.name.startswith("needed")]
        if d.chance(4) and ints and not spare:
            within = node("lt", node("self", d.one(ints)), node("int", d.between(1, MOST)))
        durable: tuple[str, ...] = ()
        if self.faults.recover:
            links = [f.name for f in draft.fields if f.type in ("peers", "map") or f.name.startswith("needed")]
            others = d.some([f.name for f in draft.fields if f.name not in links], 1)
            durable = tuple(dict.fromkeys([*(links if d.chance(98) else []), *others]))
        return Class(
            draft.name, bases, tuple(draft.fields), tuple(draft.constants), tuple(draft.actions), (), within,
            durable=durable,
        )  # fmt: skip

    # Steps of programs with a counter: each at some values of it, so that most orders make a difference somewhere

    def _counting(self, draft: Draft, name: str) -> Action:
        """A step at one or two values of the counter, that mostly moves it on."""
        d = self.dice
        letter, other = draft.letter, draft.letter * 2
        counter = node("self", letter)
        guard: Node | None = node("eq", counter, node("int", d.weighted({0: 4, 1: 2, 2: 1})))
        if d.chance(30):
            guard = node("among", counter, tuple(sorted(d.random.sample(range(4), 2))))
        body: list[Node] = []
        if d.chance(75):
            body.append(node("set", letter, node("int", d.between(0, 3))))
        if d.chance(40):
            body.append(node("set", other, node("int", d.between(0, 2))))
        kind: Literal["start", "step"] = "step"
        if d.chance(12):  # the same again, or further: one outcome may close a cycle that the other leaves
            options = node("options", *(node("int", each) for each in sorted(d.random.sample(range(3), 2))))
            body = [node("choose", letter, options)]
            if d.chance(60):
                body = [node("if", node("eq", node("self", other), node("int", 0)), tuple(body), ())]
            return Action(name, kind, tuple(body), when=guard if d.chance(50) else TRUE)
        if d.chance(40):
            kind = "start"
            guard = None if d.chance(65) else guard
            condition = node("eq", node("self", d.one((letter, other))), node("int", d.between(0, 2)))
            if d.chance(45):
                field = d.one((letter, other))
                values = [node("set", field, node("int", d.between(0, 3))) for _ in range(2)]
                body.append(node("if", condition, (values[0],), (values[1],) if d.chance(50) else ()))
        if draft.sends and d.chance(30):
            record = d.one(draft.sends)
            message = self._writer(draft, None).make(record, self._fields(record))
            body.append(node("send", node("self", f"to_{letter}"), message))
        if self.events and d.chance(40):
            body.append(node("emit", self._writer(draft, None).make(self.events[0], self.events[0].fields)))
        if d.chance(self.asserting / 2):
            body.append(node("assert", node("ne", node("self", d.one((letter, other))), node("int", d.between(0, 2)))))
        return Action(name, kind, tuple(body) or (PASS,), when=guard)

    def _duelling(self, draft: Draft, name: str) -> Action:
        """A step that looks at one field and sets another; two of them commute in some states and not in others."""
        d = self.dice
        one, two = d.random.sample([draft.letter, draft.letter * 2], 2)
        low, high = (node("int", 1), node("int", 2)) if d.chance(80) else (node("int", 2), node("int", 0))
        seen = node("eq", node("self", two), low)
        body = d.one(
            (
                (node("set", one, low), node("if", seen, (node("set", two, high),), ())),
                (node("if", seen, (node("set", one, high),), (node("set", one, low),)),),
                (node("if", seen, (node("set", one, low),), ()),),
                (node("set", one, low),),
            )
        )
        if draft.sends and d.chance(20):
            record = d.one(draft.sends)
            message = self._writer(draft, None).make(record, self._fields(record))
            body = (*body, node("send", node("self", f"to_{draft.letter}"), message))
        if d.chance(self.asserting):
            body = (*body, node("assert", node("ne", node("self", d.one((one, two))), high)))
        if d.chance(75):
            return Action(name, "start", body)
        return Action(name, "step", body, when=node("ne", node("self", one), low))
