"""From the results of the tests to the verdict and the score of a submission."""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from sandbox_service.schema.result import StepResult, TestResult
from sandbox_service.schema.testcase import TestCase
from sandbox_service.schema.verdict import Trust, Verdict

_WEAKEST_LAST = (Trust.ISOLATED, Trust.SHARED_PROCESS, Trust.EXIT_CODE)


class Summary(NamedTuple):
    """What a submission is worth."""

    verdict: Verdict
    """`internal_error` if any test had one, else `compile_error`, else the first failure's."""

    score: float | None
    """Weighted share of passed tests; None when there is no information."""

    passed: int
    """Number of tests accepted."""

    total: int
    """Number of tests."""

    trust: Trust
    """The weakest among the tests."""


def summarise(
    tests: Sequence[TestCase],
    results: Sequence[TestResult],
    *,
    compile_result: StepResult | None = None,
) -> Summary:
    """Sums up a submission; `results` may be empty when it did not compile.

    Raises:
        ValueError: there are no tests, which is never worth anything.
    """
    if not tests:
        raise ValueError("a submission without tests has no score")
    verdict = _verdict_of(tests, results, compile_result)
    return Summary(
        verdict=verdict,
        score=None if verdict is Verdict.INTERNAL_ERROR else _score_of(tests, results),
        passed=sum(result.verdict is Verdict.ACCEPTED for result in results),
        total=len(tests),
        trust=max(
            (result.trust for result in results), key=_WEAKEST_LAST.index, default=Trust.ISOLATED
        ),
    )


def _verdict_of(
    tests: Sequence[TestCase], results: Sequence[TestResult], compile_result: StepResult | None
) -> Verdict:
    verdicts = [result.verdict for result in results]
    if compile_result is not None:
        verdicts.insert(0, compile_result.verdict)
    if Verdict.INTERNAL_ERROR in verdicts:
        return Verdict.INTERNAL_ERROR
    if Verdict.COMPILE_ERROR in verdicts:
        return Verdict.COMPILE_ERROR
    failures = (verdict for verdict in verdicts if verdict is not Verdict.ACCEPTED)
    failure = next(failures, None)
    # A test without a result was lost by us, not failed by the program.
    if failure is None and len(results) != len(tests):
        return Verdict.INTERNAL_ERROR
    return failure or Verdict.ACCEPTED


def _score_of(tests: Sequence[TestCase], results: Sequence[TestResult]) -> float | None:
    """Returns the weighted share; None if no test has a weight, since nothing can be earned.

    A group earns the weights of all its tests together or nothing. Fractions, so that all tests
    passed is exactly 1 whatever the weights and their order.
    """
    failed_groups = {
        test.group
        for test, result in zip(tests, results, strict=False)
        if test.group is not None and result.verdict is not Verdict.ACCEPTED
    }
    earned = sum(
        Fraction(test.weight) * Fraction(result.score)
        for test, result in zip(tests, results, strict=False)
        if test.group not in failed_groups or test.group is None
    )
    possible = sum(Fraction(test.weight) for test in tests)
    return float(earned / possible) if possible else None
