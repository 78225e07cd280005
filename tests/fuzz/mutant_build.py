"""The one build that holds every mutant: a rewritten copy of the source, below build/mutants."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from .mutations.rule import Rule
from .schemata import rewrite

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / "build" / "mutants"
PACKAGE = PLACE / "src"
"""What has to be on the path before anything else, so that `import quorate` finds the mutants."""

# An editable install brings a finder of its own, which comes before the path.
SITE = """import sys

sys.meta_path[:] = [each for each in sys.meta_path if "Redirecting" not in type(each).__name__]
"""


def build(rules: Sequence[Rule], say: bool = True) -> Path:
    """Rewrite and compile, unless that was done for the same text before. Mutants are numbered from 1."""
    PLACE.mkdir(parents=True, exist_ok=True)
    with open(PLACE / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _build(rules, say)


def _build(rules: Sequence[Rule], say: bool) -> Path:
    fresh = PLACE / "fresh"
    shutil.rmtree(fresh, ignore_errors=True)
    ignore = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(ROOT / "src", fresh, ignore=ignore)
    rewrite(fresh, list(enumerate(rules, 1)))
    (fresh / "sitecustomize.py").write_text(SITE)
    stamp = _digest(fresh)
    mark = PLACE / "built"
    if mark.exists() and mark.read_text() == stamp:
        shutil.rmtree(fresh)
        return PACKAGE
    mark.unlink(missing_ok=True)
    _replace(fresh)
    shutil.copy2(ROOT / "CMakeLists.txt", PLACE)
    if say:
        print(f"Building the core with {len(rules)} mutants", file=sys.stderr)
    environment = dict(os.environ, PATH=f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}")
    tree, place, python = str(PLACE), str(PLACE / "cmake"), ROOT / ".venv" / "bin" / "python"
    # A build type of our own: the tree's Release is -O3, which compiles longer than it saves here.
    flags = ["-DCMAKE_BUILD_TYPE=Mutants", "-DCMAKE_CXX_FLAGS_MUTANTS=-O2 -DNDEBUG", f"-DPython_EXECUTABLE={python}"]
    commands = [["cmake", "-G", "Ninja", "-S", tree, "-B", place, *flags], ["cmake", "--build", place]]
    for command in commands:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"the mutants do not compile:\n{done.stdout[-6000:]}{done.stderr[-2000:]}")
    for library in (PLACE / "cmake").glob("_core*.so"):
        shutil.copy2(library, PACKAGE / "quorate")
    mark.write_text(stamp)
    return PACKAGE


def _replace(fresh: Path) -> None:
    """Put the new text in the place of the old, and leave what is equal as it is: less is compiled again."""
    wanted = {path.relative_to(fresh) for path in fresh.rglob("*") if path.is_file()}
    for path in list(PACKAGE.rglob("*")) if PACKAGE.exists() else []:
        if path.is_file() and path.relative_to(PACKAGE) not in wanted:
            path.unlink()
    for name in wanted:
        target = PACKAGE / name
        if not target.exists() or target.read_bytes() != (fresh / name).read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(fresh / name, target)
    shutil.rmtree(fresh)


def _digest(tree: Path) -> str:
    known = hashlib.sha256()
    for path in sorted(tree.rglob("*")):
        if path.is_file():
            known.update(str(path.relative_to(tree)).encode() + b"\0" + path.read_bytes())
    return known.hexdigest()
