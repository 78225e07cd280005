"""Ctrl-C at random moments of real commands: `python tests/interrupts/moments.py [times] [seconds] [seed]`.

What `test_interrupts.py` does phase by phase, this does blindly, process and all. Every command ends by itself or with
status 3, and none with a traceback. Before Python has got to the first line of Quorate (some hundredths of a second), a
program ends as any other does: by the signal, or with the interpreter's own words.
"""

from __future__ import annotations

import collections
import os
import random
import re
import signal
import subprocess
import sys
import time

COMMANDS = [
    "check paxos",
    "check paxos --json",
    "check faulty-paxos --trace none",
    "check paxos -p proposers=3 -p acceptors=4 --symmetry none --json",
    "check lock -p queue=false",
    "check pbft --por lpor --json",
    "plan paxos",
    "sweep ping-pong -p rally=1..3",
    "simulate paxos --runs 100000 --json",
    "profile paxos",
    "flows paxos --json",
    "prove lock --json",
    "ablate ping-pong --each 1 -j 2",
    "list",
    "automaton G(p->F(q))",
]
STATUSES = (0, 1, 3)


def main(times: int = 60, most: float = 2.0, seed: int = 0) -> int:
    dice = random.Random(seed)
    wrong = 0
    ends: collections.Counter[int] = collections.Counter()
    for number in range(times):
        words, moment = COMMANDS[number % len(COMMANDS)].split(), dice.uniform(0, most)
        process = subprocess.Popen(
            [sys.executable, "-m", "quorate", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        time.sleep(moment)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does: everyone gets it
        out, err = process.communicate(timeout=120)
        ends[process.returncode] += 1
        early = process.returncode == -signal.SIGINT and not re.search("quorate[/:]", out + err)
        if not early and (process.returncode not in STATUSES or "Traceback" in out + err):
            wrong += 1
            print(f"{' '.join(words)}, {moment:.3f} s: status {process.returncode}\n{err}")
    print(f"{times} interrupts, {wrong} wrong; by status: {dict(sorted(ends.items()))}")
    return 1 if wrong else 0


if __name__ == "__main__":
    given = sys.argv[1:]
    sys.exit(main(*map(int, given[:1]), *map(float, given[1:2]), *map(int, given[2:3])))
