"""The process that a command runs under, so that something true is said whatever becomes of the command.

Code of the model that never comes back to Python (a sum over a huge range, a regular expression that backtracks, an
allocation without end) cannot be stopped from within its process: whoever would do it waits for the interpreter. So a
command runs in a child, and this process waits for it, with hardly anything loaded. It ends a child that keeps neither
its time nor its memory, or does not react to Ctrl-C, and then gives the answer in its place: how far the search had
come, and the line of the model that was running. That line comes from `faulthandler`, which needs no interpreter.

A child that keeps its limits answers by itself. QUORATE_ONE_PROCESS=1 does without, for debuggers and profilers.
"""

import json
import os
import signal
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from quorate.cli import pipe

if TYPE_CHECKING:
    from quorate.base.watchdog import Running
    from quorate.results.result import Limit, Result

GRACE = 3.0
"""Seconds that a child has to come to an end after its time is up, or after Ctrl-C."""
SHOWING = 40.0
"""Seconds, or the time of the check if that is more, to show what was found; ten times as many to write files."""
OVER_MEMORY = 0.4
"""Seconds that a child may be above its limit on memory: it looks ten times a second itself."""
SLOW = 5.0
"""Seconds without a word after which the user is told which line of the model is running; then after twice as many."""
SAVING = 60.0
"""Seconds without a word while it writes a checkpoint: it says something for every part that is written."""
LOOK = 0.05

_HANDLED = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
_CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP, signal.SIGSYS)
"""What comes of a defect in C code."""


def supervise() -> None:
    """Return in a child; the process that was called waits for it here, and ends as it does."""
    if os.environ.get("QUORATE_ONE_PROCESS") or not hasattr(signal, "sigtimedwait"):
        return
    # What is ignored, as by a shell that starts something in the background, stays so.
    handled = [each for each in _HANDLED if signal.getsignal(each) is not signal.SIG_IGN]
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [*handled, signal.SIGCHLD])
    from_child, to_parent = os.pipe()
    from_dump, to_dump = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        os.close(from_child)
        os.close(from_dump)
        pipe.opened(to_parent, parent)
        from quorate.base.whereabouts import shown_on

        shown_on(to_dump)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return
    os.close(to_parent)
    os.close(to_dump)
    os.set_blocking(from_child, False)
    os.set_blocking(from_dump, False)
    Supervisor(child, from_child, from_dump, handled).wait()


