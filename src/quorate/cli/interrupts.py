"""Ctrl-C and SIGTERM: what they do depends on what the command is just doing, and never is a traceback.

- Starting, up to the command's own code: nobody waits for an answer yet. The program is left at once, with status 3.
- Working: KeyboardInterrupt, as everywhere in Python. A check takes Ctrl-C itself while it searches (search/limits.py),
  and answers with what it has covered.
- Answering: a verdict is known, so it is told, and its status is the exit status. The signal is only noted: files that
  are not written yet are given up. A second signal leaves at once.
- Leaving: the status is fixed, and Python cleans up. Signals are ignored.

A command runs in a child (`supervisor.py`). Its parent does not take signals in this way: it hands them on, and ends a
child that does not react. Two that come together, from a terminal and from the parent, are one (`base/echo.py`).

This is imported before anything else and imports next to nothing itself: only the start of Python is out of its reach.
"""

import _thread
import os
import sys
import time

from quorate.base.echo import forget, is_echo

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Callable
    from types import FrameType
else:
    import _signal  # `signal` itself builds its enumerations first

STOPPED = 3
MESSAGE = "interrupted before there was an answer"
_JSON = '{"schema": 1, "error": {"code": "Q506", "message": "%s", "hint": "", "file": null, "line": null}}\n'

STARTING, WORKING, ANSWERING = "starting", "working", "answering"

_phase = WORKING
_noted = 0
heard: "Callable[[], object] | None" = None
"""Told of every signal that is taken here: then the command is about to end, and is given the time for it."""


def begin() -> None:
    """Take the signals: the program starts."""
    global _phase
    _phase = STARTING
    _take()


def finish() -> None:
    """The exit status is fixed."""
    for signal in (_signal.SIGINT, _signal.SIGTERM):
        _signal.signal(signal, _signal.SIG_IGN)
    # Python remembers a KeyboardInterrupt that went through code in a text, as a dataclass is made of, even if somebody
    # caught it then: in the end it would kill itself with SIGINT, whatever the status. The next such code resets that.
    exec("")


def answering() -> None:
    """From here on signals are noted, since there is an answer to be told."""
    global _phase
    _phase = ANSWERING


def noted() -> bool:
    """Whether one came since."""
    return _noted > 0


def deliver() -> None:
    """Pass a noted signal on to a search that takes them by now: it came just before."""
    global _noted
    handler = _signal.getsignal(_signal.SIGINT)
    if _noted and callable(handler) and handler is not _interrupt:
        _noted = 0
        handler(_signal.SIGINT, None)


class command:  # noqa: N801 - used like a function
    """While a command runs: signals are taken, and given back after it to whoever calls commands from a program."""

    def __enter__(self) -> None:
        global _noted
        self._before = _phase
        self._handlers = _take()
        self._told = sys.unraisablehook
        sys.unraisablehook = self._unraisable
        _noted = 0

    def __exit__(self, *_: object) -> None:
        global _phase
        _phase = self._before
        if sys.unraisablehook == self._unraisable:
            sys.unraisablehook = self._told
        for signal, handler in self._handlers.items():
            if handler is not None and handler is not _signal.getsignal(signal):
                _signal.signal(signal, handler)

    def _unraisable(self, lost: "sys.UnraisableHookArgs") -> None:
        """A KeyboardInterrupt that falls into a finalizer or a call-back of C code is lost: here it comes again."""
        if issubclass(lost.exc_type, KeyboardInterrupt):
            _thread.start_new_thread(_again, ())  # raised here, it would be lost as well
        else:
            self._told(lost)


def _again() -> None:
    time.sleep(0.01)
    forget()
    _thread.interrupt_main()


class working:  # noqa: N801
    """Here signals raise KeyboardInterrupt, at once if one was noted before; afterwards there is an answer."""

    def __enter__(self) -> None:
        global _phase
        if _noted:
            raise KeyboardInterrupt
        _phase = WORKING

    def __exit__(self, *_: object) -> None:
        answering()


def _take() -> "dict[int, _signal._HANDLER]":
    """Handle the signals, and say who did before. One that is ignored stays so: the shell does that for `command &`."""
    before: dict[int, _signal._HANDLER] = {}
    try:
        for signal, handler in ((_signal.SIGINT, _interrupt), (_signal.SIGTERM, _terminate)):
            if _signal.getsignal(signal) is not _signal.SIG_IGN:
                before[signal] = _signal.signal(signal, handler)
    except ValueError:  # not in the main thread
        pass
    return before


def _interrupt(signum: int, frame: "FrameType | None") -> None:
    global _noted
    if is_echo():
        return
    if heard is not None:
        heard()
    if _phase == WORKING:
        raise KeyboardInterrupt
    if _phase == STARTING or _noted:
        leave()
    _noted += 1


def _terminate(signum: int, frame: "FrameType | None") -> None:
    """As Ctrl-C, whoever takes that just now; also where Ctrl-C itself is ignored, as for `command &` in a script."""
    handler = _signal.getsignal(_signal.SIGINT)
    (handler if callable(handler) else _interrupt)(signum, frame)


def leave() -> None:
    """End the program at once."""
    try:
        if _phase == STARTING and "--json" in sys.argv:
            os.write(1, (_JSON % MESSAGE).encode())
        os.write(2, f"quorate: {MESSAGE if _phase == STARTING else 'interrupted again'}\n".encode())
    finally:
        os._exit(STOPPED)
