"""Final mathematical answers."""

import sys

import pytest

from sandbox_service.rewards.answers import Answer, answer_score


@pytest.fixture(name="library")
def _library():
    return pytest.importorskip("math_verify", reason="the extra `answer` is not installed")


@pytest.mark.parametrize(
    ("completion", "expected", "score"),
    [
        ("So it is $\\boxed{0.5}$", "1/2", 1.0),
        ("The final answer is 1/2.", "$\\frac{1}{2}$", 1.0),
        ("\\boxed{x*x}", "x^2", 1.0),
        ("\\boxed{\\{2,1\\}}", "\\boxed{\\{1,2\\}}", 1.0),
        ("\\boxed{8}", "7", 0.0),
        ("I do not know", "7", 0.0),
    ],
)
@pytest.mark.usefixtures("library")
def test_answers_are_compared_as_mathematics(completion, expected, score):
    assert answer_score(completion, expected) == Answer(score)


@pytest.mark.usefixtures("library")
def test_expectation_that_is_no_mathematics_is_missing():
    assert answer_score("\\boxed{7}", "$ $").score is None


def test_without_the_library_the_score_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "math_verify", None)

    assert answer_score("\\boxed{7}", "7") == Answer(None, "math-verify is not installed")
