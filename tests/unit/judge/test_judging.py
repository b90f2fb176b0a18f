"""From a test and the report of its run to a result."""

import pytest

from sandbox_service.judge.checkers import Outcome
from sandbox_service.judge.judging import (
    judge_broken,
    judge_interactive,
    judge_skipped,
    judge_test,
    program_checker_of,
)
from sandbox_service.schema.limits import Limits, Usage
from sandbox_service.schema.result import Check
from sandbox_service.schema.run import Ending
from sandbox_service.schema.verdict import Trust, Verdict

LIMITS = Limits(cpu_time_s=1.0)
CUSTOM = {"type": "custom", "code": "def check(*_): return True"}
INTERACTIVE = {"type": "interactive", "code": "interactor"}
PASSED = Check(name="line 1", passed=True)
FAILED = Check(name="line 2", passed=False, detail="1 != 2")
RAISED = Check(name="line 2", passed=False, detail="exception: KeyError: 3")


def verdict(test, report, **more):
    return judge_test(test, report, limits=LIMITS, **more).verdict


def test_stdio_result_carries_what_the_run_did(make_test, make_report):
    test = make_test(stdin="", expected_stdout="é\n", name="first")
    usage = Usage(cpu_time_s=0.5, wall_time_s=0.6, memory_bytes=7)
    report = make_report(stdout="é".encode(), stderr=b"\xff", usage=usage)

    result = judge_test(test, report, limits=LIMITS)

    assert result.verdict is Verdict.ACCEPTED
    assert (result.name, result.score, result.stdout, result.stderr) == (
        "first",
        1.0,
        "é",
        "\ufffd",
    )
    assert (result.exit_code, result.signal, result.detail) == (0, None, "")
    assert (result.usage, result.trust) == (usage, Trust.ISOLATED)


def test_stdio_wrong_output_says_where(make_test, make_report):
    test = make_test(expected_stdout="3")

    result = judge_test(test, make_report(stdout=b"4"), limits=LIMITS)

    assert (result.verdict, result.score) == (Verdict.WRONG_ANSWER, 0.0)
    assert result.detail == "line 1 differs: '4'"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"exit_code": 1}, Verdict.RUNTIME_ERROR),
        ({"ending": Ending.SIGNALED, "signal": 11}, Verdict.RUNTIME_ERROR),
        ({"ending": Ending.WALL_LIMIT}, Verdict.TIME_LIMIT_EXCEEDED),
        ({"ending": Ending.OUTPUT_LIMIT}, Verdict.OUTPUT_LIMIT_EXCEEDED),
        ({"exit_code": 1, "syntax_error": "line 1"}, Verdict.COMPILE_ERROR),
    ],
)
def test_stdio_right_output_does_not_outweigh_a_bad_ending(
    make_test, make_report, fields, expected
):
    result = judge_test(
        make_test(expected_stdout="3"), make_report(stdout=b"3", **fields), limits=LIMITS
    )

    assert (result.verdict, result.score) == (expected, 0.0)
    assert result.detail


def test_stdio_broken_expectation_is_no_information(make_test, make_report):
    test = make_test(expected_stdout="{", checker={"type": "json"})

    result = judge_test(test, make_report(stdout=b"{}"), limits=LIMITS)

    assert result.verdict is Verdict.INTERNAL_ERROR
    assert result.detail == "the expected output is not JSON"


def test_stdio_empty_expectation_is_met_by_empty_output_only(make_test, make_report):
    test = make_test(expected_stdout="")

    assert verdict(test, make_report()) is Verdict.ACCEPTED
    assert verdict(test, make_report(stdout=b"x")) is Verdict.WRONG_ANSWER


@pytest.mark.parametrize(
    "fields",
    [{"expected_stdout": ""}, {"function": "f", "expected": 1}, {"test_code": "assert f()"}],
)
def test_detail_speaks_of_the_limits_of_the_submission(make_test, make_report, fields):
    report = make_report(usage=Usage(cpu_time_s=1.5))

    result = judge_test(make_test(**fields), report, limits=LIMITS)

    assert result.detail == "more CPU time than the limit of 1 s"


