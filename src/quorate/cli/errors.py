"""How a command ends: the exit statuses, and errors without tracebacks."""

import errno
import functools
import json
import os
import sys
from collections.abc import Callable
from typing import NoReturn, ParamSpec

import typer

from quorate.base.errors import LimitError, Location, MessagesRead, QuorateError
from quorate.base.watchdog import Halted, Running, running
from quorate.cli import interrupts

HOLDS, VIOLATED, WRONG, STOPPED, UNCOVERED = 0, 1, 2, 3, 4
NOBODYS = ("Q506", "Q507", "Q512")
"""Nobody did anything wrong: it was stopped before there was an answer, or a worker of a distributed search is gone."""

LONGEST = 200
"""Characters of a source line that are shown; a file of data may be a single line."""
_REFUSALS = (errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EAGAIN, errno.ENOMEM)

P = ParamSpec("P")


def guarded(command: Callable[P, int]) -> Callable[P, NoReturn]:
    """Run a command, turn what it returns into the exit status and whatever goes wrong into a message."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> NoReturn:
        from quorate.cli import pipe
        from quorate.cli.output import apart

        pipe.attach()
        as_json = bool(kwargs.get("as_json"))
        pipe.tell(json=as_json)
        status = WRONG
        try:
            with interrupts.command(), apart() as own:
                status = _status(lambda: command(*args, **kwargs), as_json=as_json)
                own.flush()
                if own.failed is not None and not own.gone:
                    complain(QuorateError(f"cannot write to standard output: {own.failed.strerror}", code="Q310"))
                    status = status or WRONG  # 0 would say that all is well, and the answer did not arrive
        finally:
            pipe.tell(status=status, over=True)
        raise typer.Exit(status)

    return run


def _status(command: Callable[[], int], *, as_json: bool) -> int:
    try:
        with interrupts.working():
            return command()
    except QuorateError as error:
        complain(error, as_json=as_json)
        return STOPPED if error.code in NOBODYS else WRONG
    except MessagesRead as read:
        complain(read.refused("this command"), as_json=as_json)
        return WRONG
    except KeyboardInterrupt as error:
        models = unexpected(error)
        if models.code != "Q900":  # it was no signal: a line of the model says so
            complain(models, as_json=as_json)
            return WRONG
        return _stopped(interrupts.MESSAGE, as_json=as_json)
    except MemoryError as error:
        return _stopped(_out_of_memory(running(error.__traceback__)), as_json=as_json)
    except Halted as halted:
        why = _out_of_memory(halted.running) if halted.out_of_memory else f"stopped{_in(halted.running)}"
        return _stopped(why, as_json=as_json)
    except BaseException as error:
        if os.environ.get("QUORATE_TRACEBACK"):
            raise
        complain(unexpected(error), as_json=as_json)
        return WRONG


def _in(place: Running | None) -> str:
    return f" in {place.what}, {place.file}:{place.line}" if place is not None else ""


def _out_of_memory(place: Running | None) -> str:
    return f"out of memory{_in(place) or '; try --spill, --store fingerprint or smaller parameters'}"


def _stopped(why: str, *, as_json: bool) -> int:
    """There is no answer, and nobody is wrong."""
    if as_json:
        complain(LimitError(why, code="Q506"), as_json=True)
    from quorate.cli.output import err

    print(f"quorate: {why}", file=err())
    return STOPPED


def complain(error: QuorateError, *, as_json: bool = False) -> None:
    """An error for a person, or as the one object that `--json` promises."""
    if as_json:
        from quorate.cli.output import out

        print(json.dumps({"schema": 1, "error": error.to_json()}), file=out())
        return
    from quorate.cli.output import err, show
    from quorate.render.layout import Page, Piece

    page = Page()
    first, *rest = error.message.splitlines() or [""]
    page.add(Piece(f"error {error.code}: ", "bad"), first, hanging=2)
    page.lines.extend((Piece(f"  {line}" if line else ""),) for line in rest)  # a run, laid out already
    if error.location is not None:
        page.lines.append((Piece(f"  {error.location}", "faint"),))
        source = _source_line(error.location.file, error.location.line)
        if source:
            page.lines.append((Piece(f"      {source}"),))
    for number, line in enumerate(error.hint.splitlines()):
        page.add("  ", Piece("hint: " if number == 0 else "      ", "open"), line, hanging=8)
    show(page, err())


def _source_line(file: str, line: int) -> str:
    import linecache

    source = linecache.getline(file, line).strip()
    return source if len(source) <= LONGEST else source[: LONGEST - 1] + "…"


def unexpected(error: BaseException) -> QuorateError:
    """An error that nobody has foreseen: the model's, if it was raised there, else ours."""
    from quorate.base.failures import model_at_fault

    models = model_at_fault(error)
    if models is not None:
        return models
    return _internal(error)


def escaped(error: Exception) -> NoReturn:
    """End with what came from outside of any command, so from no model. Its status is never that of a verdict."""
    try:
        if not os.environ.get("QUORATE_TRACEBACK"):
            complain(_internal(error), as_json="--json" in sys.argv)
        else:
            sys.excepthook(type(error), error, error.__traceback__)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # the system refuses what it takes to say it well
        os.write(2, f"quorate: {error!r}\n".encode("ascii", "backslashreplace"))
    finally:
        os._exit(WRONG)


def _internal(error: BaseException) -> QuorateError:
    import traceback

    from quorate.base.failures import described

    # What Python says if there is no thread to be had, and what the core says.
    no_thread = isinstance(error, RuntimeError) and str(error) in ("can't start new thread", os.strerror(errno.EAGAIN))
    if no_thread or (isinstance(error, OSError) and error.errno in _REFUSALS):
        hint = "a limit on processes or memory: --threads and -j ask for fewer" if no_thread else ""
        return QuorateError(f"the system refuses what is needed: {described(error)}", hint=hint, code="Q310")
    if isinstance(error, OSError) and error.errno == errno.EBADF:
        hint = "a model that closes files must leave those alone that it has not opened"
        return QuorateError(f"a file of Quorate was closed: {described(error)}", hint=hint, code="Q310")
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return QuorateError(
        f"internal error, {described(error)}",
        hint="this is a bug in Quorate; QUORATE_TRACEBACK=1 shows where it came from; please report it",
        code="Q900",
        location=Location(frame.filename, frame.lineno or 0),
    )
