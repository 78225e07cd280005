"""Programs that the benchmarks need, from the distribution's packages."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess

QUIETLY = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}


@functools.cache
def obstacle(*programs: str, may_install: bool = True) -> str:
    """Have these programs, by installing their packages if need be. What stands in the way, or nothing."""
    missing = [name for name in programs if shutil.which(name) is None]
    if not missing:
        return ""
    names = " and ".join(missing)
    if not may_install:
        return f"{names} not installed"
    if shutil.which("apt-get") is None:
        return f"{names} not found, and no apt-get to install it with"
    if os.geteuid() != 0:
        return f"{names} not found; as root: apt-get install {' '.join(missing)}"
    install = ["apt-get", "install", "-y", "--no-install-recommends", *missing]
    done = _apt(install)
    if done.returncode != 0:
        _apt(["apt-get", "update"])
        done = _apt(install)
    if done.returncode != 0:
        return f"{' '.join(install)} failed: {' '.join(done.stderr.strip().splitlines()[-1:])}"
    return ""


def _apt(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, env=QUIETLY)
