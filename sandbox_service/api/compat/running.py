"""One program run for a foreign client: same queue, walls and limits as any submission.

Such clients take 429 and 503 for a wrong answer, so a full queue is waited out within the
request's own deadline.
"""

import asyncio
from dataclasses import dataclass, field

from fastapi import Request
from pydantic import JsonValue

from sandbox_service.api.service import Service, service_of
from sandbox_service.errors import QueueFull, QueueUnavailable
from sandbox_service.languages import Language
from sandbox_service.schema.limits import MIB, Limits
from sandbox_service.schema.result import Result, StepResult
from sandbox_service.schema.submission import Submission
from sandbox_service.schema.testcase import ExitCodeTest
from sandbox_service.schema.verdict import JobStatus, Verdict
from sandbox_service.settings import Settings

_RETRY_S = 0.25
_OUTPUT_BYTES = 4 * MIB
_SMALLEST_MEMORY = 16 * MIB
_SIGKILL = 9


class NotInTime(Exception):
    """No result came within the request's deadline."""


@dataclass(frozen=True, slots=True)
class Program:
    """What a foreign client wants to have run."""

    language: Language
    code: str
    stdin: str = ""
    args: tuple[str, ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    id: str | None = None
    metadata: dict[str, JsonValue] = field(default_factory=dict)

    def submission(self, deadline_s: float) -> Submission:
        """Returns it as a submission without a judgement of its output.

        Raises:
            ValidationError: a part of it does not fit.
        """
        test = ExitCodeTest(stdin=self.stdin, exit_code=0, args=self.args)
        return Submission(
            language=self.language.name,
            code=self.code,
            tests=(test,),
            files=self.files,
            limits=self.limits,
            deadline_s=deadline_s,
            id=self.id,
            metadata=self.metadata,
        )


def limits_within(
    settings: Settings,
    wall_s: float,
    memory_bytes: int | None = None,
    output_bytes: int = _OUTPUT_BYTES,
) -> Limits:
    """Returns the limits asked for, or the service's own maxima where these are lower."""
    memory = settings.max_memory_bytes if memory_bytes is None else memory_bytes
    return Limits(
        cpu_time_s=min(wall_s, settings.max_cpu_time_s),
        wall_time_s=min(wall_s, settings.max_wall_time_s),
        memory_bytes=max(_SMALLEST_MEMORY, min(memory, settings.max_memory_bytes)),
        output_bytes=min(output_bytes, settings.max_output_bytes),
    )


async def run(request: Request, program: Program, hold_s: float) -> Result:
    """Runs a program and returns what came of it.

    Raises:
        NotInTime: the queue had no room, did not answer, or no result came in time.
        InvalidBody: a part does not fit.
        ValidationError: a part does not fit.
    """
    return await judged(request, program.submission(max(hold_s, _RETRY_S)), hold_s)


async def judged(request: Request, submission: Submission, hold_s: float) -> Result:
    """Runs a submission and returns its result.

    Raises:
        NotInTime: the queue had no room, did not answer, or no result came in time.
        InvalidBody: a part does not fit.
    """
    service = service_of(request)
    try:
        await service.check([submission], [""])
        async with asyncio.timeout(hold_s):
            result = await _when_there_is_room(request, service, submission, hold_s)
    except (TimeoutError, QueueUnavailable) as error:
        raise NotInTime from error
    if result is None or result.status is JobStatus.CANCELED:
        raise NotInTime
    return result


async def _when_there_is_room(
    request: Request, service: Service, submission: Submission, hold_s: float
) -> Result | None:
    while True:
        try:
            submitted = await service.submit(request, [submission], hold_s)
            state = (await service.states(submitted))[0]
        except (QueueFull, QueueUnavailable):
            await asyncio.sleep(_RETRY_S)
            continue
        return None if state.result is None else Result.model_validate_json(state.result)


def step_of(result: Result) -> StepResult:
    """Returns the step that says what became of the program: its run, else its compile step."""
    if result.tests:
        return result.tests[0]
    return result.compile or StepResult(verdict=result.verdict, detail=result.detail)


def code_of(step: StepResult) -> int:
    """Returns an exit code as Python's `subprocess` has it: negative for signals."""
    if step.exit_code is not None:
        return step.exit_code
    if step.verdict is Verdict.COMPILE_ERROR:
        return 1
    return -(step.signal or _SIGKILL)
