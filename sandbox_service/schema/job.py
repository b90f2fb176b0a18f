"""What the API says about a submission that is not finished, and about several at once."""

from typing import Annotated

from pydantic import Field

from sandbox_service.schema.base import Model
from sandbox_service.schema.result import Result
from sandbox_service.schema.submission import Submission
from sandbox_service.schema.verdict import JobStatus

MAX_REWARDS_PER_REQUEST = 10_000


class JobState(Model):
    """A submission on its way."""

    id: str
    """The submission's id."""

    status: JobStatus
    """Where it is."""

    result: Result | None = None
    """The result, once the status is `finished`."""


class RewardsRequest(Model):
    """Several submissions whose rewards are wanted together."""

    submissions: Annotated[
        tuple[Submission, ...], Field(min_length=1, max_length=MAX_REWARDS_PER_REQUEST)
    ]
    """In the order in which the rewards shall come."""


class RewardsResponse(Model):
    """Rewards in the order of the request."""

    rewards: tuple[float | None, ...]
    """None means no information."""

    results: tuple[Result, ...]
    """The results behind the rewards."""


class RewardsPending(Model):
    """Answer when the wait was over before every submission was done."""

    submissions: tuple[JobState, ...]
    """Ids and states in the order of the request; the results follow under each id."""


class QueueState(Model):
    """One queue."""

    name: str
    """Name of the queue."""

    depth: int
    """Submissions waiting."""

    started: int
    """Submissions being run."""

    workers: int
    """Workers alive."""
