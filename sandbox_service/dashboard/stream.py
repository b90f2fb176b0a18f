"""Server-sent events: one reading for all who watch, however many they are."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from pydantic import BaseModel

from sandbox_service.dashboard.history import History, Reading, Sample
from sandbox_service.dashboard.snapshot import Snapshot
from sandbox_service.errors import ServiceError
from sandbox_service.schema.base import Model

PERIOD_S = 2.0
"""Seconds between two readings."""


class Past(Model):
    """What a page needs first, to draw what was before it was opened."""

    samples: tuple[Sample, ...]
    """Oldest first."""


class Trouble(Model):
    """Why there are no new figures."""

    code: str
    """As in the problems of the API."""

    detail: str
    """For a person."""


class Feed:
    """Reads now and then, and hands the same bytes to everybody."""

    def __init__(
        self,
        read: Callable[[], Awaitable[Reading]],
        look: Callable[[Reading, History, Sample], Awaitable[Snapshot]],
    ) -> None:
        self._read = read
        self._look = look
        self._history = History()
        self._watchers = 0
        self._latest = b""
        self._changed = asyncio.Event()
        self._is_closed = False

    async def run(self, period_s: float = PERIOD_S) -> None:
        """Reads for ever."""
        while True:
            await self.step()
            await asyncio.sleep(period_s)

    async def step(self) -> None:
        """Reads once and tells all who watch."""
        try:
            reading = await self._read()
            sample = self._history.add(reading)
            if not self._watchers:
                return
            self._tell("snapshot", await self._look(reading, self._history, sample))
        except ServiceError as error:
            self._tell("trouble", Trouble(code=error.code, detail=str(error)))

    async def events(self) -> AsyncIterator[bytes]:
        """Gives the past, then every reading until the caller leaves; a slow one misses some."""
        self._watchers += 1
        try:
            yield event("past", Past(samples=self._history.samples))
            if self._watchers == 1 or not self._latest:
                # Nobody watched until now, so what was told last is old.
                await self.step()
            yield self._latest
            while not self._is_closed:
                await self._changed.wait()
                yield self._latest
        finally:
            self._watchers -= 1

    def close(self) -> None:
        """Lets all who watch go, so that the service can stop without waiting for them."""
        self._is_closed = True
        self._changed.set()

    def _tell(self, name: str, content: BaseModel) -> None:
        self._latest = event(name, content)
        self._changed.set()
        self._changed = asyncio.Event()


def event(name: str, content: BaseModel) -> bytes:
    """Writes one event; JSON has no line breaks of its own."""
    return b"event: %s\ndata: %s\n\n" % (name.encode(), content.model_dump_json().encode())
