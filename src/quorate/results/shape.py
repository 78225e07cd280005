"""What a saved run must look like before anything in it is believed.

The same as docs/schemas/run.schema.json says, as far as a replay relies on it; written by hand, because a validator of
JSON Schema would take longer to import than most replays take. The test suite holds the two against each other.

A shape is a function that looks at a value and raises `Misshapen`, which collects the way to the value as it passes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from quorate.options import LEVELS

Shape = Callable[[Any], None]

LONGEST = 60  # characters of a value that is quoted


class Misshapen(Exception):  # noqa: N818 - never seen by a user: `load` turns it into an error with a code
    """What is wrong, and where: `trace.steps[2].kind`."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why
        self.path = ""

    def below(self, key: str | int) -> Misshapen:
        """The same, seen from one level above."""
        step = f"[{key}]" if isinstance(key, int) else key if key.isidentifier() else f"[{json.dumps(key)}]"
        dot = "." if self.path and not self.path.startswith("[") else ""
        self.path = f"{step}{dot}{self.path}"
        return self

    def __str__(self) -> str:
        return f"{self.path} {self.why}" if self.path else f"it {self.why}"


def _quoted(value: Any) -> str:
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, int) and abs(value) >= 10**LONGEST:
        return "a huge number"
    text = json.dumps(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _of_type(name: str, *types: type) -> Shape:
    def check(value: Any) -> None:
        if type(value) not in types:  # exactly: True is no number here, and neither is 1.0
            raise Misshapen(f"is {_quoted(value)}, not {name}")

    return check


text = _of_type("a text", str)
text_or_null = _of_type("a text or null", str, type(None))
flag = _of_type("true or false", bool)
whole = _of_type("a whole number", int)
whole_or_null = _of_type("a whole number or null", int, type(None))


def natural(value: Any) -> None:
    whole(value)
    if value < 0:
        raise Misshapen(f"is {_quoted(value)}, which is negative")


def one_of(*choices: Any) -> Shape:
    def check(value: Any) -> None:
        if not any(type(value) is type(choice) and value == choice for choice in choices):
            raise Misshapen(f"is {_quoted(value)}, not {' or '.join(map(_quoted, choices))}")

    return check


def each(shape: Shape, length: int | None = None) -> Shape:
    def check(value: Any) -> None:
        if type(value) is not list:
            raise Misshapen(f"is {_quoted(value)}, not a list")
        if length is not None and len(value) != length:
            raise Misshapen(f"has {len(value)} items, not {length}")
        for number, item in enumerate(value):
            try:
                shape(item)
            except Misshapen as error:
                raise error.below(number) from None

    return check


def by_name(shape: Shape) -> Shape:
    """An object with any keys."""

    def check(value: Any) -> None:
        if type(value) is not dict:
            raise Misshapen(f"is {_quoted(value)}, not an object")
        for key, item in value.items():
            try:
                shape(item)
            except Misshapen as error:
                raise error.below(key) from None

    return check


def record(needed: Mapping[str, Shape], optional: Mapping[str, Shape] | None = None, *, closed: bool = False) -> Shape:
    """An object with these keys; others are ignored, unless it is closed."""
    known = {**needed, **(optional or {})}

    def check(value: Any) -> None:
        if type(value) is not dict:
            raise Misshapen(f"is {_quoted(value)}, not an object")
        missing = [key for key in needed if key not in value]
        if missing:
            raise Misshapen(f"has no {' and no '.join(f'`{key}`' for key in missing)}")
        for key, item in value.items():
            if key in known:
                try:
                    known[key](item)
                except Misshapen as error:
                    raise error.below(key) from None
            elif closed:
                raise Misshapen(f"has a key {_quoted(key)}, which has no meaning there")

    return check


def or_null(shape: Shape) -> Shape:
    return lambda value: None if value is None else shape(value)


# --- values ----------------------------------------------------------------------------------------------------


def value(found: Any) -> None:
    """A value of a model: simple ones are themselves, others say in `$` what they are."""
    if type(found) is not dict:
        if found is not None and type(found) not in (bool, int, str):
            raise Misshapen(f"is {_quoted(found)}, not a value")
        return
    kind = found.get("$")
    shape = _KINDS.get(kind) if isinstance(kind, str) else None
    if shape is None:
        raise Misshapen(f"is a value of an unknown kind, `$` is {_quoted(kind)}")
    shape(found)


def _matching(pattern: str, name: str) -> Shape:
    def check(found: Any) -> None:
        text(found)
        if re.fullmatch(pattern, found) is None:
            raise Misshapen(f"is {_quoted(found)}, not {name}")

    return check


_hexadecimal = _matching("([0-9a-f]{2})*", "bytes in hexadecimal")
_number = _matching("-?[0-9a-f]+", "a hexadecimal number")


fields = by_name(value)


def _kind(**keys: Shape) -> Shape:
    return record({"$": text, **keys}, closed=True)


_named = {"type": text, "fields": fields}
_KINDS: dict[str, Shape] = {
    "bytes": _kind(hex=_hexadecimal),
    "int": _kind(hex=_number),
    "enum": _kind(type=text, name=text),
    "process": _kind(name=text),
    "rank": _kind(number=natural),
    "scalar": _kind(type=text, name=text),
    "cell": _kind(name=text),
    "tuple": _kind(items=each(value)),
    "set": _kind(items=each(value)),
    "map": _kind(items=each(each(value, 2))),
    "record": _kind(**_named),
    "message": record({"$": text, **_named}, {"sender": text}, closed=True),
    "event": record({"$": text, **_named}, {"source": text}, closed=True),
}


# --- a run -----------------------------------------------------------------------------------------------------

message = record({**_named, "sender": text}, closed=True)
event = record({**_named, "source": text}, closed=True)
sent = each(record({"to": text, "message": message}, {"delivered": flag}))

state = record({"processes": by_name(fields), "in_flight": sent, "budget": each(natural, 3)}, closed=True)

step = record(
    {
        "kind": one_of("step", "lose", "duplicate", "crash", "recover", "discard", "deliver"),
        "process": text,
        "transition": text_or_null,
        "consumed": each(message),
        "choices": each(value),
        "changes": each(record({"process": text, "field": text, "before": value, "after": value}, closed=True)),
        "sent": sent,
        "events": each(event),
        "failure": or_null(
            record(
                {"kind": one_of("assertion", "exception", "model"), "text": text, "file": text, "line": whole},
                closed=True,
            )
        ),
    },
    {"number": natural, "place": natural, "in_flight": sent},
)


def run(version: int) -> Shape:
    """A run as a replay needs it; the rest of what `--save` writes follows from it."""
    return record(
        {
            "version": one_of(version),
            "kind": one_of("violation", "witness"),
            "property": text,
            "shortest": flag,
            "initial": state,
            "steps": each(step),
        },
        {
            "reason": each(text),
            "byzantine": each(text),
            "shortened_from": whole_or_null,
            "loop_from": natural,
            "fairness": one_of(*LEVELS),
            "crashed": each(text),
            "start": one_of("any"),
        },
    )


environment = record(
    {},
    {
        "network_model": one_of("m", "grm", "rm"),
        "crash": one_of("implicit", "explicit"),
        "crashes": natural,
        "byzantine": by_name(natural),
    },
    closed=True,  # a fault that is not understood cannot be left out
)


def saved(version: int) -> Shape:
    """A run with what is needed to find its model again."""
    return record(
        {"version": one_of(version), "target": text, "parameters": fields, "trace": run(version)},
        {"system": text, "environment": environment},
    )
