"""One conversation with a runner: hello, then executions and their reports."""

from collections import deque
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from sandbox_service.errors import InnerWallRefused, ProtocolViolation, SandboxDied
from sandbox_service.sandbox import stream
from sandbox_service.schema.base import Model
from sandbox_service.schema.limits import Limits
from sandbox_service.schema.run import (
    CompileRequest,
    Execution,
    ExecutionReport,
    InteractorRequest,
    RunReport,
    RunRequest,
)

PROTOCOL = 1
_BOOT_TIMEOUT_S = 60.0
# The runner ends a run itself; this is for a runner that hangs.
_GRACE_S = 30.0
# What is sent ahead fits into a pipe, so that both ends never wait for each other to read.
_AHEAD_BYTES = 32 * 1024


class Hello(Model):
    """What a runner says of itself when it is ready."""

    protocol: int
    python: str
    meter: str
    landlock_abi: int
    memory_bytes: int


class Session:
    """A runner that is up, at the other end of a transport."""

    def __init__(self, transport: stream.Transport, payload: bytes) -> None:
        """Boots the runner.

        Raises:
            SandboxDied: it did not come up.
            InnerWallRefused: the kernel refused it.
        """
        self._transport = transport
        transport.send(payload)
        header = stream.read_frame(transport, _BOOT_TIMEOUT_S)
        if "error" in header:
            raise InnerWallRefused(f"the inner wall cannot be built here: {header['error']}")
        try:
            self.hello = Hello.model_validate(header)
        except ValidationError as error:
            raise ProtocolViolation(f"hello does not fit: {error}") from error
        if self.hello.protocol != PROTOCOL:
            raise ProtocolViolation(f"the runner speaks protocol {self.hello.protocol}")

    def execute(self, execution: Execution) -> ExecutionReport:
        """Sends an execution and gathers its reports.

        Raises:
            SandboxDied: the stream ended.
            ProtocolViolation: the runner broke the contract.
        """
        (report,) = self.execute_all([execution], patience_s=None)
        if report is None:
            raise ProtocolViolation("the runner skipped what it was not allowed to skip")
        return report

    def execute_all(
        self, executions: Sequence[Execution], *, patience_s: float | None
    ) -> list[ExecutionReport | None]:
        """Sends executions, small ones before the reports of those before have come.

        The runner skips those whose turn comes later than `patience_s` seconds after the first's.

        Raises:
            SandboxDied: the stream ended.
            ProtocolViolation: the runner broke the contract.
        """
        longest_s = max((_longest_s(each) for each in executions), default=0.0)
        reports: list[ExecutionReport | None] = []
        under_way: deque[int] = deque()
        for execution in executions:
            pieces = _frame(execution, patience_s)
            size = sum(map(len, pieces))
            while under_way and sum(under_way) + size > _AHEAD_BYTES:
                reports.append(self._receive(executions[len(reports)], longest_s))
                under_way.popleft()
            for piece in pieces:
                self._transport.send(piece)
            under_way.append(size)
        rest = executions[len(reports) :]
        return reports + [self._receive(execution, longest_s) for execution in rest]

    def _receive(self, execution: Execution, longest_s: float) -> ExecutionReport | None:
        gathered = _Gathered(len(execution.runs))
        while not gathered.done:
            gathered.take(stream.read_frame(self._transport, _GRACE_S + longest_s))
        return None if gathered.is_skipped else gathered.report(execution)


def _longest_s(execution: Execution) -> float:
    compile_step = [execution.compile] if execution.compile else []
    steps: list[CompileRequest | RunRequest] = [*compile_step, *execution.runs]
    return max((step.limits.wall_backstop_s for step in steps), default=0.0)


def _limits(limits: Limits, *, address_space: bool) -> dict[str, Any]:
    return {
        "cpu_time_s": limits.cpu_time_s,
        "wall_time_s": limits.wall_backstop_s,
        "memory_bytes": limits.memory_bytes,
        "output_bytes": limits.output_bytes,
        "processes": limits.processes,
        "open_files": limits.open_files,
        "disk_bytes": limits.disk_bytes,
        "inodes": limits.inodes,
        "address_space": address_space,
    }


def _frame(execution: Execution, patience_s: float | None) -> list[bytes]:
    blobs = stream.Blobs()
    step = execution.compile
    header = {
        "patience_s": patience_s,
        "files": {path: blobs.add(data) for path, data in execution.files.items()},
        "artifacts": {path: blobs.add(data) for path, data in execution.artifacts.items()},
        "source": execution.source,
        "candidate_files": execution.candidate_files,
        "env": execution.env,
        "compile": None
        if step is None
        else {
            "argv": step.argv,
            "artifacts": step.artifacts,
            "limits": _limits(step.limits, address_space=False),
        },
        "runs": [
            {
                "kind": run.kind,
                "argv": run.argv,
                "source": execution.source,
                "stdin": blobs.add(run.stdin),
                "function": run.function,
                "call_json": run.call_json,
                "test_code": run.test_code,
                "is_warm": run.is_warm,
                "interactor": run.interactor and _interactor(run.interactor, blobs),
                "limits": _limits(run.limits, address_space=execution.address_space_limit),
            }
            for run in execution.runs
        ],
    }
    return blobs.frame(header)


def _interactor(asked: InteractorRequest, blobs: stream.Blobs) -> dict[str, Any]:
    return {
        "argv": asked.argv,
        "source": asked.source,
        "files": {path: blobs.add(data) for path, data in asked.files.items()},
        "limits": _limits(asked.limits, address_space=False),
    }


class _Gathered:
    """Reports as they come in, checked against what was asked for."""

    def __init__(self, expected_runs: int) -> None:
        self._expected_runs = expected_runs
        self._compile: RunReport | None = None
        self._artifacts: dict[str, bytes] = {}
        self._runs: list[RunReport] = []
        self.done = False
        self.is_skipped = False

    def take(self, header: dict[str, Any]) -> None:
        """Takes one frame.

        Raises:
            SandboxDied: the runner says that it could not do it.
            ProtocolViolation: the frame does not fit.
        """
        if header.get("error"):
            raise SandboxDied(f"the runner could not do it: {header['error']}")
        try:
            for item in header["reports"]:
                self._take_item(dict(item))
            self.done = bool(header["done"])
            self.is_skipped = bool(header.get("skipped"))
        except (ValidationError, KeyError, TypeError, ValueError) as error:
            raise ProtocolViolation(f"a report does not fit: {error}") from error

    def _take_item(self, item: dict[str, Any]) -> None:
        kind = item.pop("kind")
        if kind == "artifact":
            self._artifacts[str(item["path"])] = bytes(item["content"])
        elif kind == "compile":
            self._compile = RunReport.model_validate(item)
        elif kind == "run":
            self._runs.append(RunReport.model_validate(item))
        else:
            raise ValueError(f"kind {kind!r}")

    def report(self, execution: Execution) -> ExecutionReport:
        """Returns the whole.

        Raises:
            ProtocolViolation: reports are missing, or too many.
        """
        compiled = self._compile is None or (
            self._compile.ending == "exited" and self._compile.exit_code == 0
        )
        if len(self._runs) != (self._expected_runs if compiled else 0):
            raise ProtocolViolation(f"{len(self._runs)} reports for {self._expected_runs} runs")
        if execution.compile is not None and self._compile is None:
            raise ProtocolViolation("no report of the compile step")
        return ExecutionReport(
            compile=self._compile, artifacts=self._artifacts, runs=tuple(self._runs)
        )
