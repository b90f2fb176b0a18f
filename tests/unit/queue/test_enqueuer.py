import asyncio
import threading
from collections.abc import Sequence

import pytest
import redis

from sandbox_service.errors import QueueUnavailable
from sandbox_service.queue import enqueuer
from sandbox_service.queue.enqueuer import Enqueuer
from sandbox_service.queue.tickets import Acceptance, Outcome, Ticket


class SlowStore:
    """Holds every write until it is let go, and remembers what was written together."""

    def __init__(self) -> None:
        self.writes: list[list[str]] = []
        self.begun = threading.Event()
        self.go = threading.Event()

    def accept(
        self, tickets: Sequence[Ticket], *, workers: int, largest: int, ttl_s: int
    ) -> Acceptance:
        self.writes.append([ticket.ref for ticket in tickets])
        self.begun.set()
        assert self.go.wait(10)
        return Acceptance(tuple(Outcome.NEW for _ in tickets), depth=len(tickets), workers=4)


class BrokenStore:
    def accept(
        self, tickets: Sequence[Ticket], *, workers: int, largest: int, ttl_s: int
    ) -> Acceptance:
        raise redis.ConnectionError("gone")


def _enqueuer(store: object) -> Enqueuer:
    return Enqueuer(store, largest_chunk=16, ttl_s=60)


def _put(writer: Enqueuer, *names: str) -> "asyncio.Task[tuple[Outcome, ...]]":
    tickets = [Ticket(name, "", b"") for name in names]
    return asyncio.create_task(writer.put(tickets))


async def test_what_arrives_during_a_write_goes_into_the_next_one() -> None:
    store = SlowStore()
    writer = _enqueuer(store)
    first = _put(writer, "a")
    await asyncio.to_thread(store.begun.wait, 10)
    others = [_put(writer, "b", "c"), _put(writer, "d")]
    await asyncio.sleep(0)
    store.go.set()

    assert [len(outcomes) for outcomes in await asyncio.gather(first, *others)] == [1, 2, 1]
    assert store.writes == [["a"], ["b", "c", "d"]]
    writer.close()


async def test_caller_that_leaves_does_not_disturb_the_others() -> None:
    store = SlowStore()
    writer = _enqueuer(store)
    leaver, stayer = _put(writer, "a"), _put(writer, "b")
    await asyncio.sleep(0)
    leaver.cancel()
    store.go.set()

    assert await stayer == (Outcome.NEW,)
    writer.close()


async def test_failed_write_is_told_to_every_caller() -> None:
    writer = _enqueuer(BrokenStore())
    answers = await asyncio.gather(_put(writer, "a"), _put(writer, "b"), return_exceptions=True)

    assert [type(answer) for answer in answers] == [QueueUnavailable] * 2
    writer.close()


async def test_writes_are_cut_so_that_redis_is_never_busy_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(enqueuer, "_AT_ONCE", 2)
    store = SlowStore()
    store.go.set()
    writer = _enqueuer(store)

    outcomes = await _put(writer, "a", "b", "c")

    assert store.writes == [["a", "b"], ["c"]]
    assert len(outcomes) == 3
    writer.close()
