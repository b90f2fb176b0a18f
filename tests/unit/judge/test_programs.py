"""Checkers that are programs."""

import json

import pytest

from sandbox_service.judge.checkers import Outcome
from sandbox_service.judge.programs import (
    custom_run,
    has_raised,
    interactor_outcome,
    interactor_run,
    outcome_of,
    reference_run,
)
from sandbox_service.schema.checker import CustomChecker, InteractiveChecker
from sandbox_service.schema.run import Ending

CODE = "def check(stdin, out, expected): return True"
FUNCTION = CustomChecker(type="custom", code=CODE)
TESTLIB = CustomChecker(type="custom", code="int main() {}", language="cpp", protocol="testlib")
RAISED = "exception: ValueError: invalid literal"


def test_function_gets_input_output_and_expectation(make_test, make_report):
    test = make_test(stdin="1", expected_stdout="2", checker=FUNCTION.model_dump())

    run = custom_run(FUNCTION, test, make_report(stdout=b"3\xff"))

    assert (run.language, run.source, run.function) == ("python", CODE, "check")
    assert json.loads(run.call_json) == {"args": ["1", "3\ufffd", "2"], "kwargs": {}}
    assert (run.files, run.arguments) == ({}, ())


def test_function_without_expectation_gets_none(make_test, make_report):
    test = make_test(stdin="1", checker=FUNCTION.model_dump())

    run = custom_run(FUNCTION, test, make_report(stdout=b"3"))

    assert json.loads(run.call_json)["args"] == ["1", "3", None]


def test_testlib_program_gets_three_files(make_test, make_report):
    test = make_test(stdin="1", expected_stdout="2", checker=TESTLIB.model_dump())

    run = custom_run(TESTLIB, test, make_report(stdout=b"3\xff"))

    assert (run.language, run.source, run.function) == ("cpp", "int main() {}", "")
    assert run.files == {"input.txt": b"1", "output.txt": b"3\xff", "answer.txt": b"2"}
    assert run.arguments == ("input.txt", "output.txt", "answer.txt")


def test_testlib_program_without_expectation_gets_an_empty_answer(make_test, make_report):
    test = make_test(stdin="1", checker=TESTLIB.model_dump())

    assert custom_run(TESTLIB, test, make_report()).files["answer.txt"] == b""


def test_function_gets_the_value_of_a_call(make_test, make_report):
    test = make_test(function="f", args=[1, "a"], expected=[2], checker=FUNCTION.model_dump())

    run = custom_run(FUNCTION, test, make_report(value_json='{"$float": "nan"}'))

    expected = {"args": [[1, "a"], {"$float": "nan"}, [2]], "kwargs": {}}
    assert json.loads(run.call_json) == expected
    assert run.function == "check"


def test_testlib_program_gets_the_value_of_a_call_as_json(make_test, make_report):
    test = make_test(function="f", args=[1], expected=2, checker=TESTLIB.model_dump())

    run = custom_run(TESTLIB, test, make_report(value_json="3"))

    assert run.files == {"input.txt": b"[1]", "output.txt": b"3", "answer.txt": b"2"}


@pytest.mark.parametrize(
    ("value_json", "detail"),
    [
        ("1], 2, [3", "not plain data: "),
        (None, "not plain data: "),
        (f"[{'1' * 5000}]", "an integer longer"),
    ],
)
def test_value_that_no_checker_takes_is_wrong_without_one(
    make_test, make_report, value_json, detail
):
    test = make_test(function="f", expected=2, checker=FUNCTION.model_dump())

    outcome = custom_run(FUNCTION, test, make_report(value_json=value_json))

    assert isinstance(outcome, Outcome)
    assert outcome.score == 0
    assert outcome.detail.startswith(detail)


