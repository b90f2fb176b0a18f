"""An engine without walls and without programs, for tests: what a program does is a function.

It keeps the contract of `base` as the real engines do; `tests/contract` holds all to it.
"""

from collections.abc import Callable, Mapping, Sequence

from sandbox_service.errors import EngineUnavailable, SandboxDied
from sandbox_service.sandbox.base import Gather
from sandbox_service.schema.result import SandboxInfo
from sandbox_service.schema.run import (
    Ending,
    Execution,
    ExecutionReport,
    RunKind,
    RunReport,
    RunRequest,
)

Program = Callable[[RunRequest], RunReport]


def exits(code: int = 0, stdout: bytes = b"") -> Program:
    """Returns a program that prints something and exits."""
    return lambda _: RunReport(ending=Ending.EXITED, exit_code=code, stdout=stdout)


class FakeSandbox:
    """Runs functions in place of programs."""

    def __init__(self, programs: Mapping[bytes, Program], memory_bytes: int) -> None:
        self._programs = programs
        self.info = SandboxInfo(engine="fake", isolation="none")
        self.memory_bytes = memory_bytes
        self.executions: list[Execution] = []
        self.is_closed = False
        self.dies = False
        """Set to have the next execution find the sandbox dead."""

    def execute(self, execution: Execution) -> ExecutionReport:
        """Runs the function that stands for the source; an unknown source exits with 0.

        Raises:
            SandboxDied: it is closed, or was told to die.
        """
        if self.is_closed or self.dies:
            raise SandboxDied("the sandbox is gone")
        self.executions.append(execution)
        program = self._programs.get(execution.files[execution.source], exits())
        if execution.compile is None:
            return ExecutionReport(runs=tuple(_run(program, run) for run in execution.runs))
        compiled = program(RunRequest(kind=RunKind.EXEC, limits=execution.compile.limits))
        if compiled.ending is not Ending.EXITED or compiled.exit_code != 0:
            return ExecutionReport(compile=compiled)
        return ExecutionReport(
            compile=compiled,
            artifacts=dict.fromkeys(execution.compile.artifacts, b"compiled"),
            runs=tuple(_run(program, run) for run in execution.runs),
        )

    def begin_all(self, executions: Sequence[Execution], *, patience_s: float | None) -> Gather:
        return lambda: [self.execute(execution) for execution in executions]

    def set_memory(self, memory_bytes: int) -> None:
        """Notes the limit.

        Raises:
            SandboxDied: it is closed.
        """
        if self.is_closed:
            raise SandboxDied("the sandbox is gone")
        self.memory_bytes = memory_bytes

    def close(self) -> None:
        self.is_closed = True


class FakeEngine:
    """Starts fake sandboxes and remembers them."""

    name = "fake"

    def __init__(
        self,
        programs: Mapping[bytes, Program] | None = None,
        *,
        images: frozenset[str] | None = None,
        is_single_use: bool = False,
    ) -> None:
        """Takes what each source does, and the images there are; None means every image."""
        self._programs = programs or {}
        self._images = images
        self.is_single_use = is_single_use
        self.started: list[FakeSandbox] = []
        self.is_closed = False

    def start(self, image: str, *, memory_bytes: int) -> FakeSandbox:
        """Starts a sandbox.

        Raises:
            EngineUnavailable: there is no such image.
        """
        if self._images is not None and image not in self._images:
            raise EngineUnavailable(f"no image {image}")
        sandbox = FakeSandbox(self._programs, memory_bytes)
        self.started.append(sandbox)
        return sandbox

    def reap(self) -> int:
        return 0

    def close(self) -> None:
        self.is_closed = True


def _run(program: Program, run: RunRequest) -> RunReport:
    """Cuts what was printed where a real sandbox would."""
    report = program(run)
    bound = run.limits.output_bytes
    if max(len(report.stdout), len(report.stderr)) <= bound:
        return report
    cut = {"stdout": report.stdout[:bound], "stderr": report.stderr[:bound]}
    return report.model_copy(update={"ending": Ending.OUTPUT_LIMIT, "exit_code": None, **cut})
