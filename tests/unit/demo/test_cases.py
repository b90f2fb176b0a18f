import pytest

from sandbox_service.demo.cases import other_cases, python_cases
from sandbox_service.demo.outcome import Outcome, engine_of
from sandbox_service.schema.submission import Submission
from sandbox_service.schema.verdict import Verdict

CASES = [*python_cases(), *other_cases(has_cpp=True)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_case_is_a_valid_submission_with_known_verdicts(case):
    Submission.model_validate(case.submission)
    assert case.verdicts
    assert set(case.verdicts) <= set(Verdict)


def test_cases_without_a_compiler_are_still_eight_and_need_none():
    shown = [*python_cases(), *other_cases(has_cpp=False)]
    assert len(shown) >= 8
    assert "cpp" not in {case.submission["language"] for case in shown}


def test_cases_with_a_compiler_show_cpp():
    assert "cpp" in {case.submission["language"] for case in CASES}


@pytest.mark.parametrize(
    ("result", "is_expected"),
    [
        ({"verdict": "accepted", "reward": 1.0}, True),
        ({"verdict": "accepted", "reward": 0.5}, False),
        ({"verdict": "internal_error", "reward": None}, False),
        ({"status": "queued"}, False),
    ],
)
def test_outcome_is_expected_only_with_right_verdict_and_reward(result, is_expected):
    assert Outcome(CASES[0], result, 1.0).is_expected is is_expected


@pytest.mark.parametrize(
    ("sandboxes", "engine"),
    [([None, {"engine": "local"}], "local"), ([None], "unknown"), ([], "unknown")],
)
def test_engine_of_outcomes_is_the_first_that_is_named(sandboxes, engine):
    outcomes = [Outcome(CASES[0], {"sandbox": each}, 1.0) for each in sandboxes]
    assert engine_of(outcomes) == engine
