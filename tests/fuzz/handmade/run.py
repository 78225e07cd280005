"""Runs each model with its rule and without it, in the build of the mutants."""

import json
import multiprocessing
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.meta_path[:] = [each for each in sys.meta_path if "Redirecting" not in type(each).__name__]
sys.path[:0] = [
    str(HERE.parents[2] / "build" / "mutants" / "src"),
    str(HERE.parents[1]),
    str(HERE.parents[1] / "support"),
]

from fuzz.compare import switched  # noqa: E402
from fuzz.mutations import RULES  # noqa: E402
from quorate import QuorateError, _mutant, check  # noqa: E402


def told(module: Any, rule: str) -> str:
    try:
        with switched(tuple(getattr(module, "THRESHOLDS", {}).items())):
            result = check(
                getattr(module, "SYSTEM", {}).get(rule, module.Model),
                **getattr(module, "BY_RULE", {}).get(rule, module.OPTIONS),
            )
    except QuorateError as error:
        return f"{error.code} {str(error).splitlines()[0][:90]}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    verdicts = {each.name: each.verdict for each in result.properties}
    return f"{json.dumps(verdicts)} {result.states} states"


def apart(module: Any, rule: str, number: int) -> str:
    """In a process of its own: a mutant may crash."""
    here, there = multiprocessing.Pipe()

    def work() -> None:
        _mutant.switch(number)
        there.send(told(module, rule))

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    process.join(60)
    return here.recv() if here.poll() else f"ends with {process.exitcode}"


for path in sorted(HERE.glob("*.py")):
    if path.name == "run.py" or (sys.argv[1:] and path.stem not in sys.argv[1:]):
        continue
    module: Any = SourceFileLoader(path.stem, str(path)).load_module()
    for rule in module.RULE.split():
        number = [each.id for each in RULES].index(rule) + 1
        before, after = apart(module, rule, 0), apart(module, rule, number)
        print(
            f"{rule}: {'NEEDED' if before != after else 'no difference'}\n  with    {before}\n  without {after}",
            flush=True,
        )
