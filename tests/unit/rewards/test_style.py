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


def ruff(folder, code, *select):
    program, *arguments = style_argv(select)
    path = Path(sys.executable).parent / program
    found = subprocess.run(
        [path, *arguments], input=code.encode(), capture_output=True, check=True, cwd=folder
    )
    assert style_score(found.stdout, code) is not None
    return [finding["code"] for finding in json.loads(found.stdout)]


def test_ruff_understands_the_command_line_and_ignores_noqa(tmp_path):
    assert ruff(tmp_path, "import os  # noqa\n", "E", "F") == ["F401"]


def test_ruff_looks_for_the_selected_rules_only(tmp_path):
    code = "import os\ndef Loud(): pass\n"

    assert ruff(tmp_path, code, "N802") == ["N802"]


def test_ruff_reads_no_configuration_and_leaves_nothing_behind(tmp_path):
    (tmp_path / "ruff.toml").write_text('[lint.per-file-ignores]\n"*" = ["F401"]\n', "utf-8")

    assert ruff(tmp_path, "import os\n", "F") == ["F401"]
    assert [path.name for path in tmp_path.iterdir()] == ["ruff.toml"]
