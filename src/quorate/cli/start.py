"""Where the program begins: signals are taken before anything that lasts is imported.

They are taken when this is imported, not when `run` is called: the script that pip writes does something in between.
"""

from quorate.cli import interrupts

interrupts.begin()


def run() -> None:
    """The entry point of the command line."""
    try:
        from quorate.cli.main import run as main

        main()
    finally:
        interrupts.finish()
