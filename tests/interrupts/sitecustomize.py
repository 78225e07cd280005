"""Raises a signal where QUORATE_TEST_INTERRUPT says: at the import of a module, before Quorate has begun its work."""

import os
import signal
import sys

_name, _, _module = os.environ.get("QUORATE_TEST_INTERRUPT", "").partition("@")


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    global _module
    if _module and event == "import" and arguments[0] == _module:
        _module = ""
        os.kill(os.getpid(), getattr(signal, _name))


if _module:
    sys.addaudithook(_watch)
