"""From a test and the report of its run to the test's result.

The order of evidence: a limit that was met, then how the program ended, then what it answered.
"""

from sandbox_service.errors import InvalidSubmission
from sandbox_service.judge.checkers import Outcome, check
from sandbox_service.judge.json_text import NotPlainData
from sandbox_service.judge.numbers import Tolerance
from sandbox_service.judge.programs import CHECKER_LIMITS, has_raised, interactor_outcome
from sandbox_service.judge.values import decode, decode_expected, equal, with_sets_as_expected
from sandbox_service.judge.verdicts import (
    detail_of_run,
    verdict_of_limits,
    verdict_of_run,
    verdict_of_start,
)
from sandbox_service.schema.checker import CustomChecker, FloatChecker, InteractiveChecker
from sandbox_service.schema.limits import Limits
from sandbox_service.schema.result import TestResult
from sandbox_service.schema.run import RunReport
from sandbox_service.schema.testcase import (
    AssertTest,
    CallTest,
    ExitCodeTest,
    StdioTest,
    TestCase,
)
from sandbox_service.schema.verdict import Trust, Verdict

NOT_PLAIN_DATA = "not plain data"
RAISED = "exception: "


def judge_test(
    test: TestCase, report: RunReport, *, limits: Limits, outcome: Outcome | None = None
) -> TestResult:
    """Judges one test; `outcome` is what a checker program found, where the test has one.

    Raises:
        ValueError: the test has a checker program and the outcome is missing.
    """
    match test:
        case StdioTest():
            return _judge_stdio(test, report, limits=limits, outcome=outcome)
        case CallTest():
            return _judge_call(test, report, limits=limits, outcome=outcome)
        case AssertTest():
            return _judge_assert(test, report, limits=limits)
        case _:
            return _judge_exit_code(test, report, limits=limits)


def judge_interactive(
    test: StdioTest, report: RunReport, interactor: RunReport, *, limits: Limits
) -> TestResult:
    """Judges a program that talked with an interactor, whichever of the two ended first.

    The program's own limits come first, then an interactor that failed, then one that said
    wrong, and only then how the program exited: a program whose partner has hung up may well die
    of it. An interactor that found the talk badly formatted leaves a crashed program its crash.
    """
    verdict = verdict_of_limits(report, limits=limits)
    if verdict is not None or report.syntax_error:
        return _judge_stdio(test, report, limits=limits, outcome=None)
    broken = verdict_of_start(interactor, limits=CHECKER_LIMITS)
    outcome = interactor_outcome(interactor)
    if broken is not None:
        outcome = Outcome(None, f"the interactor failed: {broken}")
    crash = verdict_of_run(report, limits=limits)
    says_wrong = interactor.exit_code == 1 and not has_raised(interactor)
    is_plainly_wrong = outcome.score is not None and says_wrong
    if crash is None or outcome.score is None or is_plainly_wrong:
        return _of_outcome(test, report, outcome)
    return _judge_stdio(test, report, limits=limits, outcome=outcome)


def program_checker_of(test: TestCase) -> CustomChecker | InteractiveChecker | None:
    """Returns the checker of a test if it is a program, which a sandbox has to run."""
    checker = test.checker if isinstance(test, StdioTest | CallTest) else None
    return checker if isinstance(checker, CustomChecker | InteractiveChecker) else None


def judge_skipped(test: TestCase) -> TestResult:
    """Returns the result of a test that was not run because an earlier one failed."""
    return TestResult(verdict=Verdict.SKIPPED, name=test.name, detail="an earlier test failed")


def judge_broken(test: TestCase, detail: str) -> TestResult:
    """Returns the result of a test that could not be judged, through no fault of the program."""
    return TestResult(verdict=Verdict.INTERNAL_ERROR, name=test.name, detail=detail)


def _judge_stdio(
    test: StdioTest, report: RunReport, *, limits: Limits, outcome: Outcome | None
) -> TestResult:
    verdict = verdict_of_run(report, limits=limits)
    if verdict is not None:
        return _result(test, report, verdict, detail_of_run(report, limits=limits))
    if program_checker_of(test) is not None:
        return _of_outcome(test, report, _present(outcome))
    try:
        found = check(
            test.checker,
            stdout=report.stdout,
            expected=test.expected_stdout or "",
        )
    except InvalidSubmission as error:
        return _result(test, report, Verdict.INTERNAL_ERROR, str(error))
    return _of_outcome(test, report, found)


