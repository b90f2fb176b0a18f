"""What a run says about itself, before anybody looks at its output.

A limit beats right output, and so does a non-zero exit or a signal: partial output that happens
to be right is not an answer.
"""

import signal

from sandbox_service.schema.limits import MIB, Limits
from sandbox_service.schema.run import Ending, RunReport
from sandbox_service.schema.verdict import Verdict

_VERDICT_OF_LIMIT = {
    Ending.CPU_LIMIT: Verdict.TIME_LIMIT_EXCEEDED,
    Ending.WALL_LIMIT: Verdict.TIME_LIMIT_EXCEEDED,
    Ending.MEMORY_LIMIT: Verdict.MEMORY_LIMIT_EXCEEDED,
    Ending.OUTPUT_LIMIT: Verdict.OUTPUT_LIMIT_EXCEEDED,
}
_BY_ITSELF = frozenset({Ending.EXITED, Ending.SIGNALED})


def verdict_of_limits(report: RunReport, *, limits: Limits) -> Verdict | None:
    """Returns the verdict of the limit that a run met, None when it met none.

    A run that ended by itself after more CPU time than allowed is late too: supervisors look at
    the clock now and then, and the verdict must not depend on when they looked.
    """
    verdict = _VERDICT_OF_LIMIT.get(report.ending)
    if verdict is None and report.usage.cpu_time_s > limits.cpu_time_s:
        return Verdict.TIME_LIMIT_EXCEEDED
    return verdict


def verdict_of_run(report: RunReport, *, limits: Limits) -> Verdict | None:
    """Returns how a run failed, None when it ended well and its output is what counts."""
    verdict = verdict_of_start(report, limits=limits)
    if verdict is None and report.exit_code != 0:
        return Verdict.RUNTIME_ERROR
    return verdict


def verdict_of_start(report: RunReport, *, limits: Limits) -> Verdict | None:
    """Returns how a run failed whatever its exit code was to be, None when it exited by itself."""
    if report.syntax_error:
        return Verdict.COMPILE_ERROR
    verdict = verdict_of_limits(report, limits=limits)
    if verdict is None and report.ending is Ending.SIGNALED:
        return Verdict.RUNTIME_ERROR
    # A supervisor that saw an exit saw its code; without one the report is ours to explain.
    if verdict is None and report.exit_code is None:
        return Verdict.INTERNAL_ERROR
    return verdict


def detail_of_run(report: RunReport, *, limits: Limits | None = None) -> str:
    """Tells in a sentence how a run ended; empty when it exited with 0 within its limits.

    What was measured stands in the usage: the sentence is the same whenever the verdict is.
    """
    limits = limits or Limits()
    usage = report.usage
    late = f"more CPU time than the limit of {limits.cpu_time_s:g} s"
    if report.syntax_error:
        return report.syntax_error
    if report.ending in _BY_ITSELF and usage.cpu_time_s > limits.cpu_time_s:
        return late
    sentences = {
        Ending.CPU_LIMIT: late,
        Ending.WALL_LIMIT: f"more wall time than the limit of {limits.wall_backstop_s:g} s",
        Ending.MEMORY_LIMIT: f"more memory than the limit of {limits.memory_bytes / MIB:g} MiB",
        Ending.OUTPUT_LIMIT: f"more output than the limit of {limits.output_bytes} bytes",
        Ending.SIGNALED: f"ended by {_name_of_signal(report.signal)}",
        Ending.EXITED: f"exit code {report.exit_code}" if report.exit_code else "",
    }
    return sentences[report.ending]


def _name_of_signal(number: int | None) -> str:
    if number is None:
        return "a signal"
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"
