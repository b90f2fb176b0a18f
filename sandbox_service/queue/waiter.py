"""Waiting for results: one subscription for each API process, and one future for each request.

A message may be lost when the connection to Redis breaks, so what is waited for is also looked
up, all of it after a reconnect and a bounded part of it every second.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from itertools import islice

import redis.asyncio
import structlog

from sandbox_service.queue import keys
from sandbox_service.schema.verdict import JobStatus

_POLL_S = 1.0
_POLLED_AT_ONCE = 500
_DONE = {JobStatus.FINISHED.value.encode(), JobStatus.CANCELED.value.encode()}
_log = structlog.get_logger(__name__)


class Watch:
    """The submissions that one request waits for."""

    def __init__(self, ids: Iterable[str]) -> None:
        self.pending = set(ids)
        self._all_done = asyncio.Event()
        if not self.pending:
            self._all_done.set()

    def mark(self, submission_id: str) -> None:
        """Notes that a submission is done."""
        self.pending.discard(submission_id)
        if not self.pending:
            self._all_done.set()

    async def wait(self, timeout_s: float) -> bool:
        """Returns whether all are done, after `timeout_s` at the latest."""
        if self.pending and timeout_s > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._all_done.wait(), timeout_s)
        return not self.pending


class Waiter:
    """Hears which submissions are done and tells the requests that wait for them."""

    def __init__(self, connection: redis.asyncio.Redis) -> None:
        self._redis = connection
        self._watches: dict[str, list[Watch]] = {}
        self._listening: asyncio.Task[None] | None = None
        self._is_stopping = False

    async def start(self) -> None:
        """Subscribes, in the background and for as long as the process lives."""
        self._listening = asyncio.create_task(self._listen_for_ever())

    async def stop(self) -> None:
        """Ends the subscription."""
        # A cancellation that meets the end of a read's timeout can get lost; the flag does not.
        self._is_stopping = True
        if self._listening is not None:
            self._listening.cancel()
            with suppress(asyncio.CancelledError):
                await self._listening

    @asynccontextmanager
    async def watch(self, ids: Iterable[str]) -> AsyncIterator[Watch]:
        """Watches submissions; what is done afterwards cannot be missed."""
        watch = Watch(ids)
        watched = tuple(watch.pending)
        for submission_id in watched:
            self._watches.setdefault(submission_id, []).append(watch)
        try:
            yield watch
        finally:
            for submission_id in watched:
                self._forget(submission_id, watch)

    async def look_up(self, ids: Iterable[str]) -> None:
        """Reads from Redis which of these are done already."""
        remaining = iter(list(ids))
        while part := list(islice(remaining, _POLLED_AT_ONCE)):
            async with self._redis.pipeline(transaction=False) as pipeline:
                for submission_id in part:
                    pipeline.hget(keys.submission(submission_id), "status")
                statuses = await pipeline.execute()
            for submission_id, status in zip(part, statuses, strict=True):
                if status in _DONE:
                    self._tell(submission_id)

    def _tell(self, submission_id: str) -> None:
        for watch in self._watches.pop(submission_id, ()):
            watch.mark(submission_id)

    def _forget(self, submission_id: str, watch: Watch) -> None:
        watches = self._watches.get(submission_id)
        if watches is not None and watch in watches:
            watches.remove(watch)
            if not watches:
                del self._watches[submission_id]

    async def _listen_for_ever(self) -> None:
        while not self._is_stopping:
            try:
                await self._listen()
            except (redis.RedisError, OSError) as error:
                _log.warning("subscription_lost", reason=type(error).__name__)
                await asyncio.sleep(_POLL_S / 4)

    async def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        async with self._redis.pubsub() as channel:
            await channel.subscribe(keys.FINISHED)
            polled_at = loop.time()
            while not self._is_stopping:
                message = await channel.get_message(timeout=_POLL_S)
                if message is not None and message["type"] == "message":
                    self._tell(message["data"].decode())
                elif message is not None:
                    await self.look_up(self._watches)
                if loop.time() - polled_at >= _POLL_S:
                    polled_at = loop.time()
                    await self._poll()

    async def _poll(self) -> None:
        part = list(islice(self._watches, _POLLED_AT_ONCE))
        await self.look_up(part)
        # The rest of them come first the next time.
        for submission_id in part:
            watches = self._watches.pop(submission_id, None)
            if watches is not None:
                self._watches[submission_id] = watches