def _judge_call(
    test: CallTest, report: RunReport, *, limits: Limits, outcome: Outcome | None
) -> TestResult:
    verdict = verdict_of_limits(report, limits=limits)
    if verdict is None and not report.syntax_error and report.error:
        is_odd = report.error.startswith(NOT_PLAIN_DATA)
        verdict = Verdict.WRONG_ANSWER if is_odd else Verdict.RUNTIME_ERROR
        return _result(test, report, verdict, report.error)
    verdict = verdict_of_run(report, limits=limits)
    if verdict is not None:
        return _result(test, report, verdict, detail_of_run(report, limits=limits))
    # Nothing came back, which is not the same as a returned None.
    if report.value_json is None:
        return _result(test, report, Verdict.RUNTIME_ERROR, "ended before the function returned")
    if isinstance(test.checker, CustomChecker):
        return _of_outcome(test, report, _present(outcome))
    return _of_outcome(test, report, _compare_value(test, report.value_json))


def _compare_value(test: CallTest, value_json: str) -> Outcome:
    tolerance = None
    if isinstance(test.checker, FloatChecker):
        tolerance = Tolerance(test.checker.abs_tol, test.checker.rel_tol)
    try:
        expected = decode_expected(test.expected)
    except NotPlainData as error:
        return Outcome(None, f"the expected value is {NOT_PLAIN_DATA}: {error}")
    try:
        value = decode(value_json)
    except NotPlainData as error:
        return Outcome(0.0, f"{NOT_PLAIN_DATA}: {error}")
    if "set" in test.allow:
        value = with_sets_as_expected(value, expected)
    is_right = equal(value, expected, tolerance=tolerance)
    return Outcome(1.0) if is_right else Outcome(0.0, "another value")


def _judge_assert(test: AssertTest, report: RunReport, *, limits: Limits) -> TestResult:
    """Judges by the checks; the score of a test that failed is the share of those that held."""
    verdict = verdict_of_start(report, limits=limits)
    if verdict is None and report.tests_error:
        return _result(test, report, Verdict.INTERNAL_ERROR, f"test_code: {report.tests_error}")
    failed = next((one for one in report.checks if not one.passed), None)
    if verdict is None and failed is not None:
        is_raised = failed.detail.startswith(RAISED)
        verdict = Verdict.RUNTIME_ERROR if is_raised else Verdict.WRONG_ANSWER
        detail = ": ".join(filter(None, (failed.name, failed.detail)))
        share = sum(one.passed for one in report.checks) / len(report.checks)
        return _result(test, report, verdict, detail, score=share)
    verdict = verdict_of_run(report, limits=limits)
    if verdict is not None:
        return _result(test, report, verdict, detail_of_run(report, limits=limits))
    if report.error or not report.checks:
        detail = report.error or "ended before any check was made"
        return _result(test, report, Verdict.RUNTIME_ERROR, detail)
    return _result(test, report, Verdict.ACCEPTED, score=1.0)


def _judge_exit_code(test: ExitCodeTest, report: RunReport, *, limits: Limits) -> TestResult:
    verdict = verdict_of_start(report, limits=limits)
    if verdict is None and report.exit_code == test.exit_code:
        return _result(test, report, Verdict.ACCEPTED, score=1.0)
    detail = detail_of_run(report, limits=limits) or f"exit code {report.exit_code}"
    return _result(test, report, verdict or Verdict.RUNTIME_ERROR, detail)


def _of_outcome(test: TestCase, report: RunReport, outcome: Outcome) -> TestResult:
    if outcome.score is None:
        return _result(test, report, Verdict.INTERNAL_ERROR, outcome.detail)
    verdict = Verdict.ACCEPTED if outcome.score == 1 else Verdict.WRONG_ANSWER
    return _result(test, report, verdict, outcome.detail, score=outcome.score)


def _present(outcome: Outcome | None) -> Outcome:
    if outcome is None:
        raise ValueError("the outcome of the test's checker program is missing")
    return outcome


def _trust_of(test: TestCase, report: RunReport) -> Trust:
    if isinstance(test, ExitCodeTest):
        return Trust.EXIT_CODE
    return Trust(report.trust) if isinstance(test, AssertTest) else Trust.ISOLATED


def _result(
    test: TestCase, report: RunReport, verdict: Verdict, detail: str = "", *, score: float = 0.0
) -> TestResult:
    return TestResult(
        verdict=verdict,
        name=test.name,
        score=score,
        stdout=report.stdout.decode("utf-8", "replace"),
        stderr=report.stderr.decode("utf-8", "replace"),
        exit_code=report.exit_code,
        signal=report.signal,
        detail=detail,
        usage=report.usage,
        checks=report.checks,
        trust=_trust_of(test, report),
    )
