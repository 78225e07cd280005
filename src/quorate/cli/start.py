"""Where the program begins: signals are taken before anything that lasts is imported."""

from quorate.cli import interrupts


def run() -> None:
    """The entry point of the command line."""
    interrupts.begin()
    try:
        from quorate.cli.main import run as main

        main()
    finally:
        interrupts.finish()
