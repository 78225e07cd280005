"""SIGKILL at random moments of checks that go on then: `python tests/interrupts/kill_nine.py [times] [seed]`.

A few of the same are in the suite (tests/oracle/test_checkpoints.py).
"""

import sys
import tempfile
from pathlib import Path


def main(times: int = 60, seed: int = 0) -> None:
    sys.path[:0] = [str(Path(__file__).parents[1] / folder) for folder in ("support", "oracle")]
    from kills import killed
    from test_checkpoints import KILLED

    kills = 0
    for number, (target, options) in enumerate(KILLED):
        with tempfile.TemporaryDirectory() as folder:
            found = killed(target, options, Path(folder), -(-times // len(KILLED)), seed + number)
        kills += found.times
        print(f"{target} {options}: killed {found.times} times, went on {found.went_on} times", flush=True)
    print(f"{kills} kills, and no answer differs")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
