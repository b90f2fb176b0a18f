"""Measuring in a fork of its own: hostile text costs nothing but its own score."""

import json
import os
import subprocess
import sys

import pytest

from sandbox_service.rewards import measurer
from sandbox_service.rewards.measured import Measured


def test_style_is_measured_by_ruff():
    assert measurer.measure({"style": ["a = 1\n", ["F"]]}) == Measured(1.0)
    assert measurer.measure({"style": ["import os\nb = 1\n", ["F"]]}) == Measured(0.5)
    assert measurer.measure({"style": ["", ["F"]]}).score is None


def test_without_ruff_the_style_is_missing(monkeypatch):
    monkeypatch.setattr(measurer, "style_argv", lambda rules: ("/nowhere/ruff", "check"))
    assert measurer.measure({"style": ["a = 1\n", ["F"]]}) == Measured(
        None, "ruff is not installed"
    )


def test_code_that_ends_ruff_is_worth_nothing(monkeypatch):
    command = (sys.executable, "-c", "import os; os.kill(os.getpid(), 9)")
    monkeypatch.setattr(measurer, "style_argv", lambda rules: command)
    assert measurer.measure({"style": ["a = 1\n", ["F"]]}).score == 0.0


def _apart(function: str, reads: str = "lambda text: True") -> list[object]:
    """Measures in a fresh interpreter, with a function in place of the libraries."""
    code = f"""
import json, os, sys, time
from sandbox_service.rewards import measurer
from sandbox_service.rewards.measured import Measured
measurer.WALL_TIME_S = 2.0
measurer.measure = {function}
measurer.is_mathematics = {reads}
asked = {{"answer": ["completion", "expected"]}}
print(json.dumps([measurer.measure_apart(asked), measurer.measure_apart(asked)]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    found = json.loads(done.stdout)
    assert len(found) == 2
    return found


@pytest.mark.parametrize(
    ("function", "score"),
    [
        ("lambda request: Measured(0.5)", 0.5),
        ("lambda request: Measured(None, 'not installed')", None),
        ("lambda request: time.sleep(60)", 0.0),
        ("lambda request: os.kill(os.getpid(), 9)", 0.0),
        ("lambda request: bytearray(2 << 30)", 0.0),
        ("lambda request: 1 / 0", None),
    ],
)
def test_whatever_happens_in_the_fork_there_is_an_answer(function, score):
    assert [found[0] for found in _apart(function)] == [score, score]


@pytest.mark.parametrize("reads", ["lambda text: time.sleep(60)", "lambda text: 1 / 0"])
def test_expected_answer_that_nobody_can_read_is_missing_never_zero(reads):
    assert [found[0] for found in _apart("lambda request: Measured(1.0)", reads)] == [None, None]
