"""Stopping code of the model that runs for long.

How long a handler takes says nothing about the protocol, so no verdict comes of it: it runs until it ends, until a
limit of the check is reached, or until the user has had enough. A limit gets into the model's code as an exception.
Ctrl-C comes in the thread itself; for time and memory a patrol, a thread of its own, comes by ten times a second.

Whatever becomes of the exception, a call that was hit has no answer. Code that catches it would go on with a part of
its work undone: what it returns then, or what error it makes of it, is not what the protocol does. Where Python itself
takes the exception, as in finalizers and call-backs of C code, the patrol raises it again.

Nothing gets into code that never comes back to Python, such as a sum over a huge range. The command line has a process
of its own for that (`cli/supervisor.py`); in other programs only what follows such a call is stopped.
"""

from __future__ import annotations

import _thread
import os
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import NamedTuple, TypeVar

from quorate.base.errors import Location, Signal, is_model_file

T = TypeVar("T")

PATROL_SECONDS = 0.1


class Running(NamedTuple):
    """The code of the model that was running when something was stopped."""

    what: str
    file: str
    line: int


class Halted(Signal):
    """The model's code was stopped: a limit was reached, or it was interrupted, or there is no more memory."""

    # Not set by a constructor of ours: the next blow might fall in there, and the place of the first would be lost.
    out_of_memory = False
    running: Running | None = None

    @staticmethod
    def without_memory(where: Running | None = None) -> Halted:
        made = Halted()
        made.out_of_memory = True
        made.running = where
        return made


class Watch:
    """Who is watched, and what the patrol and the watched thread tell each other.

    `running` says that the model's code runs, and `serial` which call that is. While the patrol is `striking`, it
    decides whether to stop it; `struck` says that it has done so. `hit` says so until the next call, also of Ctrl-C.
    `lost` says that a blow has come to nothing.
    """

    __slots__ = (
        "_outer",
        "_over",
        "_owner",
        "hit",
        "lost",
        "running",
        "serial",
        "striking",
        "struck",
        "thread",
        "wanted",
    )

    def __init__(self, wanted: Callable[[], bool]) -> None:
        self.wanted = wanted
        """Whether the model's code is to stop. Asked by the patrol, in its own thread."""
        self.thread = _thread.get_ident()
        self.running = self.striking = self.struck = self.hit = self.lost = False
        self.serial = 0
        self._over = _thread.allocate_lock()
        self._outer: Watch | None = None

    def begin(self) -> None:
        """Watch this thread from now on. A watch within another one takes its place until it ends."""
        import threading

        self._owner = threading.current_thread()
        self._outer = _watches.get(self.thread)
        _lost_blows_are_silent()  # also where another thread is watched already: somebody may have put in another hook
        _watches[self.thread] = self
        self._over.acquire()
        begun = _thread.allocate_lock()
        begun.acquire()
        _thread.start_new_thread(self._patrol, (begun,))
        begun.acquire()  # until it runs, Python takes its number for the one of this thread

    def end(self) -> None:
        self._over.release()
        if self._outer is None:
            _watches.pop(self.thread, None)
            if not _watches:
                _lost_blows_are_told()
        else:
            _watches[self.thread] = self._outer

    def stand_down(self) -> None:
        """From here on no blow hits this thread: none is dealt any more; one that has not yet fallen is waited for."""
        self.running = False
        while self.striking or self.struck:
            try:
                while self.striking:
                    time.sleep(0.001)
                if self.struck:
                    # Whether it has fallen cannot be known, but there is never more than one to come: this takes its
                    # place.
                    self.struck = self.lost = False
                    _raise_in(self.thread)
                    # One that falls into a finalizer is lost: then none is to come any more.
                    for _ in range(1000):
                        time.sleep(0.001)
                        if self.lost:
                            break
            except Halted:
                continue

    def strike(self) -> None:
        """Stop the model's code, if it runs and is to be stopped. Code that catches everything is hit again later."""
        self.striking = True
        try:
            if self.running and self.wanted() and self.running:
                self.struck = self.hit = True
                self.lost = False
                _raise_in(self.thread)
        finally:
            self.striking = False

    def require_not_hit(self) -> None:
        """At the end of a call: raises if it was hit, whatever the model has made of that."""
        if self.hit:
            raise Halted

    def cpu_seconds(self) -> float:
        """The time that the watched thread has had, which hardly depends on what else the machine does."""
        if sys.platform == "darwin":
            return time.monotonic()  # it does not tell
        return time.clock_gettime(time.pthread_getcpuclockid(self.thread))

    def is_in_model(self) -> bool:
        """Whether it is the model's own code that runs, rather than ours that may take long as well."""
        frame = sys._current_frames().get(self.thread)
        while frame is not None and frame.f_code is not supervised.__code__:
            if is_model_file(frame.f_code.co_filename):
                return True
            frame = frame.f_back
        return False

    def _patrol(self, begun: _thread.LockType) -> None:
        begun.release()
        last = 0.0
        while not self._over.acquire(timeout=PATROL_SECONDS):
            if not self._owner.is_alive():  # its number may be another thread's by now
                return
            # What was struck may take its time to get out, freeing what it held.
            if self.running and (not self.struck or self.lost or time.monotonic() > last + 1):
                self.strike()
                last = time.monotonic()
            if alive is not None and not self.struck:
                alive()


