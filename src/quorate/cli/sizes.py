"""Numbers as people type them: `4GB`, `512M`, `1.5GiB`; `10M` states; `2m` of time."""

import re
from collections.abc import Mapping

_BYTES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_COUNTS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "b": 10**9}
_SECONDS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}

_NUMBER = re.compile(r"^\s*(\d[\d_,]*(?:\.\d+)?(?:e\d+)?)\s*([a-z]*)\s*$", re.IGNORECASE)


def _parse(text: str, units: Mapping[str, int], example: str) -> float:
    match = _NUMBER.match(text)
    unit = match[2].lower() if match else ""
    if match is None or unit not in units:
        raise ValueError(f"{text!r} is not understood here; write for example {example}")
    # Infinity cannot be rounded. No count gets that far, so a large number does as well.
    number = min(float(re.sub(r"[_,]", "", match[1])) * units[unit], 1e300)
    if number <= 0:
        raise ValueError(f"{text!r} leaves nothing to search; write for example {example}")
    return number


def size(text: str) -> int:
    """Bytes. `4GB` and `4G` are 4 * 10**9, `4GiB` is 4 * 2**30."""
    match = _NUMBER.match(text)
    if match is not None and match[2].lower().endswith("b"):
        text = text.strip()[:-1]
    return max(1, round(_parse(text, _BYTES, "4GB or 512M")))


def number(text: str) -> int:
    """A count. `10M` is ten million."""
    return max(1, round(_parse(text, _COUNTS, "1000000 or 10M")))


def seconds(text: str) -> float:
    return _parse(text, _SECONDS, "30 or 10m")
