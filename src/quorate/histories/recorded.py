"""Histories that were recorded: a file of events, in the order in which they happened.

    {"process": "a", "invoke": "enqueue", "value": 3}
    {"process": "b", "invoke": "dequeue"}
    {"process": "a", "return": null}
    {"process": "b", "return": 3}

One event a line, or all in one JSON list. `invoke` names the operation; its arguments are beside it. With `id` a
process has several operations under way; `time`, if it is given, must not go back. `"failed": true` in place of
`return` says that the operation had no effect. One that never ends may have taken effect or not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn

from quorate.base.errors import Location, TargetError, did_you_mean
from quorate.base.values import encode, register_shown, show
from quorate.histories import specifications
from quorate.histories.order import Call
from quorate.language.maps import Map
from quorate.language.operation import Operation

_KNOWN = {"process", "invoke", "return", "failed", "id", "time"}


def operations_of(module: Any = specifications) -> dict[str, type[Operation]]:
    """The operations of a module by the names that files know them by: `CompareAndSwap` is `compare-and-swap`."""
    classes = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, Operation)]
    return {re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower(): cls for cls in classes if cls is not Operation}


def read_history(text: str, file: str, known: Mapping[str, type[Operation]]) -> list[Call]:
    """The calls of a history; Q330 if the text is damaged, Q331 if its events cannot have happened in this order."""
    return _Reading(file, known).read(text)


class Decimal(NamedTuple):
    """A number that is no integer, compared as it is written; `1.5` is not `"1.5"`."""

    written: str


register_shown(Decimal, Decimal("0.5"), lambda value: value.written)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


class _Reading:
    def __init__(self, file: str, known: Mapping[str, type[Operation]]) -> None:
        self.file = file
        self.known = known
        self.calls: list[Call] = []
        self._under_way: dict[bytes, int] = {}
        self._time: float | None = None

    def read(self, text: str) -> list[Call]:
        dropped: set[int] = set()
        if not text.strip():
            raise self._damaged("the file is empty", 1)
        for place, (line, event) in enumerate(self._events(text)):
            self._look_at(event, line)
            key = encode((self._process(event, line), self._frozen(event.get("id"))))
            if "invoke" in event:
                self._begin(event, key, place, line)
                continue
            if key not in self._under_way:
                raise self._wrong(f"{_who(event)} ends an operation, and none is under way", line)
            number = self._under_way.pop(key)
            if event.get("failed") is True:
                dropped.add(number)
                continue
            call, value = self.calls[number], self._frozen(event["return"])
            if not call.operation.gives(value):
                raise self._wrong(f"{_who(event)} returns {show(value)} from {show(call.operation)}", line)
            self.calls[number] = replace(call, end=place, result=value, lines=(call.lines[0], line))
        return [call for number, call in enumerate(self.calls) if number not in dropped]

    def _begin(self, event: dict[str, Any], key: bytes, place: int, line: int) -> None:
        if key in self._under_way:
            other = self.calls[self._under_way[key]]
            raise self._wrong(
                f"{_who(event)} begins an operation while {show(other.operation)} of line {other.lines[0]} "
                "is under way",
                line,
                'one at a time, or give each an "id"',
            )
        operation = self._operation(event, line)
        self._under_way[key] = len(self.calls)
        self.calls.append(Call(str(event["process"]), operation, place, lines=(line, None)))

    def _operation(self, event: dict[str, Any], line: int) -> Operation:
        name = event["invoke"]
        cls = self.known.get(name) if isinstance(name, str) else None
        if cls is None:
            raise self._damaged(f"there is no operation {name!r}", line, did_you_mean(str(name), self.known))
        given = {key: self._frozen(value) for key, value in event.items() if key not in _KNOWN}
        try:
            return cls(**given)
        except TypeError:
            wanted = ", ".join(cls._names) or "no arguments"
            told = ", ".join(given) or "none"
            raise self._damaged(f"`{name}` takes {wanted}, and is given {told}", line) from None

    def _look_at(self, event: Any, line: int) -> None:
        if not isinstance(event, dict):
            raise self._damaged(f"{show(event)} is not an event", line, 'an event is an object: {"process": "a", ...}')
        if sum(key in event for key in ("invoke", "return", "failed")) != 1:
            hint = 'an event has one of the keys "invoke", "return" and "failed"'
            raise self._damaged(f"{json.dumps(event)} neither begins nor ends an operation", line, hint)
        time = event.get("time")
        if time is None:
            return
        if not isinstance(time, int | float) or isinstance(time, bool):
            raise self._damaged(f'"time": {json.dumps(time)} is not a number', line)
        if self._time is not None and time < self._time:
            raise self._wrong(f"the time goes back, from {self._time} to {time}", line, "sort the events by time")
        self._time = time

    def _process(self, event: dict[str, Any], line: int) -> Any:
        if not isinstance(event.get("process"), str | int):
            raise self._damaged(f"{json.dumps(event)} has no process", line, 'say whose it is: "process": "a"')
        return event["process"]

    def _frozen(self, value: Any) -> Any:
        if isinstance(value, list):
            return tuple(self._frozen(each) for each in value)
        if isinstance(value, dict):
            return Map({key: self._frozen(each) for key, each in value.items()})
        if isinstance(value, float):
            return Decimal(repr(value))
        return value

    def _events(self, text: str) -> Iterator[tuple[int, Any]]:
        """The events with their lines, of a list or one after another."""
        decoder = json.JSONDecoder(parse_constant=_no_number)
        at, line, counted = _skip(text, 0), 1, 0
        listed = text[at : at + 1] == "["
        at = _skip(text, at + 1) if listed else at
        first = True
        while at < len(text):
            line += text.count("\n", counted, at)
            counted = at
            if listed and text[at] == "]":
                if _skip(text, at + 1) < len(text):
                    raise self._damaged("there is something after the end of the list", line)
                return
            if listed and not first:
                if text[at] != ",":
                    raise self._damaged("a comma is missing between two events", line)
                at = _skip(text, at + 1)
                line += text.count("\n", counted, at)
                counted = at
            try:
                value, end = decoder.raw_decode(text, at)
            except (ValueError, RecursionError) as error:
                told = str(getattr(error, "msg", error)).partition(";")[0]
                cut = getattr(error, "pos", at) >= len(text.rstrip()) - 1 or told.startswith("Unterminated")
                where = getattr(error, "lineno", line)
                what = "the file ends in the middle of an event" if cut else f"not JSON: {told}"
                raise self._damaged(what, where, "was it cut off while it was written?" if cut else "") from None
            yield line, value
            at = _skip(text, end)
            first = False
        if listed:
            line += text.count("\n", counted)
            raise self._damaged("the list of events has no end", line, "was it cut off while it was written?")

    def _damaged(self, what: str, line: int, hint: str = "") -> TargetError:
        return TargetError(what, hint=hint, code="Q330", location=Location(self.file, line))

    def _wrong(self, what: str, line: int, hint: str = "") -> TargetError:
        return TargetError(what, hint=hint, code="Q331", location=Location(self.file, line))


def _who(event: dict[str, Any]) -> str:
    identity = f" ({json.dumps(event['id'])})" if event.get("id") is not None else ""
    return f"process {event['process']}{identity}"


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at
