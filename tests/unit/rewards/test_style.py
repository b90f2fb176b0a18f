"""Style of Python code as a score."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox_service.rewards.style import style_argv, style_score

UNUSED = {"code": "F401"}


@pytest.mark.parametrize(
    ("findings", "code", "score"),
    [
        ([], "a = 1\n", 1.0),
        ([UNUSED], "a = 1\n\nb = 2\n \nc = 3\nd = 4\n", 0.75),
        ([UNUSED] * 9, "a = 1\n", 0.0),
        ([{"code": None}], "a = 1\nb = 2\n", 0.0),
        ([UNUSED, {"code": "invalid-syntax"}], "a\nb\nc\n", 0.0),
        ([], "", None),
        ([], " \n", None),
        ({}, "a = 1\n", None),
    ],
)
def test_score_falls_with_findings_per_line(findings, code, score):
    assert style_score(json.dumps(findings).encode(), code) == score


def test_findings_that_cannot_be_read_are_missing():
    assert style_score(b"ruff: not found", "a = 1\n") is None


def test_ruff_understands_the_command_line_and_ignores_noqa():
    _, *arguments = style_argv(["E", "F"])
    ruff = Path(sys.executable).parent / "ruff"
    code = "import os  # noqa\n"

    found = subprocess.run([ruff, *arguments], input=code.encode(), capture_output=True, check=True)

    assert style_score(found.stdout, code) == 0.0
    assert json.loads(found.stdout)[0]["code"] == "F401"
