"""What a run says about itself."""

import pytest

from sandbox_service.judge.verdicts import detail_of_run, verdict_of_run, verdict_of_start
from sandbox_service.schema.limits import Limits, Usage
from sandbox_service.schema.run import Ending
from sandbox_service.schema.verdict import Verdict

LIMITS = Limits(cpu_time_s=2.0, wall_time_s=7.0, memory_bytes=64 * 1024 * 1024, output_bytes=1000)


def test_run_that_exited_with_zero_has_no_verdict_of_its_own(make_report):
    assert verdict_of_run(make_report(), limits=LIMITS) is None


@pytest.mark.parametrize(
    ("ending", "verdict"),
    [
        (Ending.CPU_LIMIT, Verdict.TIME_LIMIT_EXCEEDED),
        (Ending.WALL_LIMIT, Verdict.TIME_LIMIT_EXCEEDED),
        (Ending.MEMORY_LIMIT, Verdict.MEMORY_LIMIT_EXCEEDED),
        (Ending.OUTPUT_LIMIT, Verdict.OUTPUT_LIMIT_EXCEEDED),
        (Ending.SIGNALED, Verdict.RUNTIME_ERROR),
    ],
)
def test_ending_other_than_exit_has_its_verdict(make_report, ending, verdict):
    assert verdict_of_run(make_report(ending=ending), limits=LIMITS) is verdict


@pytest.mark.parametrize("code", [1, 3, 255])
def test_non_zero_exit_is_a_runtime_error(make_report, code):
    assert verdict_of_run(make_report(exit_code=code), limits=LIMITS) is Verdict.RUNTIME_ERROR


def test_non_zero_exit_is_left_to_whoever_expects_a_code(make_report):
    assert verdict_of_start(make_report(exit_code=3), limits=LIMITS) is None


def test_exit_without_a_code_is_ours(make_report):
    report = make_report(exit_code=None)

    assert verdict_of_run(report, limits=LIMITS) is Verdict.INTERNAL_ERROR


def test_syntax_error_is_a_compile_error_however_it_ended(make_report):
    report = make_report(exit_code=1, syntax_error="line 1: invalid syntax")

    assert verdict_of_run(report, limits=LIMITS) is Verdict.COMPILE_ERROR


@pytest.mark.parametrize("ending", [Ending.EXITED, Ending.SIGNALED])
def test_more_cpu_time_than_allowed_is_late_however_it_ended(make_report, ending):
    report = make_report(ending=ending, usage=Usage(cpu_time_s=2.01))

    assert verdict_of_run(report, limits=LIMITS) is Verdict.TIME_LIMIT_EXCEEDED


def test_all_of_the_allowed_cpu_time_is_in_time(make_report):
    assert verdict_of_run(make_report(usage=Usage(cpu_time_s=2.0)), limits=LIMITS) is None


def test_memory_limit_is_told_though_the_time_was_up_too(make_report):
    report = make_report(ending=Ending.MEMORY_LIMIT, usage=Usage(cpu_time_s=9.0))

    assert verdict_of_run(report, limits=LIMITS) is Verdict.MEMORY_LIMIT_EXCEEDED
    assert "64 MiB" in detail_of_run(report, limits=LIMITS)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, ""),
        ({"exit_code": 3}, "exit code 3"),
        ({"exit_code": None}, ""),
        ({"syntax_error": "line 1", "ending": Ending.CPU_LIMIT}, "line 1"),
        ({"ending": Ending.SIGNALED, "signal": 11}, "ended by signal 11 (SIGSEGV)"),
        ({"ending": Ending.SIGNALED, "signal": 99}, "ended by signal 99"),
        ({"ending": Ending.SIGNALED}, "ended by a signal"),
        ({"usage": Usage(cpu_time_s=2.0)}, ""),
        ({"usage": Usage(cpu_time_s=2.013)}, "more CPU time than the limit of 2 s"),
        (
            {"ending": Ending.SIGNALED, "signal": 9, "usage": Usage(cpu_time_s=2.5)},
            "more CPU time than the limit of 2 s",
        ),
        (
            {"ending": Ending.CPU_LIMIT, "usage": Usage(cpu_time_s=1.999)},
            "more CPU time than the limit of 2 s",
        ),
        (
            {"ending": Ending.WALL_LIMIT, "usage": Usage(wall_time_s=7.1, cpu_time_s=3)},
            "more wall time than the limit of 7 s",
        ),
        ({"ending": Ending.MEMORY_LIMIT}, "more memory than the limit of 64 MiB"),
        ({"ending": Ending.OUTPUT_LIMIT}, "more output than the limit of 1000 bytes"),
    ],
)
def test_detail_tells_how_the_run_ended(make_report, fields, sentence):
    assert detail_of_run(make_report(**fields), limits=LIMITS) == sentence


def test_detail_without_limits_speaks_of_the_default_ones(make_report):
    report = make_report(ending=Ending.OUTPUT_LIMIT)

    assert detail_of_run(report) == "more output than the limit of 1048576 bytes"