class Supervisor:
    """Waits for a child, and knows what it last said."""

    def __init__(self, child: int, said: int, dump: int, handled: list[signal.Signals]) -> None:
        self.child = child
        self.handled = handled
        self._said, self._dump = said, dump
        self._rest = b""
        self.begun: dict[str, Any] | None = None
        """What was asked for, if this is a check: target, form of the answer, limits."""
        self.progress: dict[str, Any] = {}
        self.properties: list[dict[str, Any]] = []
        """What is asked for, as it stands as long as nothing is decided."""
        self.result: dict[str, Any] | None = None
        self.status: int | None = None
        """The exit status, once the answer was shown."""
        self.phase = ""
        self._started = self._heard = self._turned = time.monotonic()
        self._asked_to_end: float | None = None
        self._times_asked = 0
        self._reacted = False
        """It took a signal outside of a search, so it is about to end by itself."""
        self._json = False
        self._working = False
        """The command's own code has begun, and with it the model's may."""
        self._over: float | None = None
        """When the command was over; the status is fixed then."""
        self._limit: float | None = None
        """When the time is up of what the child is doing, if it is no check; that has a limit for all that it does."""
        self._alive = self._started
        """When it last said that Python gets on, and that its limit is kept."""
        self._over_memory: float | None = None
        self._slow = SLOW
        self._saved = 0.0
        """When it was last seen to write a checkpoint."""

    def wait(self) -> NoReturn:
        while True:
            self._take(signal.sigtimedwait([*self.handled, signal.SIGCHLD], LOOK))
            self._listen()
            ended, how = os.waitpid(self.child, os.WNOHANG)
            if ended:
                self._listen()
                self._finish(how)
            reason = self._overdue()
            if reason is not None:
                self._end(reason)
            self._tell_if_slow()
            if self._over is not None and time.monotonic() > self._over + GRACE:
                self._end_what_is_left()

    # --- what the child says, and what others say to it --------------------------------------------------------------

    def _listen(self) -> None:
        with suppress(BlockingIOError):
            while chunk := os.read(self._said, 1 << 16):
                self._rest += chunk
        *lines, self._rest = self._rest.split(b"\n")
        for line in lines:
            self._note(json.loads(line))

    def _note(self, message: dict[str, Any]) -> None:
        if message.keys() & {"limit", "alive"}:
            self._alive = time.monotonic()
        if "alive" in message:  # an endless loop gets on, too
            return
        self._heard = time.monotonic()
        self._slow = SLOW
        if "limit" in message:
            self._limit = None if message["limit"] is None else self._heard + message["limit"]
        if "json" in message:
            self._working, self._json = True, message["json"]
        if "begin" in message:
            self.begun, self._started = message["begin"], self._heard
        if "instance" in message and self.begun is not None:
            self.begun |= message["instance"]
        if "progress" in message:
            if not self.progress:  # its clock begins where the file is loaded
                self._started = self._heard - message["progress"]["seconds"]
            self.progress = message["progress"]
        self.properties = message.get("properties", self.properties)
        if "heard" in message:
            self._reacted = True
        if "result" in message:
            self.result = message["result"]
        if "status" in message:
            self.status = message["status"]
        if "over" in message:
            self._over = self._heard
        if message.get("phase", self.phase) != self.phase:
            self.phase, self._turned = message["phase"], self._heard

    def _take(self, info: "signal.struct_siginfo | None") -> None:
        """Hand a signal on. One of the terminal (Ctrl-C) has reached the child already."""
        if info is None or info.si_signo == signal.SIGCHLD:
            return
        self._times_asked += 1
        self._asked_to_end = self._asked_to_end or time.monotonic()
        if info.si_code <= 0:  # from a process; what is above comes from the system
            os.kill(self.child, info.si_signo)

    # --- limits --------------------------------------------------------------------------------------------------

    def _overdue(self) -> "Limit | None":
        """Why the child is to be ended now."""
        now = time.monotonic()
        if self.phase == "checkpoint" and self._times_asked < 2 and now < self._heard + SAVING:
            self._saved, self._over_memory = now, None
            return None
        if self._asked_to_end is not None:
            patience = SHOWING if self._reacted else GRACE
            patience = patience if self._times_asked < 2 else min(1.0, patience)
            if now > max(self._asked_to_end, self._saved) + patience:
                return "interrupt"
        if self.begun is None:
            return "time" if self._is_stuck(now) else None
        timeout = self.begun["timeout"]
        if self.phase == "output":
            # The verdict is known. It is shown, and then files are written, unless the model keeps that from ending.
            patience = SHOWING if self.status is None else 10 * SHOWING
            return "time" if timeout is not None and now > self._turned + max(timeout, patience) else None
        patience = GRACE if self.phase != "replay" else 5 * GRACE  # what was found is made ready to be shown
        if timeout is not None and now > max(self._started + timeout, self._turned) + patience:
            return "time"
        return "memory" if self._takes_too_much(now) else None

    def _is_stuck(self, now: float) -> bool:
        """Whether the time is up of a command other than a check, in a call of the model that cannot be stopped."""
        if self._limit is None or self.status is not None or now < max(self._limit, self._alive) + GRACE:
            return False
        self._alive = now  # until it is looked at again
        return self._where() is not None

    def _takes_too_much(self, now: float) -> bool:
        assert self.begun is not None
        if self.phase == "replay" or resident(self.child) <= self.begun["memory"]:
            self._over_memory = None
            return False
        self._over_memory = self._over_memory or now
        return now > self._over_memory + OVER_MEMORY

    def _tell_if_slow(self) -> None:
        if self.begun is None or self.phase == "output" or time.monotonic() < self._heard + self._slow:
            return
        running = self._where()
        if running is not None:
            seconds = int(time.monotonic() - self._heard)
            clear = "\r\x1b[K" if sys.stderr.isatty() else ""
            what = f"{running.what} has been running for {seconds} s, in {running.file}:{running.line}"
            print(f"{clear}quorate: {what}; Ctrl-C stops it", file=sys.stderr, flush=True)
        self._slow *= 2

    def _where(self) -> "Running | None":
        """Which line of the model the child is in."""
        from quorate.base.whereabouts import where

        return where(self.child, self._dump)

    # --- the end -------------------------------------------------------------------------------------------------

    def _finish(self, how: int) -> NoReturn:
        """As the child has ended, if that is what Quorate did: the model can end a process, with any status."""
        from quorate.cli.errors import STOPPED

        if os.WIFEXITED(how):
            status = os.WEXITSTATUS(how)
            if self._over is not None and self.status is not None:
                os._exit(self.status)
            if not self._working or (self._reacted and status == STOPPED):
                os._exit(status)
            hint = "os._exit, os.exec or a library did that: use an assert for what must not happen"
            self._ended_by_model(f"the model ended the check, by an exit with status {status}", hint, None)
        number = os.WTERMSIG(how)
        if number in (signal.SIGKILL, signal.SIGXCPU) and _processor_time_is_up():
            self._answer(
                "time", None, "the system ended the check; most likely its limit on processor time was reached"
            )
        if number == signal.SIGKILL and self._asked_to_end is None:
            self._answer("memory", None, "the system ended the check; most likely there was no memory left")
        if number in _HANDLED:
            signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
            os.kill(os.getpid(), number)
        name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
        if number not in _CRASHES:
            self._answer(
                "interrupt", None, f"{name} ended the check; a limit of the system, the model or someone else sent it"
            )
        from quorate.base.whereabouts import crashed_in

        running = crashed_in(self._dump)
        if running is not None:
            hint = "code in C that this line calls is at fault: an extension module, ctypes, os.abort"
            self._ended_by_model(f"the model ended the check: {name} in {running.what}", hint, running)
        hint = "a bug in Quorate, or in a library that the model uses; please report it with the model"
        self._complain(f"the check was ended by {name}", hint, "Q900", None)

    def _ended_by_model(self, message: str, hint: str, running: "Running | None") -> NoReturn:
        if self.result is not None and self.status is None:
            self._tell_result(message)
        self._complain(message, hint, "Q119", running)

    def _complain(self, message: str, hint: str, code: str, running: "Running | None") -> NoReturn:
        from quorate.base.errors import Location, QuorateError
        from quorate.cli.errors import WRONG, complain

        location = Location(running.file, running.line) if running is not None else None
        error = QuorateError(message, hint=hint, code=code, location=location)
        complain(error, as_json=self._json and self.status is None)
        self._exit(WRONG if self.status is None else self.status)

    def _end_what_is_left(self) -> NoReturn:
        """End a child whose command is over: Python waits for every thread and process that the model has started."""
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        print("quorate: ended, with what was still running in its process", file=sys.stderr)
        assert self.status is not None
        self._exit(self.status)

    def _end(self, reason: "Limit") -> NoReturn:
        """Leave a child behind that does not come to its end."""
        running = self._where()
        ended, how = os.waitpid(self.child, os.WNOHANG)
        if ended:
            self._listen()
            self._finish(how)
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        self._listen()
        self._answer(reason, running)

    def _answer(self, reason: "Limit", running: "Running | None", note: str = "") -> NoReturn:
        """Say in place of the child what is known."""
        from quorate.cli.errors import STOPPED

        where = f" in {running.what}, {running.file}:{running.line}" if running is not None else ""
        if self.status is not None or self.begun is None:
            why = f"stopped{where}{f': {note}' if note else ''}"
            if self._json and self.status is None:
                error = {"code": "Q506", "message": why, "hint": "", "file": None, "line": None}
                print(json.dumps({"schema": 1, "error": error}))
            print(f"quorate: {why}", file=sys.stderr)
            self._exit(STOPPED if self.status is None else self.status)
        if self.result is not None:
            self._tell_result(f"stopped{where}")
        from quorate.cli.check import show_result

        if note:
            print(f"quorate: {note}", file=sys.stderr)
        result = self._partial(reason, running)
        if self.begun["json"]:
            print(json.dumps(result.to_json() | {"parameters": self.begun.get("parameters", {})}))
        else:
            show_result(result, as_json=False, trace=None, witnesses=False, save=None)
        self._exit(STOPPED)

    def _tell_result(self, why: str) -> NoReturn:
        """The verdict, without the run that the child could not show."""
        from quorate.cli.errors import HOLDS, STOPPED, VIOLATED

        assert self.result is not None
        verdict = self.result["verdict"]
        if self._json:
            print(json.dumps(self.result))
        else:
            what = f"{self.result['system']}: {verdict}"
            what += f", {self.result['property']}" if self.result["property"] is not None else ""
            print(f"{what} ({self.result['states']:,} states)")
        print(f"quorate: {why} while the run was shown", file=sys.stderr)
        self._exit({"holds": HOLDS, "violated": VIOLATED, "incomplete": STOPPED}[verdict])

    def _partial(self, reason: "Limit", running: "Running | None") -> "Result":
        import resource

        from quorate.results.result import PropertyOutcome, Result
        from quorate.search.limits import peak_memory

        assert self.begun is not None
        figures = {name: self.progress.get(name, 0) for name in ("states", "transitions", "frontier", "depth")}
        return Result(
            system=self.begun.get("system", self.begun["target"]),
            search=self.begun["search"],
            store=self.begun["store"],
            threads=self.begun["threads"],
            environment=self.begun["environment"],
            target=self.begun["target"],
            parameters={name: _plain(value) for name, value in self.begun.get("parameters", {}).items()},
            verdict="incomplete",
            properties=tuple(PropertyOutcome(**each) for each in self.properties),
            **figures,
            seconds=time.monotonic() - self._started,
            peak_memory_bytes=peak_memory(resource.RUSAGE_CHILDREN),
            stopped_by=reason,
            running=running,
        )

    def _exit(self, status: int) -> NoReturn:
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _processor_time_is_up() -> bool:
    import resource

    limit = min(each for each in (*resource.getrlimit(resource.RLIMIT_CPU), sys.maxsize) if each >= 0)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime > limit / 2  # the system's clock for that is a coarse one


def _plain(value: Any) -> Any:
    """A parameter as it is shown; of what is no number or text, the name."""
    return value.get("name", "...") if isinstance(value, dict) else value


def resident(process: int) -> int:
    """The memory that a process takes, in bytes; 0 where that cannot be known."""
    try:
        with open(f"/proc/{process}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0
