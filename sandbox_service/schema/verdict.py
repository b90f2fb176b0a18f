"""The vocabulary of outcomes, of jobs and of trust."""

from enum import StrEnum


class Verdict(StrEnum):
    """The outcome of a test or of a submission, in order of precedence."""

    INTERNAL_ERROR = "internal_error"
    """Ours, never the program's; its reward is None."""

    COMPILE_ERROR = "compile_error"
    """The source is not a program: compiler errors, or a syntax error of an interpreted one."""

    TIME_LIMIT_EXCEEDED = "time_limit_exceeded"
    """CPU time of all processes together, or the wall backstop; `detail` says which."""

    MEMORY_LIMIT_EXCEEDED = "memory_limit_exceeded"
    """The kernel ended a process of the run because its memory limit was reached."""

    OUTPUT_LIMIT_EXCEEDED = "output_limit_exceeded"
    """More was printed than allowed."""

    RUNTIME_ERROR = "runtime_error"
    """Non-zero exit or a signal, also with right output."""

    WRONG_ANSWER = "wrong_answer"
    """The program ended well and its answer is not the expected one."""

    SKIPPED = "skipped"
    """Not run, because an earlier test failed and the submission asked to stop there."""

    ACCEPTED = "accepted"
    """Everything as expected."""


class Trust(StrEnum):
    """How far the candidate is kept from what judges it, strongest first."""

    ISOLATED = "isolated"
    """Comparison happens where the candidate has no process and no memory."""

    SHARED_PROCESS = "shared_process"
    """Tests ran in the candidate's process because they need more than plain data."""

    EXIT_CODE = "exit_code"
    """The candidate's own exit status is the evidence."""


class JobStatus(StrEnum):
    """Where a submission is on its way; the words are RQ's."""

    QUEUED = "queued"
    STARTED = "started"
    FINISHED = "finished"
    CANCELED = "canceled"


class Isolation(StrEnum):
    """How much of a sandbox a submission gets for itself."""

    POOLED = "pooled"
    """Both walls; the outer one serves other submissions before and after."""

    FRESH = "fresh"
    """A container of its own, destroyed afterwards."""


class Lane(StrEnum):
    """What a submission is waited for by; each lane has its share of the workers."""

    INTERACTIVE = "interactive"
    """A person waits."""

    TRAIN = "train"
    """A training step waits."""

    EVAL = "eval"
    """An evaluation runs beside."""
