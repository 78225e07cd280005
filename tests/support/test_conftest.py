"""What the test suite says about itself."""

import os
import subprocess
import sys
from pathlib import Path


def test_it_says_so_when_there_is_no_browser() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "unit/test_browser.py"]
    nowhere = {**os.environ, "PATH": ""}
    done = subprocess.run(
        command,
        cwd=Path(__file__).parents[1],
        env=nowhere,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "tests of the report and the explorer: Chromium is not installed" in done.stdout
    assert "NOT TESTED" in done.stdout
