"""What goes into Redis and comes out of it on the way of a submission, as values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from typing import Any, NamedTuple
from uuid import uuid4

from sandbox_service.queue import keys
from sandbox_service.queue.keys import Place
from sandbox_service.schema.verdict import JobStatus, Lane


class Outcome(StrEnum):
    """What became of a submission that was to be stored."""

    NEW = "new"
    SAME = "same"
    CONFLICT = "conflict"


class Membership(NamedTuple):
    """The place of a submission in a batch."""

    batch: str
    """Reference of the batch."""
    place: int


@dataclass(frozen=True, slots=True)
class Ticket:
    """A submission on its way into Redis."""

    ref: str
    digest: str
    """Of the content; empty when we made the id."""
    payload: bytes
    """Sealed."""
    lane: Lane = Lane.TRAIN
    deadline_s: float | None = None
    flight: str = ""
    """Key shared with equal submissions; empty when it is to be run in any case."""
    result: bytes = b""
    """Sealed; empty unless there is one already."""
    reward: bytes = b""
    membership: Membership | None = None

    @property
    def place(self) -> Place:
        """Where it waits."""
        return Place(self.lane.value, keys.tenant_of(self.ref))


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What Redis said to several tickets."""

    outcomes: tuple[Outcome, ...]
    depth: int
    """Submissions waiting afterwards."""
    workers: int
    """Workers registered."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A submission that a worker has begun."""

    payload: bytes
    """Sealed."""
    attempt: int
    """Counts from one; zero when the deadline has passed and nothing was begun."""
    queued_s: float


class Finished(NamedTuple):
    """What came of storing a result."""

    is_stored: bool
    """False when there was a result already."""
    followers: list[str]
    """Submissions that wait for an equal one's result."""


@dataclass(frozen=True, slots=True)
class Done:
    """What is to be stored about a submission that is done."""

    result: bytes
    """As JSON."""
    reward: float | None
    status: JobStatus = JobStatus.FINISHED
    is_dead: bool = False
    """Whether an operator shall look at it."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """What is added to the shared counters with it."""

    @property
    def reward_json(self) -> str:
        """The reward as JSON; `null` is no information."""
        return "null" if self.reward is None else repr(self.reward)


def claim_from(reply: list[Any] | None) -> Claim | None:
    """Reads what the script that claims a submission returns."""
    if not reply:
        return None
    return Claim(payload=reply[0], attempt=int(reply[1]), queued_s=max(0.0, float(reply[2])))


def chunks(refs: Sequence[str], size: int) -> list[list[str]]:
    """Cuts a sequence into lists of at most `size`."""
    return [list(refs[at : at + size]) for at in range(0, len(refs), size)]


def chunk_size(count: int, workers: int, largest: int) -> int:
    """Returns how many submissions one RQ job shall carry, so that every worker gets some."""
    return max(1, min(largest, -(-count // (max(workers, 1) * 2))))


class CarryingJob(NamedTuple):
    """An RQ job and the submissions that it carries."""

    id: str
    place: Place
    refs: list[str]


def jobs_for(tickets: Sequence[Ticket], workers: int, largest: int) -> Iterator[CarryingJob]:
    """Shares out submissions among RQ jobs."""
    to_run = [ticket for ticket in tickets if not ticket.result]
    for place, group in groupby(sorted(to_run, key=_place), key=_place):
        refs = list(dict.fromkeys(ticket.ref for ticket in group))
        for part in chunks(refs, chunk_size(len(refs), workers, largest)):
            yield CarryingJob(keys.job_id(uuid4().hex, place), place, part)


def _place(ticket: Ticket) -> Place:
    return ticket.place


def arguments_of(ticket: Ticket, carrier: Mapping[str, str]) -> tuple[Any, ...]:
    """Returns what the script that accepts it wants to know."""
    batch, index = ticket.membership or ("", "")
    return (
        ticket.ref,
        ticket.digest,
        ticket.payload,
        ticket.lane.value,
        "" if ticket.deadline_s is None else ticket.deadline_s,
        ticket.flight,
        ticket.result,
        ticket.reward,
        carrier.get(ticket.ref, ""),
        batch,
        index,
    )
