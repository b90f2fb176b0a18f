import asyncio
import threading
from collections.abc import Sequence

import pytest
import redis

from sandbox_service.errors import QueueFull, QueueUnavailable
from sandbox_service.queue.enqueuer import Enqueuer
from sandbox_service.queue.submissions import Acceptance, Outcome, Ticket


class SlowStore:
    """Holds every write until it is let go, and remembers what was written together."""

    def __init__(self) -> None:
        self.writes: list[list[str]] = []
        self.begun = threading.Event()
        self.go = threading.Event()

    def accept(self, tickets: Sequence[Ticket], *, workers: int, largest: int) -> Acceptance:
        self.writes.append([ticket.id for ticket in tickets])
        self.begun.set()
        assert self.go.wait(10)
        return Acceptance(tuple(Outcome.NEW for _ in tickets), depth=len(tickets), workers=4)


class BrokenStore:
    def accept(self, tickets: Sequence[Ticket], *, workers: int, largest: int) -> Acceptance:
        raise redis.ConnectionError("gone")


def _enqueuer(store: object, max_depth: int = 100) -> Enqueuer:
    return Enqueuer(store, largest_chunk=16, max_depth=max_depth)


def _put(enqueuer: Enqueuer, *names: str) -> "asyncio.Task[tuple[Outcome, ...]]":
    tickets = [Ticket(name, "", b"") for name in names]
    return asyncio.create_task(enqueuer.put(tickets))


async def test_what_arrives_during_a_write_goes_into_the_next_one() -> None:
    store = SlowStore()
    enqueuer = _enqueuer(store)
    first = _put(enqueuer, "a")
    await asyncio.to_thread(store.begun.wait, 10)
    others = [_put(enqueuer, "b", "c"), _put(enqueuer, "d")]
    await asyncio.sleep(0)
    store.go.set()

    assert [len(outcomes) for outcomes in await asyncio.gather(first, *others)] == [1, 2, 1]
    assert store.writes == [["a"], ["b", "c", "d"]]
    enqueuer.close()


async def test_caller_that_leaves_does_not_disturb_the_others() -> None:
    store = SlowStore()
    enqueuer = _enqueuer(store)
    leaver, stayer = _put(enqueuer, "a"), _put(enqueuer, "b")
    await asyncio.sleep(0)
    leaver.cancel()
    store.go.set()

    assert await stayer == (Outcome.NEW,)
    enqueuer.close()


async def test_failed_write_is_told_to_every_caller() -> None:
    enqueuer = _enqueuer(BrokenStore())
    answers = await asyncio.gather(_put(enqueuer, "a"), _put(enqueuer, "b"), return_exceptions=True)

    assert [type(answer) for answer in answers] == [QueueUnavailable] * 2
    enqueuer.close()


def test_room_is_checked_against_the_bound() -> None:
    enqueuer = _enqueuer(SlowStore(), max_depth=10)
    enqueuer.check_room(4, 6)

    with pytest.raises(QueueFull) as refusal:
        enqueuer.check_room(5, 6)

    assert refusal.value.retry_after_s >= 1.0
    enqueuer.close()
