"""Variants in a process of its own: requests on standard input, one line of JSON per event on standard output."""

from __future__ import annotations

import json
import sys

from quorate.ablation.judge import Judge
from quorate.sweep.worker import Teller


def main() -> None:
    from quorate.base.whereabouts import shown_on
    from quorate.model.given import restored
    from quorate.model.target import load

    teller = Teller()
    asked = json.loads(sys.stdin.readline())
    shown_on(asked["dump"])
    system = restored(load(asked["target"]), asked["parameters"])
    judge = Judge(
        system,
        asked["options"],
        target=asked["target"],
        properties=asked["properties"],
        each=asked["each"],
        progress=teller.progress,
    )
    judge.look()
    teller.tell({"ready": len(judge.sites)})
    for line in sys.stdin:
        teller.tell({"finding": judge.judge(int(line)).to_json()})


if __name__ == "__main__":
    main()
