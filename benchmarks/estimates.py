"""How good estimates of the number of states are: `python -m benchmarks.estimates`.

Every bundled protocol is searched to the end, with and without reductions, and the estimate that its progress line
would have shown after a hundredth of the states, and later, is compared with the truth. The constants of
`results/estimate.py` were chosen on these protocols.
"""

from __future__ import annotations

from collections.abc import Sequence

from quorate import check
from quorate.model.define import define
from quorate.model.target import load
from quorate.protocols import CATALOGUE
from quorate.results.estimate import Estimate, estimate
from quorate.search.probes import longest_run

FEWEST = 1_000
SHARES = (0.01, 0.1, 0.3, 0.6)
PLAIN = {"quotient": "off", "dead_messages": "off", "symmetry": "none"}


def after(share: float, levels: Sequence[int], states: int, horizon: int | None) -> Estimate | None:
    """The estimate of a search that has found that share of its states; random runs take so many steps at most."""
    found = int(share * states)
    last = max(at for at, start in enumerate(levels) if start <= found)
    if last == 0:
        return None
    size = (levels[last + 1] if last + 1 < len(levels) else states) - levels[last]
    left = (levels[last] - levels[last - 1]) * (1 - (found - levels[last]) / size)
    return estimate(levels[: last + 1], found, int(left) + found - levels[last], horizon=horizon)


def main() -> None:
    sums = {share: [0, 0, 0] for share in SHARES}
    for name in CATALOGUE:
        horizon = longest_run(define(load(name)()))
        for kind, options in (("plain", PLAIN), ("reduced", {})):
            result = check(load(name)(), property="assertions", trace=False, timeout=20, **options)  # type: ignore[arg-type]
            if result.stopped_by is not None or result.states < FEWEST:
                continue
            told = f"{name:28} {kind:8} {result.states:>10,}"
            for share, found in sums.items():
                guess = after(share, result.levels, result.states, horizon)
                found[2] += 1
                if guess is None:
                    told += "  nothing to go by"
                    continue
                off = guess.likely / result.states
                found[0] += 1 / 3 <= off <= 3
                found[1] += guess.low <= result.states <= guess.high
                told += f"  {off:5.2f} times ({guess.low / result.states:.2f} to {guess.high / result.states:.1f})"
            print(told, flush=True)
    for share, (near, inside, total) in sums.items():
        says = f"within a factor of 3: {near} of {total}; inside the interval: {inside} of {total}"
        print(f"after {share:.0%} of the states, {says}")


if __name__ == "__main__":
    main()
