"""A result: what was found out, and the reward it is worth."""

from pydantic import JsonValue

from sandbox_service.schema.base import Model
from sandbox_service.schema.limits import Usage
from sandbox_service.schema.review import Flag
from sandbox_service.schema.reward import RewardPart
from sandbox_service.schema.verdict import JobStatus, Trust, Verdict


class StepResult(Model):
    """One compile or one test."""

    verdict: Verdict
    """How it ended."""

    stdout: str = ""
    """What was printed; bytes that are not UTF-8 appear as U+FFFD."""

    stderr: str = ""
    """What was printed to standard error."""

    exit_code: int | None = None
    """None when a signal or a limit ended it, or when it did not run."""

    signal: int | None = None
    """Number of the signal that ended it, if one did."""

    detail: str = ""
    """Why the verdict is what it is, in a sentence for a person."""

    usage: Usage = Usage()
    """What it used."""


class Check(Model):
    """One assertion or test function inside a test."""

    name: str
    """Where it stands."""

    passed: bool
    """Whether it held."""

    detail: str = ""
    """What went wrong."""


class TestResult(StepResult):
    """One test."""

    name: str | None = None
    """As in the submission."""

    score: float = 0.0
    """0 to 1; between them only where a checker gives partial credit."""

    checks: tuple[Check, ...] = ()
    """The parts of an assert test, each passed or not."""

    trust: Trust = Trust.ISOLATED
    """How far the candidate was kept from what judged this test."""


class Extracted(Model):
    """The code that was taken out of a completion."""

    code: str
    """What was run."""

    rule: str
    """How it was found, in words."""

    files: dict[str, str] = {}
    """Further files that the completion named."""


class SandboxInfo(Model):
    """Where the runs took place."""

    engine: str
    """`docker` or `local`."""

    runtime: str = ""
    """OCI runtime of the outer wall, if it is a container."""

    isolation: str = ""
    """`nested` (both walls) or `container` (a fresh container per submission)."""

    landlock_abi: int = 0
    """Version of Landlock in force inside; 0 where the kernel has none."""


class Timing(Model):
    """Where the time of a submission went."""

    queued_s: float = 0.0
    """From acceptance to the start of work."""

    run_s: float = 0.0
    """From the start of work to the result."""


class Result(Model):
    """What the service says about one submission."""

    id: str
    """The submission's id."""

    status: JobStatus = JobStatus.FINISHED
    """`finished`, or `canceled` before anything was found out."""

    verdict: Verdict
    """`internal_error` if any test had one, else `compile_error`, else the first failing test's."""

    score: float | None
    """Weighted share of passed tests, 0 to 1; None when there is no information."""

    reward: float | None
    """What the policy is told; None means no information, never zero."""

    passed: int
    """Number of tests passed."""

    total: int
    """Number of tests."""

    trust: Trust = Trust.ISOLATED
    """The weakest trust among the tests."""

    compile: StepResult | None = None
    """The compile step, if the language has one or the source is not a program."""

    tests: tuple[TestResult, ...] = ()
    """In the order sent; empty when nothing could be run."""

    detail: str = ""
    """Why there is no information, if there is none."""

    flags: tuple[Flag, ...] = ()
    """What a trainer should look at."""

    parts: tuple[RewardPart, ...] = ()
    """What each source of a `fusion` contributed to the reward."""

    extracted: Extracted | None = None
    """The code of a completion; None when the submission brought its code as such."""

    sandbox: SandboxInfo | None = None
    """Where the runs took place; None when none did."""

    metadata: dict[str, JsonValue] = {}
    """As in the submission."""

    reused: bool = False
    """Whether it is the result of an equal submission, run once for both."""

    timing: Timing = Timing()
    """Where the time went."""
