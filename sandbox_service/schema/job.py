"""What the API says about a submission that is not finished, and about several at once."""

from typing import Annotated

from pydantic import Field, JsonValue

from sandbox_service.schema.base import Model
from sandbox_service.schema.result import Result
from sandbox_service.schema.submission import Submission
from sandbox_service.schema.verdict import JobStatus

MAX_REWARDS_PER_REQUEST = 10_000

BatchId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$")]


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
    """Workers that take submissions, from every queue."""

    oldest_s: float = 0.0
    """Seconds for which the oldest has been waiting."""


class BatchRequest(Model):
    """Many submissions whose results are fetched later."""

    submissions: Annotated[tuple[dict[str, JsonValue], ...], Field(min_length=1)]
    """Submissions, each without what the defaults say; the order gives each its index."""

    defaults: dict[str, JsonValue] = {}
    """Fields of a submission for all that do not have them; `limits` and `metadata` are mixed."""

    id: BatchId | None = None
    """Idempotency key: the same id with the same content is the same batch."""


class BatchCreated(Model):
    """A batch was stored."""

    id: str
    """The batch's id."""

    count: int
    """Number of submissions."""


class BatchState(Model):
    """How far a batch is."""

    id: str
    """The batch's id."""

    count: int
    """Number of submissions."""

    is_complete: bool
    """False while submissions are still being received."""

    queued: int = 0
    """Submissions that wait."""

    started: int = 0
    """Submissions that run."""

    finished: int = 0
    """Submissions with a result."""

    canceled: int = 0
    """Submissions that will have none."""


class BatchResult(Model):
    """One line of the results of a batch, in the order in which they were done."""

    cursor: int
    """Give it as `after` to go on behind this line."""

    index: int
    """Place of the submission in the batch."""

    id: str
    """The submission's id."""

    status: JobStatus
    """`finished` or `canceled`."""

    result: Result
    """The result."""
