"""How good estimates of the number of states are: `python -m benchmarks.estimates`.

Every bundled protocol is searched to the end, with and without reductions, and the estimate that its progress line
would have shown after a tenth of the states is compared with the truth. The constants of `results/estimate.py` were
chosen on these protocols.
"""

from __future__ import annotations

from collections.abc import Sequence

from quorate import check
from quorate.model.target import load
from quorate.protocols import CATALOGUE
from quorate.results.estimate import Estimate, estimate

FEWEST = 1_000
PLAIN = {"quotient": "off", "dead_messages": "off", "symmetry": "none"}


def after(share: float, levels: Sequence[int], states: int) -> Estimate | None:
    """The estimate of a search that has found that share of its states."""
    found = int(share * states)
    last = max(at for at, start in enumerate(levels) if start <= found)
    if last == 0:
        return None
    size = (levels[last + 1] if last + 1 < len(levels) else states) - levels[last]
    left = (levels[last] - levels[last - 1]) * (1 - (found - levels[last]) / size)
    return estimate(levels[: last + 1], found, int(left) + found - levels[last])


def main() -> None:
    near = inside = total = 0
    for name in CATALOGUE:
        for kind, options in (("plain", PLAIN), ("reduced", {})):
            result = check(load(name)(), property="assertions", trace=False, timeout=20, **options)  # type: ignore[arg-type]
            if result.stopped_by is not None or result.states < FEWEST:
                continue
            guess = after(0.1, result.levels, result.states)
            total += 1
            if guess is None:
                print(f"{name:28} {kind:8} {result.states:>10,}  nothing to go by")
                continue
            off = guess.likely / result.states
            near += 1 / 3 <= off <= 3
            inside += guess.low <= result.states <= guess.high
            told = f"{guess.likely:>12,.0f}  {off:6.2f} times as many"
            print(f"{name:28} {kind:8} {result.states:>10,}  {told}  {guess.low:,.0f} to {guess.high:,.0f}")
    print(f"within a factor of 3: {near} of {total}; inside the interval: {inside} of {total}")


if __name__ == "__main__":
    main()
