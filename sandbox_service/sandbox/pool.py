"""Sandboxes kept warm for one worker: one run at a time, each used by many submissions in turn.

A sandbox is replaced after a number of executions, after some time, after the kernel ended
something in it for memory, and whenever there is any doubt. One that is asked for as `fresh` is
used once; the next one is begun at once.
"""

import contextlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from time import monotonic

import structlog

from sandbox_service.errors import ProtocolViolation, SandboxError
from sandbox_service.sandbox.artifacts import ArtifactCache
from sandbox_service.sandbox.background import Background, Warm, start
from sandbox_service.sandbox.base import Engine, Gather, PoolFigures
from sandbox_service.schema.run import Ending, Execution, ExecutionReport, RunReport
from sandbox_service.settings import Settings

_log = structlog.get_logger(__name__)
_REAP_EVERY_S = 60.0
_PATIENCE_S = 0.25  # nothing waits longer than this for one that was looked at before it
_INPUT_UNIT_BYTES = 16 * 1024 * 1024
_ARTIFACT_CACHE_BYTES = 256 * 1024 * 1024


class Pool:
    """The sandboxes of one worker. Used by one thread; the background has its own."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings
        self._idle: dict[str, list[Warm]] = defaultdict(list)
        self._background = Background(engine)
        self._artifacts = ArtifactCache(_ARTIFACT_CACHE_BYTES)
        self._reaped_s = float("-inf")
        self._under_way: _Flight | None = None
        self._figures = PoolFigures()

    def figures(self) -> PoolFigures:
        """Counts the sandboxes that were handed to this pool."""
        return self._figures

    def execute(self, execution: Execution, *, fresh: bool) -> ExecutionReport:
        """Compiles, unless the result is known, and runs; each step under its own memory limit."""
        if execution.compile is None:
            return self._run(execution, fresh=fresh)
        compiled = self._compile(execution, fresh=fresh)
        if not _went_well(compiled) or not execution.runs:
            return compiled
        rest = execution.model_copy(update={"compile": None, "artifacts": compiled.artifacts})
        ran = self._run(rest, fresh=fresh)
        return ran.model_copy(update={"compile": compiled.compile})

    def look_ahead(self, executions: Sequence[Execution]) -> Gather:
        """Begins those that one sandbox can run as they are, without a pause between.

        What comes after a run that took too much memory is left out: the sandbox is in doubt.
        """
        self._land()
        fit = [_fits_beside(each, executions[0]) for each in executions]
        if sum(fit) < 2 or self._engine.is_single_use:
            return lambda: [None] * len(fit)
        wanted = [each for each, does_fit in zip(executions, fit, strict=True) if does_fit]
        flight = self._under_way = self._begin(wanted, fresh=False, patience_s=_PATIENCE_S)

        def gather() -> list[ExecutionReport | None]:
            if self._under_way is flight:
                self._land()
            ran = _until_in_doubt(flight.reports)
            return [next(ran, None) if does_fit else None for does_fit in fit]

        return gather

    def warm_up(self, image: str, memory_bytes: int) -> None:
        """Starts a sandbox before anybody needs it.

        Raises:
            SandboxError: it does not start.
        """
        self._idle[image].append(self._counted(start(self._engine, image, memory_bytes)))

    def tidy(self) -> None:
        """Removes sandboxes that nobody has used for a while, and what dead workers left."""
        self._land()
        now = monotonic()
        for idle in self._idle.values():
            for warm in list(idle):
                if now - warm.idle_since_s > self._settings.sandbox_idle_s:
                    idle.remove(warm)
                    self._discard(warm)
        if now - self._reaped_s > _REAP_EVERY_S:
            self._reaped_s = now
            self._engine.reap()

    def close(self) -> None:
        if self._under_way is not None:
            self._discard(self._under_way.warm)
            self._under_way = None
        for idle in self._idle.values():
            for warm in idle:
                self._discard(warm)
        self._idle.clear()
        self._background.shut_down()

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
        (report,) = self._run_all(execution, fresh=fresh)
        if report is None:
            raise ProtocolViolation("the runner skipped what it was not allowed to skip")
        return report

    def _run_all(self, execution: Execution, *, fresh: bool) -> list[ExecutionReport | None]:
        self._land()
        return self._end(self._begin([execution], fresh=fresh, patience_s=None))

    def _land(self) -> None:
        """Waits for what was begun ahead, so that its sandbox is free."""
        flight, self._under_way = self._under_way, None
        if flight is not None:
            with contextlib.suppress(SandboxError):  # it is told, and run again in its turn
                flight.reports = self._end(flight)

    def _begin(
        self, executions: Sequence[Execution], *, fresh: bool, patience_s: float | None
    ) -> "_Flight":
        once = fresh or self._engine.is_single_use
        warm = self._take(executions[0].image, memory_of(executions[0]), once=once)
        with self._closed_on_error(warm):
            gather = warm.sandbox.begin_all(executions, patience_s=patience_s)
        return _Flight(warm, gather, once=once)

    def _end(self, flight: "_Flight") -> list[ExecutionReport | None]:
        warm = flight.warm
        with self._closed_on_error(warm):
            reports = flight.gather()
        warm.used += len(reports)
        if flight.once or self._is_worn(warm, reports):
            self._discard(warm)
            self._replace(warm, once=flight.once)
        else:
            self._give_back(warm)
        return [each and each.model_copy(update={"sandbox": warm.sandbox.info}) for each in reports]

    @contextlib.contextmanager
    def _closed_on_error(self, warm: Warm) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self._discard(warm, is_lost=True)
            if isinstance(error, SandboxError):
                _log.warning("sandbox_lost", image=warm.image, reason=str(error))
            raise

    def _take(self, image: str, memory_bytes: int, *, once: bool) -> Warm:
        idle = [warm for warm in self._idle[image] if not (once and warm.used)]
        if idle:
            fitting = next((warm for warm in idle if warm.memory_bytes == memory_bytes), None)
            warm = fitting or idle[0]
            self._idle[image].remove(warm)
        else:
            coming = self._background.take(image)
            warm = self._counted(coming or start(self._engine, image, memory_bytes))
        if warm.memory_bytes != memory_bytes:
            self._resize(warm, memory_bytes)
        return warm

    def _resize(self, warm: Warm, memory_bytes: int) -> None:
        try:
            warm.sandbox.set_memory(memory_bytes)
        except SandboxError:
            self._discard(warm, is_lost=True)
            raise
        warm.memory_bytes = memory_bytes

    def _counted(self, warm: Warm) -> Warm:
        count = self._figures
        self._figures = count._replace(open=count.open + 1, started=count.started + 1)
        return warm

    def _discard(self, warm: Warm, *, is_lost: bool = False) -> None:
        self._background.close(warm)
        count = self._figures
        self._figures = count._replace(open=count.open - 1, lost=count.lost + is_lost)

    def _replace(self, warm: Warm, *, once: bool) -> None:
        """Begins the next sandbox: as many ahead as are used once, or one for a worn one."""
        ahead = self._settings.sandbox_spares if once else 1
        while self._background.coming(warm.image) < ahead:
            self._background.start(warm.image, warm.memory_bytes)

    def _give_back(self, warm: Warm) -> None:
        warm.idle_since_s = monotonic()
        idle = self._idle[warm.image]
        idle.append(warm)
        if len(idle) > self._settings.sandbox_max_idle:
            self._discard(idle.pop(0))

    def _is_worn(self, warm: Warm, reports: Sequence[ExecutionReport | None]) -> bool:
        return (
            warm.used >= self._settings.sandbox_max_jobs
            or monotonic() - warm.started_s > self._settings.sandbox_max_age_s
            or any(_ran_out_of_memory(report) for report in reports if report)
        )


class _Flight:
    """Executions that a sandbox was given, and what became of them."""

    def __init__(self, warm: Warm, gather: Gather, *, once: bool) -> None:
        self.warm, self.gather, self.once = warm, gather, once
        self.reports: list[ExecutionReport | None] = []


def memory_of(execution: Execution) -> int:
    """Returns the memory limit that an execution needs, in bytes.

    The runner holds the inputs in the same sandbox, once: large ones come on top of the limit.
    """
    steps = [execution.compile] if execution.compile else list(execution.runs)
    held = sum(len(run.stdin) for run in execution.runs)
    room = held + _INPUT_UNIT_BYTES - held % _INPUT_UNIT_BYTES if held > _INPUT_UNIT_BYTES else 0
    return max(step.limits.memory_bytes for step in steps) + room


def _fits_beside(execution: Execution, first: Execution) -> bool:
    return (
        execution.compile is None
        and execution.image == first.image
        and memory_of(execution) == memory_of(first)
    )


def _ran_out_of_memory(report: ExecutionReport) -> bool:
    return any(run.ending is Ending.MEMORY_LIMIT for run in _steps(report))


def _until_in_doubt(
    reports: Sequence[ExecutionReport | None],
) -> Iterator[ExecutionReport | None]:
    """Yields the reports up to the first run that took too much memory, and that."""
    for report in reports:
        yield report
        if report and _ran_out_of_memory(report):
            return


def _steps(report: ExecutionReport) -> list[RunReport]:
    return [*([report.compile] if report.compile else []), *report.runs]


def _went_well(report: ExecutionReport) -> bool:
    step = report.compile
    return step is not None and step.ending is Ending.EXITED and step.exit_code == 0
