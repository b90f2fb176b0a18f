"""Sandboxes kept warm for one worker: one run at a time, each used by many submissions in turn.

A sandbox is replaced after a number of executions, after some time, after the kernel ended
something in it for memory, and whenever there is any doubt.
"""

import time
from dataclasses import dataclass, field

import structlog

from sandbox_service.errors import SandboxError
from sandbox_service.sandbox.artifacts import ArtifactCache
from sandbox_service.sandbox.base import Engine, Sandbox
from sandbox_service.schema.run import Ending, Execution, ExecutionReport, RunReport
from sandbox_service.settings import Settings

_log = structlog.get_logger(__name__)
_ARTIFACT_CACHE_BYTES = 256 * 1024 * 1024


@dataclass
class _Warm:
    """A sandbox of the pool and what decides how long it stays."""

    sandbox: Sandbox
    memory_bytes: int
    started_s: float = field(default_factory=time.monotonic)
    used: int = 0


class Pool:
    """The sandboxes of one worker."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._max_used = settings.sandbox_max_jobs
        self._max_age_s = settings.sandbox_max_age_s
        self._max_idle = settings.sandbox_max_idle
        self._idle: dict[str, list[_Warm]] = {}
        self._artifacts = ArtifactCache(_ARTIFACT_CACHE_BYTES)

    def execute(self, execution: Execution, *, fresh: bool) -> ExecutionReport:
        """Compiles, unless the result is known, and runs; each step under its own memory limit."""
        if execution.compile is None:
            return self._run(execution, fresh=fresh)
        compiled = self._compile(execution, fresh=fresh)
        if not _went_well(compiled):
            return compiled
        rest = execution.model_copy(update={"compile": None, "artifacts": compiled.artifacts})
        ran = self._run(rest, fresh=fresh)
        return ran.model_copy(update={"compile": compiled.compile})

    def warm_up(self, image: str, memory_bytes: int) -> None:
        """Starts a sandbox before anybody needs it."""
        self._give_back(image, self._start(image, memory_bytes))

    def close(self) -> None:
        for idle in self._idle.values():
            for warm in idle:
                warm.sandbox.close()
        self._idle.clear()

    def _compile(self, execution: Execution, *, fresh: bool) -> ExecutionReport:
        key = self._artifacts.key(execution)
        known = self._artifacts.get(key)
        if known is not None:
            return known
        report = self._run(execution.model_copy(update={"runs": ()}), fresh=fresh)
        if _went_well(report):
            self._artifacts.put(key, report)
        return report

    def _run(self, execution: Execution, *, fresh: bool) -> ExecutionReport:
        warm = self._take(execution, fresh=fresh)
        try:
            report = warm.sandbox.execute(execution)
        except SandboxError as error:
            _log.warning("sandbox_lost", image=execution.image, reason=str(error))
            warm.sandbox.close()
            raise
        except BaseException:
            warm.sandbox.close()
            raise
        warm.used += 1
        if fresh or self._is_worn(warm, report):
            warm.sandbox.close()
        else:
            self._give_back(execution.image, warm)
        return report.model_copy(update={"sandbox": warm.sandbox.info})

    def _take(self, execution: Execution, *, fresh: bool) -> _Warm:
        needed = memory_of(execution)
        idle = self._idle.get(execution.image, [])
        if fresh or not idle:
            return self._start(execution.image, needed)
        fitting = next((warm for warm in idle if warm.memory_bytes == needed), None)
        warm = fitting or idle[0]
        idle.remove(warm)
        if warm.memory_bytes != needed:
            try:
                warm.sandbox.set_memory(needed)
            except SandboxError:
                warm.sandbox.close()
                raise
            warm.memory_bytes = needed
        return warm

    def _start(self, image: str, memory_bytes: int) -> _Warm:
        started = time.monotonic()
        sandbox = self._engine.start(image, memory_bytes=memory_bytes)
        _log.debug("sandbox_started", image=image, start_s=round(time.monotonic() - started, 3))
        return _Warm(sandbox, memory_bytes)

    def _give_back(self, image: str, warm: _Warm) -> None:
        idle = self._idle.setdefault(image, [])
        idle.append(warm)
        if len(idle) > self._max_idle:
            idle.pop(0).sandbox.close()

    def _is_worn(self, warm: _Warm, report: ExecutionReport) -> bool:
        return (
            warm.used >= self._max_used
            or time.monotonic() - warm.started_s > self._max_age_s
            or any(run.ending is Ending.MEMORY_LIMIT for run in _steps(report))
        )


def memory_of(execution: Execution) -> int:
    """Returns the memory limit that an execution needs, in bytes."""
    steps = [execution.compile] if execution.compile else list(execution.runs)
    return max(step.limits.memory_bytes for step in steps)


def _steps(report: ExecutionReport) -> list[RunReport]:
    return [*([report.compile] if report.compile else []), *report.runs]


def _went_well(report: ExecutionReport) -> bool:
    step = report.compile
    return step is not None and step.ending is Ending.EXITED and step.exit_code == 0
