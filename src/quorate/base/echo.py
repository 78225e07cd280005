"""Signals that come twice: a terminal or `timeout` signals all processes of a command, and its parent hands it on."""

import time

SECONDS = 0.3
"""Two signals so close are one."""

_last = -SECONDS


def is_echo() -> bool:
    """Whether the signal that is being handled came right after another one. Whoever handles it asks once."""
    global _last
    before, _last = _last, time.monotonic()
    return _last < before + SECONDS


def forget() -> None:
    """The next signal is no echo: whoever takes signals from now on has not heard of those before."""
    global _last
    _last = -SECONDS
