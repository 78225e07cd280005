"""Which of the tests in tests/ fails without a rule that the generator does not miss.

Then the rule is needed, there is a model that shows it, and the generator does not draw that model.
"""

from __future__ import annotations

import os
import re
import subprocess

from .mutant_build import PACKAGE, ROOT
from .mutations.rule import Rule

RULES_TESTS = ("test_soundness_rules", "test_found_defects")
TESTS: dict[str, tuple[str, ...]] = {
    "closure": (*RULES_TESTS, "test_por_fifo"),
    "quotient": (*RULES_TESTS, "test_crash_models"),
    "dead messages": (*RULES_TESTS, "test_network_models"),
    "universe": ("test_optimistic",),
    "flows": ("test_flows",),
    "symmetry": ("test_symmetry_models", "test_symmetry"),
    "renamings": ("test_symmetry_models", "test_symmetry", "test_canonical"),
    "dynamic partial orders": ("test_dpor",),
    "relations": (*RULES_TESTS, "test_twins"),
    "making up for a step": ("test_twins", *RULES_TESTS),
    "events": (*RULES_TESTS,),
    "stubborn sets": (*RULES_TESTS, "test_twins"),
    "twins": ("test_twins", *RULES_TESTS),
    "ignoring proviso": RULES_TESTS,
    "whole runs": ("test_preservation",),
    "what properties read": RULES_TESTS,
    "search": ("test_limits", "test_result"),
    "steps": ("test_run", "test_process", "test_pid", "test_semantics"),
    "what a result says": ("test_result", "test_limits"),
    "self-check": ("test_self_check",),
    "implicit crashes": ("test_crash_models",),
    "attackers": ("test_byzantine",),
    "message traffic": ("test_network_models",),
    "roles taken apart": ("test_symmetry_models",),
    "monitors that grow": ("test_linearizability",),
    "properties by parts": ("test_parts", "test_parts_order"),
    "shared cells": ("test_shared_conditions", "test_shared_views", "test_shared", "test_shared_cells"),
    "steps that concern nobody": ("test_shared_conditions", "test_shared", "test_shared_cells"),
    "recalled answers": ("test_by_reads",),
    "declarations": ("test_lost",),
    "what models remember": ("test_remembered",),
    "ranks": ("test_rank",),
    "fingerprints": ("test_fingerprints",),
    "messages in flight": ("test_pending",),
    "symmetry without a closure": ("test_open_symmetry",),
}


def failing(rule: Rule, number: int, seconds: float = 300.0) -> str:
    """The first test that fails without the rule; empty if none does."""
    environment = dict(
        os.environ, PYTHONPATH=f"{PACKAGE}:{ROOT / 'tests'}:{ROOT / 'tests' / 'support'}", QUORATE_MUTANT=str(number)
    )
    for name in TESTS[rule.group]:
        command = [str(ROOT / ".venv" / "bin" / "python"), "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        command += ["--no-header", "--tb=no", "-rf", *map(str, (ROOT / "tests").rglob(f"{name}.py"))]
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=seconds, cwd=ROOT, check=False
            )
        except subprocess.TimeoutExpired:
            return f"{name}, which does not end"
        found = re.search(r"^(?:FAILED|ERROR) \S*/(\S+)", done.stdout, re.MULTILINE)
        if found:
            return found.group(1)
        if done.returncode != 0:
            return f"{name}, which ends with {done.returncode}"
    return ""