def test_reference_run_judges_the_expectation(make_test):
    text = make_test(stdin="1", expected_stdout="é", checker=FUNCTION.model_dump())
    call = make_test(function="f", args=[1], expected=2, checker=FUNCTION.model_dump())

    assert json.loads(reference_run(FUNCTION, text).call_json)["args"] == ["1", "é", "é"]
    assert json.loads(reference_run(FUNCTION, call).call_json)["args"] == [[1], 2, 2]


def test_reference_run_needs_an_expectation(make_test):
    assert reference_run(FUNCTION, make_test(stdin="", checker=FUNCTION.model_dump())) is None


@pytest.mark.parametrize(
    ("value_json", "score"),
    [("true", 1.0), ("false", 0.0), ("1", 1.0), ("0.25", 0.25), ("0", 0.0)],
)
def test_function_answers_with_a_boolean_or_a_score(make_report, value_json, score):
    assert outcome_of(FUNCTION, make_report(value_json=value_json)) == Outcome(score)


@pytest.mark.parametrize(
    "fields",
    [
        {"value_json": "1.5"},
        {"value_json": "-0.1"},
        {"value_json": '{"$float": "nan"}'},
        {"value_json": "null"},
        {"value_json": '"yes"'},
        {"value_json": None},
        {"error": "not plain data: a set"},
        {"ending": Ending.WALL_LIMIT},
        {"ending": Ending.SIGNALED, "signal": 9},
        {"syntax_error": "line 1"},
        {"exit_code": None},
    ],
)
def test_function_that_answers_with_anything_else_is_ours(make_report, fields):
    outcome = outcome_of(FUNCTION, make_report(**fields))

    assert outcome.score is None
    assert outcome.detail.startswith("the checker failed: ")


def test_failure_of_a_checker_is_told(make_report):
    plain = outcome_of(FUNCTION, make_report(error="not plain data: a set"))
    unknown = outcome_of(FUNCTION, make_report(exit_code=None))
    silent = outcome_of(FUNCTION, make_report())
    odd = outcome_of(FUNCTION, make_report(value_json="7"))

    assert plain.detail == "the checker failed: not plain data: a set"
    assert unknown.detail == "the checker failed: internal_error"
    assert odd.detail == (
        "the checker failed: its answer is neither a boolean nor a score from 0 to 1"
    )
    assert silent.detail == "the checker failed: its answer is not plain data"


def test_late_checker_is_ours(make_report):
    outcome = outcome_of(FUNCTION, make_report(ending=Ending.CPU_LIMIT, value_json="true"))

    assert outcome.detail == "the checker failed: more CPU time than the limit of 10 s"


def test_exception_on_the_output_alone_is_a_wrong_answer(make_report):
    report, reference = make_report(error=RAISED, exit_code=1), make_report(value_json="true")

    outcome = outcome_of(FUNCTION, report, reference=reference)

    assert outcome == Outcome(0.0, f"checker: {RAISED}")


@pytest.mark.parametrize(
    "reference",
    [{"error": "exception: E", "exit_code": 1}, {"ending": Ending.CPU_LIMIT}],
)
def test_exception_on_the_expected_output_too_is_ours(make_report, reference):
    report = make_report(error=RAISED, exit_code=1)

    outcome = outcome_of(FUNCTION, report, reference=make_report(**reference))

    assert outcome == Outcome(None, f"the checker failed: {RAISED}")


