"""Drawing protocols: one number determines everything.

Protocols are drawn in styles, since what goes wrong needs parts that fit together: processes that only step, senders
and receivers, processes of several roles, attackers. Within a style anything may meet anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Literal

from .expressions import MOST, Dice, Writer
from .protocol import (
    FALSE,
    NONE,
    PASS,
    TRUE,
    Action,
    Class,
    Connect,
    Faults,
    Field,
    Network,
    Node,
    Protocol,
    Record,
    Spawn,
    Type,
    node,
)

Style = Literal["steps", "messages", "roles", "attack", "many"]
STYLES: dict[Style, float] = {"steps": 26, "messages": 34, "roles": 24, "attack": 10, "many": 6}
LETTERS = "xuswkz"
NAMES = ("Alpha", "Beta", "Gamma", "Delta")
MESSAGES = ("Ping", "Vote", "News")
EMPTY: dict[Type, Node] = {"maybe": NONE, "peers": node("nobody"), "pair": NONE, "map": node("empty"), "signed": NONE}


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


class Drawing:
    """One protocol under construction; `structure` is all of it but the properties."""

    def __init__(self, seed: int) -> None:
        self.dice = Dice(Random(seed))
        d = self.dice
        self.style: Style = d.weighted(STYLES)
        self.records: list[Record] = []
        self.events: list[Record] = []
        self.monitors: list[Class] = []
        self.failing = d.weighted({0.0: 70, 4.0: 30})
        self.asserting = d.weighted({0.0: 60, 8.0: 40})
        self.network = self._network()
        self.faults = Faults()
        if d.chance(12) and self.style != "many":
            self.faults = Faults(1, (), d.chance(60), d.chance(25))

    def structure(self) -> Protocol:
        d = self.dice
        if self.style != "steps" or d.chance(25):
            self._draw_records()
        if d.chance(22):
            self._draw_monitor()
        if self.style == "roles":
            return self._roles()
        count = {"steps": (1, 2), "messages": (2, 3), "attack": (1, 2), "many": (1, 2)}[self.style]
        drafts = [Draft(NAMES[number], self._letter(number)) for number in range(d.between(*count))]
        self._share_out(drafts)
        for draft in drafts:
            self._fill(draft)
        classes = [self._finished(draft) for draft in drafts]
        spawns, connects = self._spawned(drafts)
        if d.chance(12):
            self._derive(drafts, classes, spawns, connects)
        corrupt: tuple[tuple[int, int], ...] = ()
        if self.style == "attack" and d.chance(50):
            corrupt = ((d.between(0, len(spawns) - 1), 1),)
        if d.chance(7):
            self._vary_beginning(drafts, spawns)
        return self._protocol(classes, spawns, connects, corrupt)

    # The surroundings

    def _network(self) -> Network:
        d = self.dice
        if d.chance(62):
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
            types = {"int": 6, "bool": 3, "pid": 1, "signed": 5}
        elif self.style != "many":
            types |= {"map": 0.4, "peers": 0.4}
        for number in range(d.weighted({1: 5, 2: 4, 3: 1})):
            base = MESSAGES[0] if number and d.chance(30) else None
            kinds: list[Type] = [d.weighted(types) for _ in range(d.weighted({0: 5, 1: 5, 2: 0.7}))]
            fields = tuple(Field("abcdef"[2 * number + at], kind) for at, kind in enumerate(kinds))
            self.records.append(Record(MESSAGES[number], base, fields))

    def _draw_monitor(self) -> None:
        d = self.dice
        event = Record("Seen", None, (Field("v", "int"),) if d.chance(35) else (), is_event=True)
        self.events.append(event)
        fields = (Field("n", "int", node("int", 0)),)
        writer = Writer(d, fields, message=event.fields)
        statements: list[Node] = [writer.change() if d.chance(25) else node("set", "n", node("plus", node("self", "n"), 1, MOST))]
        if d.chance(30):
            low = node("lt", node("self", "n"), node("int", d.between(1, MOST)))
            statements.append(node("assert", low))
        guard = writer.condition() if d.chance(20) else None
        reaction = Action("told", "on", tuple(each for each in statements if each.op != "choose") or (PASS,), "Seen", guard)
        self.monitors.append(Class("Watch", fields=fields, actions=(reaction,), is_monitor=True))

    # Classes

    def _letter(self, number: int) -> str:
        """Roles that have a field in common are taken for one; that is to happen, but seldom."""
        return LETTERS[0] if self.dice.chance(6) else LETTERS[number]

    def _share_out(self, drafts: list[Draft]) -> None:
        """Who sends what to whom. A message and its base go to the same class, mostly to just one."""
        d = self.dice
        for record in self.records:
            family = next((each for each in drafts if record.base and self.records[0] in each.takes), None)
            takers = [family if family is not None else d.one(drafts)]
            if d.chance(15):
                takers.append(d.one(drafts))
            for each in takers:
                if record not in each.takes:
                    each.takes.append(record)
            senders = [each for each in drafts if d.chance(45)] or [d.one(drafts)]
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
            extra["signed"] = 4
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
        spontaneous = {"steps": (2, 4), "messages": (0, 1), "roles": (0, 1), "attack": (0, 1), "many": (0, 1)}[self.style]
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
        if d.chance(55):
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
            claim = FALSE if d.chance(10) else node("not", writer.condition())
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
            durable = tuple(dict.fromkeys([*(links if d.chance(92) else []), *others]))
        return Class(
            draft.name, bases, tuple(draft.fields), tuple(draft.constants), tuple(draft.actions), (), within,
            durable=durable,
        )  # fmt: skip

    # Processes

    def _spawned(self, drafts: list[Draft]) -> tuple[list[Spawn], list[Connect]]:
        d = self.dice
        spawns: list[Spawn] = []
        for draft in drafts:
            most = {"steps": 2, "messages": 2, "attack": 2, "many": 3, "roles": 2}[self.style]
            count: int | None = d.between(1, most)
            if self.style == "many":
                count = d.between(2, 6 // len(drafts))
            if self.style == "messages" and not draft.takes:
                count = d.weighted({1: 2, 2: 5, 3: 2})
            if self.style == "attack":
                count = d.weighted({1: 3, 2: 4, 3: 1})
            spawns.append(Spawn(draft.name, None if count == 1 and d.chance(80) else count))
        if len(drafts) == 1 and self.style in ("messages", "attack") and spawns[0].number == 1:
            spawns[0] = spawns[0]._replace(count=2)
        if self.style == "attack" and sum(each.number for each in spawns) < 2:
            spawns[0] = spawns[0]._replace(count=2)
        return spawns, self._connected(drafts, spawns)

    def _connected(self, drafts: list[Draft], spawns: list[Spawn], roles: dict[str, list[str]] | None = None) -> list[Connect]:
        """The links: senders know whom they send to, receivers whom they wait for."""
        d = self.dice
        connects: list[Connect] = []
        for number, spawn in enumerate(spawns):
            for draft in drafts:
                if draft.name != spawn.cls and draft.name not in (roles or {}).get(spawn.cls, ()):
                    continue
                for name in [f.name for f in draft.fields if f.name.startswith("to_")]:
                    of = name.startswith("to_of_")
                    partners = [
                        other
                        for other in drafts
                        if (any(r in other.sends for r in draft.takes) if of else any(r in other.takes for r in draft.sends))
                    ] or drafts
                    partner = d.one(partners)
                    connects.append(self._link(number, name, partner, spawns, roles))
        if d.chance(8) and spawns and drafts[0].fields:
            many = [number for number, each in enumerate(spawns) if each.number > 1]
            if many:
                at = d.one(many)
                mine = [each for each in drafts if each.name in (spawns[at].cls, *(roles or {}).get(spawns[at].cls, ()))]
                letter = d.one(mine).letter
                connects.append(Connect(at, d.between(0, spawns[at].number - 1), letter, node("int", 1)))
        return connects

    def _link(
        self, number: int, name: str, partner: Draft, spawns: list[Spawn], roles: dict[str, list[str]] | None
    ) -> Connect:
        d = self.dice
        players = [
            at
            for at, each in enumerate(spawns)
            if each.cls == partner.name or partner.name in (roles or {}).get(each.cls, ())
        ]
        to: Node = node("group", *(players or [d.between(0, len(spawns) - 1)]))
        if d.chance(6):
            to = node("group", *range(len(spawns)))
        if roles:
            composed = [each for each in spawns if each.cls in roles]
            if composed and d.chance(94):
                role = partner.name
                if d.chance(12):
                    role = d.one(roles[composed[0].cls])
                to = node("playing", to, role)
        return Connect(number, None, name, to)

    def _vary_beginning(self, drafts: list[Draft], spawns: list[Spawn]) -> None:
        if self.faults.recover:
            return  # whether a process remembers how it began would be one more thing to know
        at = self.dice.between(0, len(spawns) - 1)
        mine = next((each for each in drafts if each.name == spawns[at].cls), None)
        if mine is not None:
            options = (node("int", 0), node("int", 1))
            spawns[at] = spawns[at]._replace(given=((mine.letter, node("choose", options)),))

    def _derive(self, drafts: list[Draft], classes: list[Class], spawns: list[Spawn], connects: list[Connect]) -> None:
        """A subclass that overrides a handler, a constant or a default; perhaps a Byzantine one."""
        d = self.dice
        at = d.between(0, len(drafts) - 1)
        draft = drafts[at]
        own = Draft("Variant", draft.letter, draft.fields, draft.constants, sends=draft.sends, takes=draft.takes)
        actions: list[Action] = []
        if d.chance(60):
            old = d.one(draft.actions)
            writer = self._writer(own, None)
            actions.append(old._replace(body=self._body(own, writer, bool(draft.sends))))
        constants = tuple((name, d.between(0, MOST)) for name, _ in draft.constants if d.chance(60))
        overrides = ((draft.letter, node("int", 1)),) if d.chance(25) and not self.faults.recover else ()
        byzantine = d.chance(35)
        classes.append(Class("Variant", (draft.name,), (), constants, tuple(actions), overrides, byzantine=byzantine))
        number = len(spawns)
        spawns.append(Spawn("Variant"))
        mine = [spawn for spawn, each in enumerate(spawns) if each.cls == draft.name]
        if mine:
            connects += [each._replace(spawn=number, which=None) for each in connects if each.spawn == mine[0]]
        if d.chance(60):  # the others know it too
            for index, each in enumerate(connects):
                if each.value.op == "group" and mine and mine[0] in each.value.args:
                    connects[index] = each._replace(value=node("group", *each.value.args, number))

    # Roles

    def _roles(self) -> Protocol:
        d = self.dice
        common: Class | None = None
        drafts = [Draft(NAMES[number], self._letter(number)) for number in range(3 if d.chance(6) else 2)]
        bases: tuple[str, ...] = ()
        if d.chance(20):
            base = Draft("Base", "q")
            if d.chance(30):
                base.fields.append(Field("q", "int", node("int", 0)))
            if d.chance(80):
                base.actions.append(self._spontaneous(base, "boot", sending=False))
            common = self._finished(base, spare=True)
            bases = ("Base",)
        if not self.records and not self.events:
            self._draw_records()
        self._share_out(drafts)
        classes: list[Class] = [common] if common else []
        for draft in drafts:
            self._fill(draft, lean=True)
            mine = bases if d.chance(85) else ()
            classes.append(self._finished(draft, mine, spare=d.chance(85)))
        names = [each.name for each in drafts]
        server = Class("Server", tuple(names))
        if d.chance(10):
            first = drafts[0]
            old = d.one(first.actions)
            server = server._replace(actions=(old._replace(body=self._body(first, self._writer(first, None), True)),))
        elif d.chance(8) and drafts[0].constants:
            server = server._replace(constants=((drafts[0].constants[0][0], 0),))
        elif d.chance(6) and not self.faults.recover:
            server = server._replace(overrides=((drafts[0].letter, node("int", 1)),))
        classes.append(server)
        roles = {"Server": names}
        spawned = "Server"
        if d.chance(5):
            classes.append(Class("Cluster", ("Server",)))
            roles["Cluster"] = names
            spawned = "Cluster"
        spawns = [Spawn(spawned, 3 if d.chance(8) else 2)]
        if d.chance(12):
            spawns.append(Spawn(d.one(names)))
        connects = self._connected(drafts, spawns, roles)
        corrupt = ((0, 1),) if d.chance(3) else ()
        return self._protocol(classes, spawns, connects, corrupt)

    def _protocol(
        self, classes: list[Class], spawns: list[Spawn], connects: list[Connect], corrupt: tuple[tuple[int, int], ...]
    ) -> Protocol:
        of: tuple[str, ...] = ()
        if self.faults.crashes and self.dice.chance(45):
            of = (self.dice.one(spawns).cls,)
        return Protocol(
            (*self.records, *self.events),
            tuple(classes),
            tuple(self.monitors),
            tuple(spawns),
            tuple(connects),
            corrupt,
            self.network,
            self.faults._replace(of=of),
        )
