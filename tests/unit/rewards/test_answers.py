"""Final mathematical answers."""

import re
import sys

import pytest

from sandbox_service.rewards.answers import answer_score
from sandbox_service.rewards.measured import Measured


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
    assert answer_score(completion, expected) == Measured(score)


@pytest.mark.usefixtures("library")
def test_expectation_that_is_no_mathematics_is_missing():
    assert answer_score("\\boxed{7}", "$ $").score is None


class FakeLibrary:
    """Reads what stands in a box, and compares it as text."""

    @staticmethod
    def parse(text, *, parsing_timeout):
        return re.findall(r"\\boxed\{(\w+)\}", text)

    @staticmethod
    def verify(gold, answer, *, timeout_seconds):
        return gold == answer


@pytest.mark.parametrize(
    ("completion", "expected", "answer"),
    [
        ("\\boxed{7}", "7", Measured(1.0)),
        ("\\boxed{7}", "\\boxed{7}", Measured(1.0)),
        ("\\boxed{8}", "7", Measured(0.0)),
        ("none", "7", Measured(0.0)),
        ("\\boxed{7}", "$7$", Measured(None, "the expected answer is not mathematics")),
    ],
)
def test_expected_answer_is_boxed_unless_it_is_marked(monkeypatch, completion, expected, answer):
    monkeypatch.setitem(sys.modules, "math_verify", FakeLibrary)

    assert answer_score(completion, expected) == answer


def test_without_the_library_the_score_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "math_verify", None)

    assert answer_score("\\boxed{7}", "7") == Measured(None, "math-verify is not installed")