def test_stdio_checker_program_decides(make_test, make_report):
    test = make_test(stdin="1", checker=CUSTOM)

    assert verdict(test, make_report(), outcome=Outcome(1.0)) is Verdict.ACCEPTED
    assert verdict(test, make_report(), outcome=Outcome(0.0)) is Verdict.WRONG_ANSWER
    assert verdict(test, make_report(), outcome=Outcome(None)) is Verdict.INTERNAL_ERROR
    assert verdict(test, make_report(exit_code=1)) is Verdict.RUNTIME_ERROR


def test_partial_score_is_a_wrong_answer_that_keeps_its_score(make_test, make_report):
    test = make_test(stdin="1", checker=CUSTOM)

    result = judge_test(test, make_report(), limits=LIMITS, outcome=Outcome(0.5, "half"))

    assert (result.verdict, result.score, result.detail) == (Verdict.WRONG_ANSWER, 0.5, "half")


def test_missing_outcome_of_a_checker_program_is_an_error_of_the_caller(make_test, make_report):
    with pytest.raises(ValueError, match="outcome"):
        verdict(make_test(stdin="1", checker=CUSTOM), make_report())


@pytest.mark.parametrize(
    ("value_json", "expected"),
    [("9", Verdict.ACCEPTED), ("8", Verdict.WRONG_ANSWER), ("{", Verdict.WRONG_ANSWER)],
)
def test_call_value_is_compared(make_test, make_report, value_json, expected):
    test = make_test(function="square", args=[3], expected=9)

    assert verdict(test, make_report(value_json=value_json)) is expected


def test_call_details_tell_odd_values_from_wrong_ones(make_test, make_report):
    test = make_test(function="f", expected=9)

    odd = judge_test(test, make_report(value_json="{"), limits=LIMITS)
    wrong = judge_test(test, make_report(value_json="8"), limits=LIMITS)

    assert odd.detail.startswith("not plain data: ")
    assert wrong.detail == "another value"


def test_call_float_checker_brings_its_tolerance(make_test, make_report):
    checker = {"type": "float", "abs_tol": 0.1, "rel_tol": 0.0}
    test = make_test(function="f", expected=1.0, checker=checker)

    assert verdict(test, make_report(value_json="1.05")) is Verdict.ACCEPTED
    assert verdict(test, make_report(value_json="1.2")) is Verdict.WRONG_ANSWER


def test_call_without_a_checker_compares_real_numbers_exactly(make_test, make_report):
    test = make_test(function="f", expected=0.3)

    assert verdict(test, make_report(value_json="0.30000000000000004")) is Verdict.WRONG_ANSWER


def test_call_float_checker_takes_the_relative_bound(make_test, make_report):
    checker = {"type": "float", "abs_tol": 0.0, "rel_tol": 0.1}
    test = make_test(function="f", expected=100.0, checker=checker)

    assert verdict(test, make_report(value_json="109.0")) is Verdict.ACCEPTED


def test_call_null_is_met_by_a_returned_none_only(make_test, make_report):
    test = make_test(function="find", expected=None)

    assert verdict(test, make_report(value_json="null")) is Verdict.ACCEPTED
    assert verdict(test, make_report()) is Verdict.RUNTIME_ERROR


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"error": "exception: ValueError: x", "exit_code": 1}, Verdict.RUNTIME_ERROR),
        ({"error": "exception: ValueError: x"}, Verdict.RUNTIME_ERROR),
        ({"error": "not plain data: a generator", "exit_code": 1}, Verdict.WRONG_ANSWER),
        ({"error": "exception: E", "ending": Ending.CPU_LIMIT}, Verdict.TIME_LIMIT_EXCEEDED),
        ({"error": "exception: E", "syntax_error": "line 1"}, Verdict.COMPILE_ERROR),
        ({"value_json": "9", "exit_code": 1}, Verdict.RUNTIME_ERROR),
        ({"value_json": "9", "ending": Ending.MEMORY_LIMIT}, Verdict.MEMORY_LIMIT_EXCEEDED),
    ],
)
def test_call_that_ended_badly_is_not_compared(make_test, make_report, fields, expected):
    result = judge_test(make_test(function="f", expected=9), make_report(**fields), limits=LIMITS)

    assert (result.verdict, result.score) == (expected, 0.0)
    assert result.detail


def test_call_error_is_the_detail(make_test, make_report):
    test = make_test(function="f", expected=9)

    result = judge_test(test, make_report(error="exception: E: x"), limits=LIMITS)

    assert result.detail == "exception: E: x"


