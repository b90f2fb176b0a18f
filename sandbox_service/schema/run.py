"""The contract with the runner: what it is asked to do, and what it reports.

The bytes between them are described in `runners/wire.py`; this module is the host's view.
Everything in a report comes from a hostile place: it is bounded, parsed strictly and never
evaluated.
"""

from enum import StrEnum
from typing import Literal

from sandbox_service.schema.base import Model
from sandbox_service.schema.limits import Limits, Usage
from sandbox_service.schema.result import Check, SandboxInfo


class RunKind(StrEnum):
    """What a run does with the program."""

    EXEC = "exec"
    """Start the command line as a new process."""

    PYTHON = "python"
    """Run the program as `__main__` in a fork of the warm interpreter."""

    CALL = "call"
    """Load the program, call one function and report its value as plain data."""

    ASSERT = "assert"
    """Load the program in one process and the test code in another."""

    ASSERT_SHARED = "assert_shared"
    """Load the program and the test code in one process."""

    INTERACT = "interact"
    """Run the program connected with an interactor in a jail of its own."""


class Ending(StrEnum):
    """How a run ended, as its supervisor saw it."""

    EXITED = "exited"
    SIGNALED = "signaled"
    CPU_LIMIT = "cpu_limit"
    WALL_LIMIT = "wall_limit"
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"


class InteractorRequest(Model):
    """A program that talks with the candidate, in a jail and with files of its own."""

    argv: tuple[str, ...] = ()
    """Command line, or arguments of the Python program."""

    source: str | None = None
    """Path of the Python program among the files; None starts the command line."""

    files: dict[str, bytes]
    """Relative path to content; the candidate never sees them."""

    limits: Limits
    """What it is allowed."""


class RunRequest(Model):
    """One run of a program that the sandbox already holds."""

    kind: RunKind
    """What to do."""

    argv: tuple[str, ...] = ()
    """Command line for `exec`; `sys.argv` for `python`."""

    stdin: bytes = b""
    """Standard input."""

    function: str = ""
    """Name for `call`."""

    call_json: str = ""
    """`{"args": […], "kwargs": {…}}` for `call`."""

    test_code: str = ""
    """Source for `assert`."""

    is_warm: bool = False
    """Whether the program of `interact` is Python, run in a fork of the warm interpreter."""

    interactor: InteractorRequest | None = None
    """The other side of `interact`."""

    limits: Limits = Limits()
    """What the run is allowed."""


class RunReport(Model):
    """What one run did."""

    ending: Ending
    """How it ended."""

    exit_code: int | None = None
    """Set when it exited."""

    signal: int | None = None
    """Set when a signal ended it."""

    stdout: bytes = b""
    """At most `output_bytes`."""

    stderr: bytes = b""
    """At most `output_bytes`."""

    usage: Usage = Usage()
    """As measured from outside the program."""

    syntax_error: str = ""
    """Set when the source of an interpreted language does not parse."""

    value_json: str | None = None
    """The value that a `call` returned, as JSON text; None when it returned no plain data."""

    error: str = ""
    """Exception of a `call`, or why its value is not plain data."""

    checks: tuple[Check, ...] = ()
    """Outcomes of an `assert` run, as its test process told."""

    trust: Literal["isolated", "shared_process"] = "isolated"
    """Whether an `assert` run kept the tests apart from the candidate."""

    needs_shared_process: str = ""
    """What in the tests of an `assert` run needs the candidate's process; they did not run."""

    interactor: "RunReport | None" = None
    """What the other side of `interact` did."""

    tests_error: str = ""
    """Why the tests of an `assert` run cannot be run, whatever the candidate is."""


class CompileRequest(Model):
    """The step before the runs."""

    argv: tuple[str, ...]
    """Command line; it leaves what is to be run in its working folder."""

    artifacts: tuple[str, ...]
    """Relative paths of the files to keep."""

    limits: Limits
    """What the compiler is allowed."""


class Execution(Model):
    """One program, compiled at most once, and its runs."""

    image: str
    """Image family that can run it."""

    source: str
    """Path of the program among the files."""

    files: dict[str, bytes]
    """Relative path to content: the source, and what accompanies it."""

    candidate_files: tuple[str, ...] = ()
    """Those of the files that the candidate wrote beside its source; tests never see them."""

    artifacts: dict[str, bytes] = {}
    """Compiled before; when present there is no compile step."""

    compile: CompileRequest | None = None
    """None for languages that have no such step."""

    runs: tuple[RunRequest, ...]
    """In order."""

    env: dict[str, str] = {}
    """Environment of compile and runs."""

    address_space_limit: bool = True
    """False for languages that reserve far more address space than they use."""


class ExecutionReport(Model):
    """What became of an execution."""

    compile: RunReport | None = None
    """None when nothing was compiled."""

    artifacts: dict[str, bytes] = {}
    """What the compile step left, for the cache."""

    runs: tuple[RunReport, ...] = ()
    """One for each run, or empty when the compile step failed."""

    sandbox: SandboxInfo | None = None
    """Where the runs took place; None when none did."""