@pytest.mark.parametrize(
    ("error", "score"),
    [
        ("exception: ValueError: x", 0.0),
        ("exception: IndexError: x", 0.0),
        ("exception: AssertionError: ", 0.0),
        ("exception: NameError: x", None),
        ("exception: TypeError: x", None),
        ("exception: ValueErrorOfMine: x", None),
    ],
)
def test_exception_without_a_reference_is_judged_by_its_kind(make_report, error, score):
    assert outcome_of(FUNCTION, make_report(error=error, exit_code=1)).score == score


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"error": RAISED, "exit_code": 1}, True),
        ({"error": "not plain data: a set"}, False),
        ({"exit_code": 1, "stderr": b"Traceback (most recent call last):\n"}, True),
        ({"exit_code": 1, "stderr": b"wrong answer"}, False),
        ({"exit_code": 0, "stderr": b"Traceback (most recent call last):\n"}, False),
        ({}, False),
    ],
)
def test_exceptions_are_told_from_answers(make_report, fields, expected):
    assert has_raised(make_report(**fields)) is expected


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({"exit_code": 0, "stderr": b"ok 3 numbers\nmore"}, Outcome(1.0, "ok 3 numbers")),
        ({"exit_code": 1, "stderr": b"wrong answer"}, Outcome(0.0, "wrong answer")),
        ({"exit_code": 1, "stderr": b"\xff"}, Outcome(0.0, "\ufffd")),
        ({"exit_code": 2}, Outcome(0.0)),
        ({"exit_code": 4}, Outcome(0.0)),
        ({"exit_code": 8}, Outcome(0.0)),
        ({"exit_code": 7, "stderr": b"points 0.25 half"}, Outcome(0.25, "points 0.25 half")),
        ({"exit_code": 7, "stderr": b"points 1"}, Outcome(1.0, "points 1")),
        ({"exit_code": 3}, Outcome(None, "the checker failed: exit code 3")),
        (
            {"exit_code": 3, "stderr": b"FAIL"},
            Outcome(None, "the checker failed: exit code 3 FAIL"),
        ),
        ({"exit_code": 7}, Outcome(None, "the checker failed: exit code 7")),
        (
            {"exit_code": 7, "stderr": b"points 1.5"},
            Outcome(None, "the checker failed: exit code 7 points 1.5"),
        ),
        (
            {"exit_code": 5, "stderr": b"points 1"},
            Outcome(None, "the checker failed: exit code 5 points 1"),
        ),
        ({"exit_code": 0, "stderr": b"x" * 300}, Outcome(1.0, "x" * 200)),
    ],
)
def test_testlib_exit_code_decides(make_report, fields, outcome):
    assert outcome_of(TESTLIB, make_report(**fields)) == outcome


def test_testlib_traceback_on_the_output_alone_is_a_wrong_answer(make_report):
    raised = make_report(exit_code=1, stderr=b"Traceback (most recent call last):\n")

    assert outcome_of(TESTLIB, raised, reference=make_report()).score == 0
    assert outcome_of(TESTLIB, raised, reference=raised).score is None
    assert outcome_of(TESTLIB, raised).detail == (
        "the checker failed: the checker raised an exception"
    )


def test_interactor_gets_input_and_expectation(make_test):
    checker = InteractiveChecker(type="interactive", language="cpp", code="talk")
    test = make_test(stdin="7", expected_stdout="é", checker=checker.model_dump())

    run = interactor_run(checker, test)

    assert (run.language, run.source) == ("cpp", "talk")
    assert run.files == {"input.txt": b"7", "output.txt": b"", "answer.txt": "é".encode()}
    assert run.arguments == ("input.txt", "output.txt", "answer.txt")


def test_interactor_without_expectation_gets_an_empty_answer(make_test):
    checker = InteractiveChecker(type="interactive", code="talk")
    test = make_test(stdin="7", checker=checker.model_dump())

    assert interactor_run(checker, test).files["answer.txt"] == b""


@pytest.mark.parametrize(
    ("last", "score"), [("ValueError: no number", 0.0), ("ZeroDivisionError: by zero", None)]
)
def test_interactor_that_raised_blames_the_program_only_for_what_it_said(make_report, last, score):
    stderr = f"Traceback (most recent call last):\n  ...\n{last}\n".encode()

    assert interactor_outcome(make_report(exit_code=1, stderr=stderr)).score == score


def test_interactor_that_raised_nothing_is_read_by_its_exit_code(make_report):
    assert interactor_outcome(make_report()).score == 1.0
