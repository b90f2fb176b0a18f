"""Reads how submissions stand: one round trip at a time, shared by all that ask meanwhile."""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import redis.asyncio

from sandbox_service.queue import keys

READ_AT_ONCE = 256
"""Submissions that are read together: results may be large, and Redis does nothing else while it
sends them."""

Row = tuple[bytes | None, bytes | None, bytes | None]
"""Status, result and reward as Redis has them."""


@dataclass(frozen=True, slots=True)
class _Question:
    refs: Sequence[str]
    rows: asyncio.Future[list[Row]]


class StateReader:
    """The one reader of an API process."""

    def __init__(self, connection: redis.asyncio.Redis) -> None:
        self._redis = connection
        self._questions: deque[_Question] = deque()
        self._reading: asyncio.Task[None] | None = None

    async def rows(self, refs: Sequence[str]) -> list[Row]:
        """Returns what is stored about submissions, in the order asked.

        Raises:
            redis.RedisError: Redis does not answer.
        """
        rows: list[Row] = []
        for at in range(0, len(refs), READ_AT_ONCE):
            rows += await self._ask(refs[at : at + READ_AT_ONCE])
        return rows

    async def _ask(self, refs: Sequence[str]) -> list[Row]:
        question = _Question(refs, asyncio.get_running_loop().create_future())
        self._questions.append(question)
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())
        return await question.rows

    async def _read(self) -> None:
        try:
            while self._questions:
                await self._answer(list(self._next_questions()))
        finally:
            self._reading = None

    def _next_questions(self) -> Iterator[_Question]:
        count = 0
        while self._questions and (
            not count or count + len(self._questions[0].refs) <= READ_AT_ONCE
        ):
            count += len(self._questions[0].refs)
            yield self._questions.popleft()

    async def _answer(self, questions: Sequence[_Question]) -> None:
        try:
            async with self._redis.pipeline(transaction=False) as pipeline:
                for question in questions:
                    for ref in question.refs:
                        pipeline.hmget(keys.submission(ref), "status", "result", "reward")
                rows = iter(await pipeline.execute())
        except Exception as error:  # noqa: BLE001 - everybody who asked is told
            for question in questions:
                if not question.rows.done():
                    question.rows.set_exception(error)
            return
        for question in questions:
            own = [tuple(row) for row in islice(rows, len(question.refs))]
            if not question.rows.done():  # whoever asked may be gone
                question.rows.set_result(own)
