"""One conversation with a runner: hello, then executions and their reports."""

from collections import deque
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from sandbox_service.errors import InnerWallRefused, ProtocolViolation, SandboxDied
from sandbox_service.sandbox import stream
from sandbox_service.sandbox.base import Gather
from sandbox_service.sandbox.framing import frame_of
from sandbox_service.schema.base import Model
from sandbox_service.schema.run import (
    CompileRequest,
    Execution,
    ExecutionReport,
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
        (report,) = self.begin_all([execution], patience_s=None)()
        if report is None:
            raise ProtocolViolation("the runner skipped what it was not allowed to skip")
        return report

    def begin_all(self, executions: Sequence[Execution], *, patience_s: float | None) -> Gather:
        """Sends executions, small ones before the reports of those before have come.

        The runner skips those whose turn comes later than `patience_s` seconds after the first's.

        Raises:
            SandboxDied: the stream ended; so does what gathers the reports.
            ProtocolViolation: the runner broke the contract; so does what gathers the reports.
        """
        return _Flight(self._transport, executions, patience_s).gather


class _Flight:
    """Executions of which some are sent and some are answered."""

    def __init__(
        self, transport: stream.Transport, executions: Sequence[Execution], patience_s: float | None
    ) -> None:
        self._transport = transport
        self._executions = executions
        self._frames = (frame_of(each, patience_s) for each in executions)
        self._next = next(self._frames, None)
        self._under_way: deque[int] = deque()
        self._longest_s = max((_longest_s(each) for each in executions), default=0.0)
        self._send()

    def _send(self) -> None:
        """Sends what the runner can take without being read from."""
        while self._next is not None:
            size = sum(map(len, self._next))
            if self._under_way and sum(self._under_way) + size > _AHEAD_BYTES:
                return
            for piece in self._next:
                self._transport.send(piece)
            self._under_way.append(size)
            self._next = next(self._frames, None)

    def gather(self) -> list[ExecutionReport | None]:
        """Receives the reports, and sends the rest meanwhile."""
        reports = []
        for execution in self._executions:
            reports.append(self._receive(execution))
            self._under_way.popleft()
            self._send()
        return reports

    def _receive(self, execution: Execution) -> ExecutionReport | None:
        gathered = _Gathered(len(execution.runs))
        while not gathered.done:
            gathered.take(stream.read_frame(self._transport, _GRACE_S + self._longest_s))
        return None if gathered.is_skipped else gathered.report(execution)


def _longest_s(execution: Execution) -> float:
    compile_step = [execution.compile] if execution.compile else []
    steps: list[CompileRequest | RunRequest] = [*compile_step, *execution.runs]
    return max((step.limits.wall_backstop_s for step in steps), default=0.0)


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
