"""`python -m quorate`: the command line."""

from quorate.cli.start import run

if __name__ == "__main__":
    run()
