"""From a submission to what a sandbox is asked to do."""

import json

import pytest

from sandbox_service.errors import InvalidSubmission
from sandbox_service.schema.limits import Limits
from sandbox_service.schema.run import RunKind
from sandbox_service.worker.programs import program_of, run_of
from tests.factories import make_languages, make_submission

LIMITS = Limits()


def run(**test):
    submission = make_submission(tests=[test])
    return run_of(submission.tests[0], program_of(submission, make_languages()), LIMITS)


def test_expected_values_are_in_no_run():
    runs = [
        run(stdin="1", expected_stdout="secret"),
        run(function="f", args=[1], expected="secret"),
        run(function="F", operations=[["g", []]], expected=["secret"]),
    ]
    assert not any("secret" in each.model_dump_json() for each in runs)


def test_call_says_all_that_the_runner_needs():
    asked = run(
        function="f", args=[[1]], kwargs={"b": 2}, expected=1, result="argument:0",
        allow=["numpy"], types={"args": ["ListNode"], "returns": None},
    )  # fmt: skip
    assert json.loads(asked.call_json) == {
        "args": [[1]], "kwargs": {"b": 2}, "operations": None, "result": "argument:0",
        "allow": ["numpy"], "types": {"args": ["ListNode"], "returns": None},
    }  # fmt: skip


def test_entry_point_is_checked_at_the_end():
    asked = run(test_code="def check(candidate): assert candidate(1)", entry_point="f")
    assert (asked.kind, asked.test_code.splitlines()[-1]) == (RunKind.ASSERT, "check(f)")


def test_interactive_test_connects_instead_of_feeding():
    checker = {"type": "interactive", "code": "talk"}
    asked = run(stdin="the secret input", checker=checker)
    assert (asked.kind, asked.is_warm, asked.stdin) == (RunKind.INTERACT, True, b"")


def test_files_of_a_completion_are_the_candidates_and_those_sent_are_not():
    blocks = {"a.py": "x = 1", "b.py": "y = 1", "main.py": "z = 1"}
    text = "\n".join(f"```python {path}\n{code}\n```" for path, code in blocks.items())
    submission = make_submission(code=None, completion=text, files={"b.py": "y = 2"})
    program = program_of(submission, make_languages())
    assert program.candidate_files == ("a.py",)
    assert program.files["b.py"] == b"y = 2"
    assert program.execution(()).candidate_files == ("a.py",)


def test_file_that_is_no_base64_is_refused():
    submission = make_submission(files={"a": "base64:?"})
    with pytest.raises(InvalidSubmission) as refused:
        program_of(submission, make_languages())
    assert refused.value.field == "files.a"


@pytest.mark.parametrize(
    "fields",
    [
        {"result": "argument:1", "args": [1]},
        {"operations": [["g", []]], "types": {"args": ["ListNode"]}},
        {"operations": []},
        {"types": {"returns": "Node"}},
        {"allow": ["pandas"]},
    ],
)
def test_call_that_contradicts_itself_is_refused(fields):
    with pytest.raises(ValueError):
        make_submission(tests=[{"function": "f", "expected": 1, **fields}])
