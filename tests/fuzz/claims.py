"""Drawing properties, with the reachable states at hand.

A claim drawn blindly is mostly decided in the first state. One that is taken from a state that few runs reach is missed
as soon as a reduction misses that state, so most claims are: something that was seen somewhere can be seen.
"""

from __future__ import annotations

from .evaluate import Value
from .explorer import Exploration
from .expressions import MOST, Dice
from .protocol import NONE, Node, Property, node
from .system import State, System

UNSEEN = ("hid", "to_", "via_", "of_", "clerk_")
"""Fields that no property reads: those meant to be hidden, and links, which never change."""


class Claims:
    """Draws the properties of one system."""

    def __init__(self, dice: Dice, system: System, found: Exploration, failing: float, hiding: bool = False) -> None:
        self.dice = dice
        self.system = system
        self.found = found
        self.failing = failing
        self.hiding = hiding  # looks leave out what is meant to be hidden, too
        self.honest = [index for index in range(system.count) if index not in system.attackers]

    def properties(self) -> tuple[Property, ...]:
        d = self.dice
        found: list[Property] = []
        for number in range(d.weighted({0: 1, 1: 5, 2: 3})):
            found.append(Property(f"reached{number + 1}", "can", self._seen_in(self._state())))
        for number in range(d.weighted({0: 6, 1: 2.5, 2: 0.5})):
            claim = node("not", self._seen_in(self._state()))
            if d.chance(50):
                claim = self._blind()
            found.append(Property(f"safe{number + 1}", "invariant", claim))
        if d.chance(8):
            found.append(Property("unlikely", "can", self._blind()))
        if d.chance(55):
            fine = self._fine() if d.chance(45) else self._note("done", 8)
            found.append(Property("done", "final", fine))
        if d.chance(40):
            found.append(Property("noted", "invariant", self._note("noted", d.weighted({1: 5, 2: 4, 3: 1}))))
        return tuple(found)

    def looks(self) -> tuple[Property, ...]:
        """Nothing but looks: a search with other properties may end before it has lost anything."""
        noted = self._note("noted", self.dice.weighted({1: 5, 2: 4, 3: 1} if not self.hiding else {1: 1, 2: 4, 3: 5}))
        return Property("done", "final", self._note("done", 8)), Property("noted", "invariant", noted)

    def _note(self, name: str, most: int) -> Node:
        """A look at some fields: at few, since steps that show nothing are what partial orders are about."""
        d = self.dice
        system = self.system
        places: list[Node] = []
        for index in self.honest:
            cls = system.classes[index]
            same = [i for i in self.honest if self._shown(i, cls)]
            if index in same:
                kinds = [f.name for f in system.fields[cls] if f.type in ("int", "bool") and "needed" not in f.name]
                places += [node("nth", cls, same.index(index), field) for field in kinds]
        for watch in system.protocol.monitors:
            places += [node("monitor", watch.name, f.name) for f in system.fields[watch.name]]
        if self.hiding:
            places = [each for each in places if not each.args[-1].startswith(UNSEEN)]
        chosen = sorted(d.random.sample(range(len(places)), min(most, len(places))))
        return node("note", name, *(places[at] for at in chosen))

    def _state(self) -> State:
        """Any reachable state, a deep one rather than a shallow one."""
        states = list(self.found.depths)
        tries = [self.dice.one(states) for _ in range(2)]
        return max(tries, key=lambda state: self.found.depths[state])

    def _fine(self) -> Node:
        d = self.dice
        if not self.found.stuck or d.chance(15):
            return node("bool", d.chance(50))
        return self._seen_in(d.one(list(self.found.stuck)), everyone=d.chance(60))

    # What a state shows

    def _seen_in(self, state: State, everyone: bool = False) -> Node:
        """A condition that holds in this state."""
        d = self.dice
        found = self._one_thing(state, everyone)
        if d.chance(15) and len(self.honest) > 1:  # one thing each of two of them
            one, two = (self._about(index, state) for index in d.random.sample(self.honest, 2))
            return node("and", one, two)
        for _ in range(d.weighted({0: 6, 1: 4})):
            found = node("and", found, self._one_thing(state, everyone))
        return found

    def _about(self, index: int, state: State) -> Node:
        cls = self._class_of(index)
        return node("any", cls, self._fact(index, cls, state)) if self._shown(index, cls) else node("bool", True)

    def _one_thing(self, state: State, everyone: bool) -> Node:
        d = self.dice
        if self.system.protocol.monitors and d.chance(30):
            watch = self.system.protocol.monitors[0].name
            names = [f.name for f in self.system.fields[watch]]
            shown = state.monitors[0][0]
            if shown is None:
                return node("eq", node("monitor", watch, names[0]), NONE)
            if isinstance(shown, str):
                return self._named_by(watch, names[0], int(shown[1:]), state)
            return node("eq", node("monitor", watch, names[0]), node("int", shown))
        index = d.one(self.honest)
        cls = self._class_of(index)
        condition = self._fact(index, cls, state)
        if d.chance(25):
            same = [i for i in self.honest if self._shown(i, cls)]
            if index in same:
                field = self._plain_field(cls)
                if field is not None:
                    shown = node("nth", cls, same.index(index), field)
                    return node("eq", shown, self._written(self._value(index, field, state)))
        if everyone:
            field = self._plain_field(cls)
            values = [self._value(i, field, state) for i in self.honest if self._shown(i, cls)] if field else []
            if field and values and all(each == values[0] for each in values):
                return node("all", cls, node("eq", node("p", field), self._written(values[0])))
        if not self._shown(index, cls):
            return node("bool", True)
        if d.chance(15):
            same = [i for i in self.honest if self._shown(i, cls)]
            field = self._plain_field(cls)
            if field is not None and type(self._value(index, field, state)) is int:
                total = sum(self._value(i, field, state) for i in same)
                return node("eq", node("total", cls, field), node("int", total))
        if d.chance(35):
            condition = node("and", condition, self._fact(index, cls, state))
        return node("any", cls, condition)

    def _named_by(self, watch: str, field: str, index: int, state: State) -> Node:
        """Something that is true of the process whose name a monitor keeps."""
        if index not in self.honest:
            return node("ne", node("monitor", watch, field), NONE)
        cls = self.system.classes[index]
        is_it = node("eq", node("name"), node("monitor", watch, field))
        return node("any", cls, node("and", is_it, self._fact(index, cls, state)))

    def _shown(self, index: int, cls: str) -> bool:
        own = self.system.classes[index]
        return self.system.protocol.is_a(own, cls) and (self.system.byzantine[cls] or not self.system.byzantine[own])

    def _class_of(self, index: int) -> str:
        """The class of a process, or one of its bases: a role rather than the whole."""
        order = self.system.protocol.ancestry(self.system.classes[index])
        with_fields = [each.name for each in order if each.fields]
        if len(order) > 1 and with_fields and self.dice.chance(96):
            return self.dice.one(with_fields)
        return order[0].name

    def _plain_field(self, cls: str) -> str | None:
        names = [
            f.name
            for f in self.system.fields[cls]
            if f.type in ("int", "bool") and not f.name.startswith(("needed", "hid"))
        ]
        return self.dice.one(names) if names else None

    def _value(self, index: int, field: str | None, state: State) -> Value:
        names = [f.name for f in self.system.fields[self.system.classes[index]]]
        return state.locals[index].values[names.index(field)] if field in names else None

    def _fact(self, index: int, cls: str, state: State) -> Node:
        """Something that is true of one process in a state."""
        d = self.dice
        if self.system.protocol.faults.crashes and d.chance(25):
            return node("crashed") if state.locals[index].crashed else node("not", node("crashed"))
        fields = [f for f in self.system.fields[cls] if f.type not in ("pid", "map") and not f.name.startswith(UNSEEN)]
        if not fields:
            return node("bool", True)
        field = d.one(fields)
        value = self._value(index, field.name, state)
        if field.type in ("int", "bool"):
            return node("eq", node("p", field.name), self._written(value))
        if field.type == "peers":
            return node("eq", node("len", node("p", field.name)), node("int", len(value)))
        if field.type == "maybe" and value == f"#{index}":
            return node("eq", node("p", field.name), node("name"))
        return node("eq" if value is None else "ne", node("p", field.name), NONE)

    def _written(self, value: Value) -> Node:
        return node("bool", value) if isinstance(value, bool) else node("int", value)

    # Without looking

    def _blind(self) -> Node:
        d = self.dice
        one = self._blind_atom()
        way = d.weighted({"": 5, "or": 3, "and": 1, "if": 1})
        if way in ("or", "and"):
            return node(way, one, self._blind_atom())
        if way == "if":
            return node("if", one, self._blind_atom(), self._blind_atom())
        return one

    def _blind_atom(self) -> Node:
        d = self.dice
        cls = self._class_of(d.one(self.honest))
        field = self._plain_field(cls)
        if field is None:
            return node("bool", True)
        kind = next(f.type for f in self.system.fields[cls] if f.name == field)
        if kind == "bool":
            condition = node("p", field) if d.chance(50) else node("not", node("p", field))
        else:
            left: Node = node("p", field)
            if d.chance(self.failing * 2):
                left = node("divide", node("int", 1), left)
            condition = node(d.one(("le", "ne", "lt")), left, node("int", d.between(0, MOST)))
        if self.system.faults.crashes and d.chance(20):
            condition = node("or", node("crashed"), condition)
        return node(d.weighted({"all": 3, "any": 2}), cls, condition)
