"""From results to the verdict and score of a submission."""

import pytest

from sandbox_service.judge.scoring import summarise
from sandbox_service.schema import result
from sandbox_service.schema.verdict import Trust, Verdict

OK, WRONG, CRASH = Verdict.ACCEPTED, Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR


@pytest.fixture(name="summary_of")
def _summary_of(make_test):
    def summary_of(*rows, compile_result=None, results=None):
        """Takes rows of (verdict, fields of the test, fields of the result)."""
        rows = [(*row, {}, {})[:3] if isinstance(row, tuple) else (row, {}, {}) for row in rows]
        tests = [make_test(expected_stdout="", **fields) for _, fields, _ in rows]
        if results is None:
            results = [
                result.TestResult(**({"verdict": verdict, "score": float(verdict is OK)} | fields))
                for verdict, _, fields in rows
            ]
        return summarise(tests, results, compile_result=compile_result)

    return summary_of


def test_all_tests_passed_is_accepted_and_exactly_one(summary_of):
    summary = summary_of(*[(OK, {"weight": 0.1})] * 7, (OK, {"weight": 1e6}))

    assert (summary.verdict, summary.score) == (OK, 1.0)
    assert (summary.passed, summary.total) == (8, 8)


def test_verdict_is_that_of_the_first_failure(summary_of):
    assert summary_of(OK, CRASH, WRONG).verdict is CRASH
    assert summary_of(WRONG, CRASH).verdict is WRONG


def test_skipped_tests_count_as_not_passed(summary_of):
    summary = summary_of(OK, WRONG, Verdict.SKIPPED)

    assert (summary.verdict, summary.passed, summary.total) == (WRONG, 1, 3)
    assert summary.score == pytest.approx(1 / 3)


def test_internal_error_of_one_test_is_no_information(summary_of):
    summary = summary_of(WRONG, Verdict.COMPILE_ERROR, Verdict.INTERNAL_ERROR)

    assert (summary.verdict, summary.score) == (Verdict.INTERNAL_ERROR, None)


def test_compile_error_comes_before_failures(summary_of):
    assert summary_of(WRONG, Verdict.COMPILE_ERROR).verdict is Verdict.COMPILE_ERROR


@pytest.mark.parametrize(
    ("verdict", "score"), [(Verdict.COMPILE_ERROR, 0.0), (Verdict.INTERNAL_ERROR, None)]
)
def test_failed_compile_step_needs_no_results(summary_of, verdict, score):
    step = result.StepResult(verdict=verdict)

    summary = summary_of(OK, OK, compile_result=step, results=[])

    assert summary == (verdict, score, 0, 2, Trust.ISOLATED)


def test_good_compile_step_changes_nothing(summary_of):
    step = result.StepResult(verdict=OK)

    assert summary_of(OK, WRONG, compile_result=step) == summary_of(OK, WRONG)


@pytest.mark.parametrize("results", [[], [result.TestResult(verdict=OK, score=1.0)]])
def test_lost_result_is_no_information(summary_of, results):
    summary = summary_of(OK, OK, results=results)

    assert (summary.verdict, summary.score) == (Verdict.INTERNAL_ERROR, None)


def test_weights_share_the_score(summary_of):
    assert summary_of((OK, {"weight": 3}), (WRONG, {"weight": 1})).score == 0.75


def test_partial_scores_count_by_weight(summary_of):
    assert summary_of((WRONG, {"weight": 1}, {"score": 0.5}), (OK, {"weight": 3})).score == 0.875


def test_group_earns_all_or_nothing(summary_of):
    rows = [(OK, {"group": "a"}), (WRONG, {"group": "a"}), (OK, {"group": "b"}), WRONG, OK]

    assert summary_of(*rows).score == pytest.approx(2 / 5)


def test_partial_score_earns_nothing_in_a_group(summary_of):
    assert summary_of((WRONG, {"group": "a"}, {"score": 0.5})).score == 0.0


def test_tests_without_a_group_stand_alone(summary_of):
    assert summary_of(OK, WRONG).score == 0.5


def test_tests_without_any_weight_give_no_information(summary_of):
    summary = summary_of((OK, {"weight": 0}), (OK, {"weight": 0}))

    assert (summary.verdict, summary.score) == (OK, None)


@pytest.mark.parametrize(
    ("trusts", "weakest"),
    [
        (["isolated"], Trust.ISOLATED),
        (["isolated", "shared_process", "isolated"], Trust.SHARED_PROCESS),
        (["exit_code", "shared_process"], Trust.EXIT_CODE),
    ],
)
def test_trust_is_the_weakest_of_the_tests(summary_of, trusts, weakest):
    assert summary_of(*[(OK, {}, {"trust": trust}) for trust in trusts]).trust is weakest


def test_no_tests_are_an_error_and_never_a_reward():
    with pytest.raises(ValueError, match=r"^a submission without tests has no score$"):
        summarise([], [])
