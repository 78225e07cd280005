"""Files that are written whole or not at all.

The content goes into a new file beside the old one, which is then renamed over it: a full disk, a crash or Ctrl-C
leaves what was there before. `tried` asks for the same permissions earlier, before anything long is done for the file.
"""

from __future__ import annotations

import itertools
import os
import stat
from os import PathLike, fspath

from quorate.base.errors import TargetError

_numbers = itertools.count()


def write(path: str | PathLike[str], content: str | bytes) -> None:
    """Replace the file by this content; Q310 if that is not possible, and then nothing has changed."""
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    place = os.path.realpath(path)  # a link stays one, to the new content
    try:
        if _is_stream(place):
            with open(place, "wb") as stream:
                stream.write(data)
            return
        beside, number = _beside(place)
        try:
            with open(number, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())  # some disks say only now that they are full
            if os.path.exists(place):
                os.chmod(beside, stat.S_IMODE(os.stat(place).st_mode))
            os.replace(beside, place)
        except BaseException:
            os.unlink(beside)
            raise
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from None


def tried(path: str | PathLike[str]) -> None:
    """Make sure that `write` can begin: the folder is there, and takes a new file. Q310 otherwise."""
    try:
        place = os.path.realpath(path)
        if os.path.isdir(place):
            raise IsADirectoryError(0, "it is a folder")
        if _is_stream(place):
            if not os.access(place, os.W_OK):
                raise PermissionError(0, "Permission denied")
            return
        if os.path.exists(place) and not os.access(place, os.W_OK):
            raise PermissionError(0, "it is write-protected")  # a rename would not ask
        if os.path.basename(fspath(path)) == "":
            raise IsADirectoryError(0, "it is the name of a folder")
        os.lstat(os.path.dirname(place))
        if len(os.fsencode(os.path.basename(place))) > os.pathconf(os.path.dirname(place), "PC_NAME_MAX"):
            raise OSError(0, "the name is too long")
        beside, number = _beside(place)
        os.close(number)
        os.unlink(beside)
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from None


def _is_stream(place: str) -> bool:
    """A terminal, a pipe, /dev/null: something to write into, which must not be replaced by a file."""
    return os.path.exists(place) and not os.path.isfile(place) and not os.path.isdir(place)


def _beside(place: str) -> tuple[str, int]:
    """A new file in the same folder, hence on the same disk, with the permissions that a new file gets."""
    name = os.path.join(os.path.dirname(place), f".quorate-{os.getpid()}-{next(_numbers)}.part")
    return name, os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)


def _unwritable(path: str | PathLike[str], error: OSError | ValueError) -> TargetError:
    folder = os.path.dirname(fspath(path)) or "."
    why = (error.strerror if isinstance(error, OSError) else None) or str(error)
    hint = f"there is no folder {folder}" if "\0" not in folder and not os.path.isdir(folder) else ""
    return TargetError(f"cannot write {fspath(path)}: {why}", hint=hint, code="Q310")