def test_call_that_left_early_says_so(make_test, make_report):
    result = judge_test(make_test(function="f", expected=9), make_report(), limits=LIMITS)

    assert result.detail == "ended before the function returned"


def test_call_expectation_outside_the_value_space_is_no_information(make_test, make_report):
    test = make_test(function="f", expected={"$float": "one"})

    result = judge_test(test, make_report(value_json="1"), limits=LIMITS)

    assert result.verdict is Verdict.INTERNAL_ERROR
    assert result.detail.startswith("the expected value is not plain data: ")


def test_call_checker_program_decides(make_test, make_report):
    test = make_test(function="f", expected=1, checker=CUSTOM)

    assert verdict(test, make_report(value_json="2"), outcome=Outcome(1.0)) is Verdict.ACCEPTED
    with pytest.raises(ValueError, match="outcome"):
        verdict(test, make_report(value_json="2"))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"checks": (PASSED,)}, Verdict.ACCEPTED),
        ({"checks": (PASSED, FAILED)}, Verdict.WRONG_ANSWER),
        ({"checks": (PASSED, FAILED), "exit_code": 1}, Verdict.WRONG_ANSWER),
        ({"checks": (PASSED, RAISED)}, Verdict.RUNTIME_ERROR),
        ({"checks": ()}, Verdict.RUNTIME_ERROR),
        ({"checks": (PASSED,), "exit_code": 1}, Verdict.RUNTIME_ERROR),
        ({"checks": (PASSED,), "error": "exception: E"}, Verdict.RUNTIME_ERROR),
        ({"checks": (FAILED,), "ending": Ending.CPU_LIMIT}, Verdict.TIME_LIMIT_EXCEEDED),
        ({"checks": (FAILED,), "ending": Ending.SIGNALED}, Verdict.RUNTIME_ERROR),
        ({"checks": (FAILED,), "syntax_error": "line 1"}, Verdict.COMPILE_ERROR),
    ],
)
def test_assert_needs_every_check_and_at_least_one(make_test, make_report, fields, expected):
    result = judge_test(make_test(test_code="assert f()"), make_report(**fields), limits=LIMITS)

    assert result.verdict is expected
    assert (result.score == 1.0) == (expected is Verdict.ACCEPTED)
    assert result.checks == fields["checks"]


def test_assert_that_failed_scores_the_share_of_checks_that_held(make_test, make_report):
    checks = (PASSED, FAILED, RAISED, PASSED)
    result = judge_test(
        make_test(test_code="assert f()"), make_report(checks=checks), limits=LIMITS
    )

    assert (result.verdict, result.score) == (Verdict.WRONG_ANSWER, 0.5)


def test_assert_whose_tests_cannot_run_tells_nothing_of_the_program(make_test, make_report):
    result = judge_test(
        make_test(test_code="assert f("),
        make_report(tests_error="SyntaxError: line 1"),
        limits=LIMITS,
    )

    assert result.verdict is Verdict.INTERNAL_ERROR
    assert result.detail == "test_code: SyntaxError: line 1"


@pytest.mark.parametrize(
    ("fields", "detail"),
    [
        ({"checks": (PASSED, FAILED)}, "line 2: 1 != 2"),
        ({"checks": (Check(name="line 3", passed=False),)}, "line 3"),
        ({"checks": ()}, "ended before any check was made"),
        ({"checks": (), "error": "exception: E"}, "exception: E"),
        ({"checks": (PASSED,), "exit_code": 4}, "exit code 4"),
        ({"checks": (PASSED,)}, ""),
    ],
)
def test_assert_detail_names_the_first_failure(make_test, make_report, fields, detail):
    test = make_test(test_code="assert f()")

    assert judge_test(test, make_report(**fields), limits=LIMITS).detail == detail