alive: Callable[[], object] | None = None
"""Told by every patrol that has found nothing amiss: Python gets on, and no blow is waited for."""

_watches: dict[int, Watch] = {}
os.register_at_fork(after_in_child=_watches.clear)  # patrols are threads, and threads do not survive a fork


_told: Callable[[sys.UnraisableHookArgs], object] | None = None
"""What took exceptions that nobody can catch, before anybody was watched."""


def _lost_blows_are_silent() -> None:
    """A blow that falls into a finalizer or a call-back of C code is lost, and dealt again: nothing to tell of."""
    global _told
    if sys.unraisablehook is not _unraisable:
        _told, sys.unraisablehook = sys.unraisablehook, _unraisable


def _lost_blows_are_told() -> None:
    global _told
    if sys.unraisablehook is _unraisable and _told is not None:
        sys.unraisablehook, _told = _told, None


def _unraisable(lost: sys.UnraisableHookArgs) -> None:
    if not issubclass(lost.exc_type, Halted):
        (_told or sys.__unraisablehook__)(lost)
        return
    watch = _watches.get(_thread.get_ident())
    if watch is not None:
        watch.lost = True  # the patrol sees to it: one that is dealt here falls into this function


def supervised(run: Callable[[], T]) -> T:
    """Run code of the model. Halted if the check is to stop meanwhile, or if there is not enough memory for it."""
    watch = _watches.get(_thread.get_ident())
    try:
        if watch is None:
            return run()
        if watch.running:
            try:
                return run()
            finally:
                watch.require_not_hit()
        try:
            watch.serial += 1
            watch.hit = False
            watch.running = True
            return run()
        finally:
            watch.stand_down()
            watch.require_not_hit()
    except Halted as halted:
        if watch is not None:
            watch.stand_down()  # the blow may have fallen before that was done
        halted.running = _place(halted)
        raise
    except MemoryError as error:
        # Whether there is enough depends on the machine, and on what the search has taken: nothing about the protocol.
        raise Halted.without_memory(running(error.__traceback__)) from None


def _place(halted: BaseException | None) -> Running | None:
    """Where the model was stopped. A blow that falls right after another, on its way out, knows nothing by itself."""
    while halted is not None:
        found = halted.running if isinstance(halted, Halted) else None
        found = found or running(halted.__traceback__)
        if found is not None:
            return found
        halted = halted.__context__
    return None


def running(traceback: TracebackType | None) -> Running | None:
    """The model's function that was called, and the line within it, or within what it called, that was reached."""
    what: str | None = None
    place: Location | None = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if is_model_file(code.co_filename):
            what = what or code.co_qualname
            place = Location(code.co_filename, traceback.tb_lineno)
        traceback = traceback.tb_next
    return Running(what.replace("<locals>.", ""), place.file, place.line) if what and place is not None else None


def _raise_in(thread: int) -> None:
    """Raise Halted in a thread, as soon as it gets on."""
    import ctypes

    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Halted))
