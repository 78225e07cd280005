"""Lamport's bakery for two, with tickets that grow without end, as in section 5.2 of Bokor's thesis (2011)."""

from enum import Enum

from quorate import Process, System, invariant, step


class Place(Enum):
    IDLE = 0
    TRYING = 1
    INSIDE = 2


class Shop(Process):
    strengthened: bool
    first: Place = Place.IDLE
    second: Place = Place.IDLE
    y1: int = 0
    y2: int = 0

    @step(when=lambda self: self.first is Place.IDLE)
    def first_draws(self) -> None:
        self.y1, self.first = self.y2 + 1, Place.TRYING

    @step(when=lambda self: self.first is Place.TRYING and (self.y2 == 0 or self.y1 < self.y2) and self.drew(self.y1))
    def first_enters(self) -> None:
        self.first = Place.INSIDE

    @step(when=lambda self: self.first is Place.INSIDE)
    def first_leaves(self) -> None:
        self.y1, self.first = 0, Place.IDLE

    @step(when=lambda self: self.second is Place.IDLE)
    def second_draws(self) -> None:
        self.y2, self.second = self.y1 + 1, Place.TRYING

    @step(when=lambda self: self.second is Place.TRYING and (self.y1 == 0 or self.y2 < self.y1) and self.drew(self.y2))
    def second_enters(self) -> None:
        self.second = Place.INSIDE

    @step(when=lambda self: self.second is Place.INSIDE)
    def second_leaves(self) -> None:
        self.y2, self.second = 0, Place.IDLE

    def drew(self, ticket: int) -> bool:
        return not self.strengthened or ticket > 0


class Bakery(System):
    """Mutual exclusion by tickets; with `strengthened=true` nobody enters without one."""

    strengthened: bool = False

    def build(self) -> None:
        self.spawn(Shop, strengthened=self.strengthened)

    @invariant
    def mutual_exclusion(self) -> bool:
        return all(not (shop.first is Place.INSIDE and shop.second is Place.INSIDE) for shop in self[Shop])