def test_assert_trust_is_that_of_its_run(make_test, make_report):
    report = make_report(checks=(PASSED,), trust="shared_process")
    test = make_test(test_code="assert f()")

    assert judge_test(test, report, limits=LIMITS).trust is Trust.SHARED_PROCESS


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"exit_code": 3}, Verdict.ACCEPTED),
        ({"exit_code": 0}, Verdict.RUNTIME_ERROR),
        ({"ending": Ending.SIGNALED, "signal": 6}, Verdict.RUNTIME_ERROR),
        ({"ending": Ending.CPU_LIMIT}, Verdict.TIME_LIMIT_EXCEEDED),
        ({"exit_code": 3, "usage": Usage(cpu_time_s=1.5)}, Verdict.TIME_LIMIT_EXCEEDED),
        ({"exit_code": None}, Verdict.INTERNAL_ERROR),
    ],
)
def test_exit_code_must_be_the_wanted_one(make_test, make_report, fields, expected):
    result = judge_test(make_test(exit_code=3), make_report(**fields), limits=LIMITS)

    assert (result.verdict, result.trust) == (expected, Trust.EXIT_CODE)
    assert result.score == (expected is Verdict.ACCEPTED)
    assert bool(result.detail) == (expected is not Verdict.ACCEPTED)


def test_exit_code_detail_tells_the_code_even_if_it_is_zero(make_test, make_report):
    result = judge_test(make_test(exit_code=3), make_report(), limits=LIMITS)

    assert result.detail == "exit code 0"


def test_exit_code_detail_speaks_of_the_limits_of_the_test(make_test, make_report):
    report = make_report(usage=Usage(cpu_time_s=1.5))

    result = judge_test(make_test(exit_code=0), report, limits=LIMITS)

    assert result.detail == "more CPU time than the limit of 1 s"


def test_skipped_and_broken_results_keep_the_name(make_test):
    test = make_test(expected_stdout="", name="n")

    skipped, broken = judge_skipped(test), judge_broken(test, "lost")

    assert (skipped.verdict, skipped.name, skipped.score) == (Verdict.SKIPPED, "n", 0.0)
    assert skipped.detail == "an earlier test failed"
    assert (broken.verdict, broken.name, broken.detail) == (Verdict.INTERNAL_ERROR, "n", "lost")


def test_program_checkers_are_told_from_the_others(make_test):
    assert program_checker_of(make_test(stdin="", checker=CUSTOM)).type == "custom"
    assert program_checker_of(make_test(stdin="", checker=INTERACTIVE)).type == "interactive"
    assert program_checker_of(make_test(function="f", expected=1, checker=CUSTOM)) is not None
    assert program_checker_of(make_test(function="f", expected=1)) is None
    assert program_checker_of(make_test(expected_stdout="")) is None
    assert program_checker_of(make_test(exit_code=0)) is None


@pytest.mark.parametrize(
    ("program", "interactor", "expected"),
    [
        ({}, {}, Verdict.ACCEPTED),
        ({}, {"exit_code": 1}, Verdict.WRONG_ANSWER),
        ({}, {"exit_code": 2}, Verdict.WRONG_ANSWER),
        ({}, {"exit_code": 3}, Verdict.INTERNAL_ERROR),
        ({}, {"ending": Ending.SIGNALED}, Verdict.INTERNAL_ERROR),
        ({}, {"ending": Ending.CPU_LIMIT}, Verdict.INTERNAL_ERROR),
        ({"exit_code": 1}, {}, Verdict.RUNTIME_ERROR),
        ({"exit_code": 1}, {"exit_code": 1}, Verdict.WRONG_ANSWER),
        ({"exit_code": 1}, {"exit_code": 2}, Verdict.RUNTIME_ERROR),
        ({"exit_code": 1}, {"exit_code": 3}, Verdict.INTERNAL_ERROR),
        ({"ending": Ending.CPU_LIMIT}, {}, Verdict.TIME_LIMIT_EXCEEDED),
        ({"ending": Ending.WALL_LIMIT}, {"exit_code": 3}, Verdict.TIME_LIMIT_EXCEEDED),
        ({"exit_code": 1, "syntax_error": "line 1"}, {"exit_code": 1}, Verdict.COMPILE_ERROR),
    ],
)
def test_interactive_verdict_does_not_depend_on_who_ended_first(
    make_test, make_report, program, interactor, expected
):
    test = make_test(stdin="", checker=INTERACTIVE)

    result = judge_interactive(
        test, make_report(**program), make_report(**interactor), limits=LIMITS
    )

    assert result.verdict is expected


def test_interactive_failure_of_the_interactor_is_named(make_test, make_report):
    test = make_test(stdin="", checker=INTERACTIVE)
    killed = make_report(ending=Ending.SIGNALED)

    result = judge_interactive(test, make_report(), killed, limits=LIMITS)

    assert result.detail == "the interactor failed: runtime_error"
