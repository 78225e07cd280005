"""Failing checks inside a pytest of its own."""

import pytest

PROTOCOL = """
    import quorate
    from quorate import Process, System, invariant, step

    class Counter(Process):
        count: int = 0

        @step(when=lambda self: self.count < 3)
        def up(self) -> None:
            self.count += 1

    class Counting(System):
        most: int = 2

        def build(self) -> None:
            self.spawn(Counter)

        @invariant
        def small(self) -> bool:
            return all(counter.count <= self.most for counter in self[Counter])
"""


def run(pytester: pytest.Pytester, test: str) -> str:
    pytester.makepyfile(PROTOCOL + test)
    outcome = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    outcome.assert_outcomes(failed=1)
    return outcome.stdout.str()


@pytest.mark.parametrize(
    "statement",
    [
        "assert quorate.check(Counting()).ok",
        "assert quorate.check(Counting())",
        "quorate.check(Counting()).check()",
        "result = quorate.check(Counting()); assert result.ok, 'it should hold'",
    ],
)
def test_a_failing_check_shows_its_counterexample(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    monkeypatch.setenv("COLUMNS", "160")  # so that pytest does not shorten its summary
    output = run(pytester, f"\n    def test_counting() -> None:\n        {statement}\n")
    assert "Counting(most=2) violates small" in output
    assert "The shortest run that breaks small: 3 steps" in output
    assert "┃ 3 up" in output
    assert "count: 2 → 3" in output
    # The line of the summary is the verdict, not `assert False`.
    summary = next(line for line in output.splitlines() if line.startswith("FAILED"))
    assert "✗ Counting(most=2) violates small" in summary


def test_a_handler_that_asserts_fails_with_its_own_message(pytester: pytest.Pytester) -> None:
    """pytest rewrites the asserts of a test's module, handlers included: they must still be taken for pure."""
    output = run(
        pytester,
        """
    class Careful(Counter):
        @step(when=lambda self: self.count == 1)
        def stop(self) -> None:
            assert self.count == 0, "too far"

    class Cautious(System):
        def build(self) -> None:
            self.spawn(Careful)

    def test_counting() -> None:
        assert quorate.check(Cautious()).ok
""",
    )
    assert "Cautious fails in careful1.stop" in output
    assert "fails: too far" in output


def test_an_unrelated_failure_is_left_alone(pytester: pytest.Pytester) -> None:
    output = run(
        pytester,
        """
    def test_counting() -> None:
        result = quorate.check(Counting())
        assert not result.ok
        assert 1 == 2
""",
    )
    assert "assert 1 == 2" in output
    assert "violates" not in output


def test_a_session_without_quorate_does_not_import_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
    import sys

    def test_light() -> None:
        heavy = [name for name in sys.modules if name.startswith("quorate.")]
        assert heavy == ["quorate.pytest_plugin"]
"""
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


SPARE = """
    class Idle(Counter):
        @step(when=lambda self: self.count > 5)
        def never(self) -> None:
            self.count = 0

    class Spare(Counting):
        most: int = 3

        def build(self) -> None:
            self.spawn(Idle)

    def test_counts() -> None:
        assert quorate.check(Counting(most=3)).states == 4
        assert quorate.check(Spare()).states == 4
"""


@pytest.mark.parametrize("processes", [0, 2])
@pytest.mark.parametrize(("least", "status"), [(None, 0), (40, 0), (99, 1)])
def test_coverage_of_all_checks_of_a_session(
    pytester: pytest.Pytester, least: float | None, status: int, processes: int
) -> None:
    """Whoever ran them: with pytest-xdist the checks are made in other processes than the one that reports."""
    pytester.makepyfile(PROTOCOL + SPARE)
    asked = ["--quorate-coverage"] if least is None else [f"--quorate-fail-under={least}"]
    asked += ["-n", str(processes)] if processes else []
    outcome = pytester.runpytest_subprocess("-p", "no:cacheprovider", *asked)
    outcome.assert_outcomes(passed=1)
    assert outcome.ret == status
    output = outcome.stdout.str()
    assert "100.0%  Counting" in output
    assert "%  Spare" in output
    assert "lines not run in full: test_coverage_of_all_checks_of_a_session.py: " in output
    assert ("Spare ran less than --quorate-fail-under 99" in output) == (status == 1)


def test_more_than_everything_cannot_be_asked_for(pytester: pytest.Pytester) -> None:
    outcome = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--quorate-fail-under=101")
    assert outcome.ret == pytest.ExitCode.USAGE_ERROR
    assert "101 is no percentage" in outcome.stderr.str()
