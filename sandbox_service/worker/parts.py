"""The submissions that a worker has claimed and not yet answered."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from sandbox_service.queue.payload import Payload
from sandbox_service.queue.tickets import Claim
from sandbox_service.schema.submission import Submission
from sandbox_service.worker.pipeline import Ahead

# Submissions this quick are claimed and run several at a time.
QUICK_S = 0.05
_MOST_AHEAD = 8


class Pace:
    """How many submissions are claimed and run at a time: more of them while they are quick."""

    def __init__(self) -> None:
        self.count = 1

    def took(self, seconds: float) -> None:
        """Notes what each of the latest took."""
        self.count = min(2 * self.count, _MOST_AHEAD) if seconds < QUICK_S else 1


@dataclass(slots=True)
class Job:
    """A submission that this worker has claimed."""

    ref: str
    claim: Claim
    payload: Payload | None = None
    refusal: str = ""
    """Why there is no payload."""
    submission: Submission | None = None
    """With its tests, when it was looked at before its turn."""
    ahead: Ahead | None = None

    @property
    def ahead_s(self) -> float:
        """Seconds for which it was run before its turn."""
        runs = self.ahead.report.runs if self.ahead else ()
        return sum(run.usage.wall_time_s for run in runs)


@dataclass(slots=True)
class Part:
    """Submissions that are claimed together."""

    jobs: list[Job]
    wait: Callable[[], list[Ahead | None]]
    """Waits for those that the sandbox runs ahead."""

    def gather(self) -> bool:
        """Notes what was run ahead; returns whether that is all of it."""
        looked_at = [job for job in self.jobs if job.submission]
        for job, ahead in zip(looked_at, self.wait(), strict=False):
            job.ahead = ahead
        return bool(self.jobs) and all(job.ahead for job in self.jobs)


class Stop(NamedTuple):
    """Where a worker stopped because it drains, others are idle, or the engine is down."""

    left: list[str]
    reason: str = ""
    """Why nothing can be run here."""
