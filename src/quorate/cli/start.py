"""Where the program begins: signals are taken before anything that lasts is imported.

They are taken when this is imported, not when `run` is called: the script that pip writes does something in between.
"""

try:
    from quorate.cli import interrupts

    interrupts.begin()
except KeyboardInterrupt:  # it came in the middle of that
    from quorate.cli import interrupts

    interrupts.begin()
    interrupts.leave()


def run() -> None:
    """The entry point of the command line."""
    try:
        from quorate.cli.main import run as main

        main()
    except Exception as error:  # Python's own status for it is 1, which would mean that something is violated
        from quorate.cli.errors import escaped

        escaped(error)
    finally:
        interrupts.finish()
