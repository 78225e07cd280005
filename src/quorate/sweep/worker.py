"""One check in a process of its own: a request on standard input, one line of JSON per event on standard output.

A process per instance gives back its memory, counts its own peak, and can be ended without harm to the others.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from quorate import _core
from quorate.base.errors import QuorateError
from quorate.results.result import Progress

EVERY = 0.25  # seconds between two reports


def run_one(
    target: str, parameters: dict[str, Any], options: dict[str, Any], progress: Callable[[Progress], object] | None
) -> dict[str, Any]:
    """Check one instance. An error of the request or the model is part of the answer."""
    from quorate.model.given import restored
    from quorate.model.target import load
    from quorate.search.check import check

    try:
        system = restored(load(target), parameters)
        return check(system, progress=progress, trace=False, target=target, **options).to_json()
    except QuorateError as error:
        return {"parameters": parameters, "error": error.to_json()}


class Teller:
    """Tells events to whoever has started this process, one line each, and ends it if they are gone."""

    def __init__(self) -> None:
        # What a model prints must not get between the lines of the protocol.
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        self._parent, self._last = os.getppid(), time.monotonic()
        _core.end_with(self._parent)

    def tell(self, event: dict[str, Any]) -> None:
        self._out.write(json.dumps(event) + "\n")
        self._out.flush()

    def progress(self, now: Progress) -> None:
        if os.getppid() != self._parent:
            os._exit(1)  # whoever asked is gone
        if time.monotonic() - self._last >= EVERY:
            self._last = time.monotonic()
            self.tell({"states": now.states, "seconds": now.seconds})


def main() -> None:
    teller = Teller()
    request = json.loads(sys.stdin.read())
    teller.tell({"row": run_one(request["target"], request["parameters"], request["options"], teller.progress)})


if __name__ == "__main__":
    main()
