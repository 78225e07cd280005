"""Drawing protocols: one number determines everything.

Protocols are drawn in styles, since what goes wrong needs parts that fit together: processes that only step, senders
and receivers, processes of several roles, attackers. Within a style anything may meet anything.
"""

from __future__ import annotations

from dataclasses import replace

from .drawn import SHAPES
from .drawn_orders import crowd
from .expressions import MOST
from .parts import LETTERS, NAMES, Draft, Parts
from .pointed import POINTS
from .protocol import (
    Action,
    Class,
    Connect,
    Field,
    Node,
    Protocol,
    Spawn,
    node,
)


class Drawing(Parts):
    """One protocol under construction; `structure` is all of it but the properties."""

    def structure(self) -> Protocol:
        d = self.dice
        if self.style in SHAPES:
            return SHAPES[self.style](self)
        if self.style == "pointed":
            self.point = self.point or d.one([*POINTS])
            return POINTS[self.point].draw(self)
        if self.style != "crowd" and (self.style not in ("steps", "counter") or d.chance(25)):
            self._draw_records()
        if d.chance(12 if self.style == "counter" else 22):
            self._draw_monitor()
        if self.style == "roles":
            return self._roles()
        if self.style == "counter":
            return self._counters()
        if self.style == "crowd":
            return crowd(self)
        count = {"steps": (1, 2), "messages": (2, 3), "attack": (1, 2), "many": (1, 2)}[self.style]
        drafts = [Draft(NAMES[number], self._letter(number)) for number in range(d.between(*count))]
        self._share_out(drafts)
        for draft in drafts:
            self._fill(draft)
        return self._assembled(drafts)

    def _assembled(self, drafts: list[Draft]) -> Protocol:
        d = self.dice
        classes = [self._finished(draft) for draft in drafts]
        spawns, connects = self._spawned(drafts)
        if d.chance(12):
            self._derive(drafts, classes, spawns, connects)
        corrupt: tuple[tuple[int, int], ...] = ()
        if self.style == "attack" and d.chance(50):
            at = d.between(0, len(spawns) - 1)
            corrupt = ((at, 2 if spawns[at].number > 1 and d.chance(35) else 1),)
        if d.chance(7):
            self._vary_beginning(drafts, spawns)
        return self._protocol(classes, spawns, connects, corrupt)

    def _counters(self) -> Protocol:
        d = self.dice
        drafts = [Draft(NAMES[number], LETTERS[number]) for number in range(2 if d.chance(35) else 1)]
        if len(drafts) == 2:
            self._share_out(drafts)
        for draft in drafts:
            letter = draft.letter
            draft.fields += [Field(letter, "int", node("int", 0)), Field(letter * 2, "int", node("int", 0))]
            if draft.sends:
                draft.fields.append(Field(f"to_{letter}", "peers", node("nobody")))
            for number, record in enumerate(draft.takes):
                draft.actions.append(self._receiving(draft, record, f"hear{number}a_{letter}"))
            duel = d.chance(35)
            for at in range(d.between(2, 4) if len(drafts) == 1 else d.between(1, 3)):
                action = (
                    self._duelling(draft, f"do{at}_{letter}") if duel else self._counting(draft, f"do{at}_{letter}")
                )
                draft.actions.append(action)
        return self._assembled(drafts)

    # Processes

    def _spawned(self, drafts: list[Draft]) -> tuple[list[Spawn], list[Connect]]:
        d = self.dice
        spawns: list[Spawn] = []
        for draft in drafts:
            most = {"counter": 1, "steps": 2, "messages": 2, "attack": 2, "many": 3, "roles": 2}[self.style]
            count: int | None = d.between(1, most)
            if self.style == "many":
                count = d.between(2, 6 // len(drafts))
            if self.style == "messages" and not draft.takes:
                count = d.weighted({1: 2, 2: 5, 3: 2})
            if self.style == "attack":
                count = d.weighted({1: 3, 2: 4, 3: 1})
            spawns.append(Spawn(draft.name, None if count == 1 and d.chance(80) else count))
        if len(drafts) == 1 and self.style in ("messages", "attack") and spawns[0].number == 1:
            spawns[0] = replace(spawns[0], count=2)
        if self.style == "attack" and sum(each.number for each in spawns) < 2:
            spawns[0] = replace(spawns[0], count=2)
        return spawns, self._connected(drafts, spawns)

    def _connected(
        self, drafts: list[Draft], spawns: list[Spawn], roles: dict[str, list[str]] | None = None
    ) -> list[Connect]:
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
                        if (
                            any(r in other.sends for r in draft.takes)
                            if of
                            else any(r in other.takes for r in draft.sends)
                        )
                    ] or drafts
                    partner = d.one(partners)
                    connects.append(self._link(number, name, partner, spawns, roles))
        if d.chance(8) and not self.faults.recover:
            many = [number for number, each in enumerate(spawns) if each.number > 1]
            if many:
                at = d.one(many)
                mine = [
                    each for each in drafts if each.name in (spawns[at].cls, *(roles or {}).get(spawns[at].cls, ()))
                ]
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
            if composed and d.chance(97):
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
            spawns[at] = replace(spawns[at], given=((mine.letter, node("choose", options)),))

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
        drafts = [Draft(NAMES[number], self._letter(number)) for number in range(3 if d.chance(8) else 2)]
        bases: tuple[str, ...] = ()
        if d.chance(20):
            base = Draft("Base", "q")
            if d.chance(20):
                base.fields.append(Field("q", "int", node("int", 0)))
            if not self.events and d.chance(70):
                self._draw_monitor()
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
        if common is not None and common.fields and d.chance(50):
            at = d.between(1, len(drafts))
            classes[at] = classes[at]._replace(overrides=(("q", node("int", 1)),) if classes[at].bases else ())
        server = Class("Server", tuple(names))
        if len(drafts) == 3 and d.chance(40):
            classes.append(Class("Both", tuple(names[:2])))
            server = Class("Server", ("Both", names[2]))
        if self.faults.recover:
            server = server._replace(durable=tuple(dict.fromkeys(f for each in classes for f in each.durable)))
        if d.chance(5):
            first = drafts[0]
            old = d.one(first.actions)
            server = server._replace(actions=(old._replace(body=self._body(first, self._writer(first, None), True)),))
        elif d.chance(8) and drafts[0].constants:
            server = server._replace(constants=((drafts[0].constants[0][0], 0),))
        elif d.chance(3) and not self.faults.recover:
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
