"""Batches: many submissions under one id, whose results are read in the order they are done."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from secrets import token_hex
from typing import cast

from sandbox_service.errors import Conflict, NotFound
from sandbox_service.queue import keys
from sandbox_service.queue.broker import Broker, StoredState
from sandbox_service.queue.connection import redis_errors
from sandbox_service.queue.tickets import Membership, Outcome
from sandbox_service.schema.job import BatchState
from sandbox_service.schema.submission import Submission

_LINES_AT_ONCE = 64
_MEMBERS_AT_ONCE = 500
_FIRST_POLL_S = 0.01
_LONGEST_POLL_S = 0.25


@dataclass(slots=True)
class OpenBatch:
    """A batch that is being received."""

    tenant: str
    id: str
    is_new: bool = True
    count: int = 0
    added: list[str] = field(default_factory=list)
    """References of the submissions that were not there before."""

    @property
    def ref(self) -> str:
        """What names it among all."""
        return keys.reference(self.tenant, self.id)


@dataclass(frozen=True, slots=True)
class BatchLine:
    """One submission of a batch that is done."""

    cursor: int
    index: int
    state: StoredState


class Batches:
    """What the API does with batches."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._redis = broker.redis

    @asynccontextmanager
    async def receiving(self, tenant: str, name: str | None) -> AsyncIterator[OpenBatch]:
        """Begins a batch, or goes over the one with this id again; all of it is stored, or nothing.

        Raises:
            Conflict: the batch had more submissions when its id was used before.
        """
        batch = OpenBatch(tenant, name or token_hex(16))
        with redis_errors():
            key = keys.batch(batch.ref)
            batch.is_new = bool(await self._redis.hsetnx(key, "is_complete", 0))
            if batch.is_new:
                # Until it has members; what they need lives as long as they do.
                await self._redis.expire(key, self._broker.settings.result_ttl_s)
        is_stored = False
        try:
            yield batch
            await self._complete(batch)
            is_stored = True
        finally:
            if not is_stored:
                await self._abandon(batch)

    async def add(
        self,
        batch: OpenBatch,
        submissions: Sequence[Submission],
        trace: dict[str, str] | None = None,
    ) -> None:
        """Stores the next submissions of a batch.

        Raises:
            Conflict: an id was used before with other content.
            QueueFull: too many are waiting.
        """
        named = [
            each
            if each.id is not None
            else each.model_copy(update={"id": f"{batch.id}.{batch.count + at}"})
            for at, each in enumerate(submissions)
        ]
        places = [Membership(batch.ref, batch.count + at) for at in range(len(named))]
        outcomes = await self._broker.add(batch.tenant, named, places, trace)
        batch.added += [ref for ref, outcome in outcomes if outcome is Outcome.NEW]
        for at, (ref, outcome) in enumerate(outcomes):
            if outcome is Outcome.CONFLICT:
                raise Conflict(
                    f"id {keys.id_of(ref)!r} was used before with other content",
                    field=f"submissions[{batch.count + at}].id",
                )
        batch.count += len(named)

    async def state(self, tenant: str, name: str) -> BatchState:
        """Returns how far a batch is.

        Raises:
            NotFound: there is no such batch, or it has expired.
        """
        with redis_errors():
            raw = cast(
                "dict[bytes, bytes]",
                await self._redis.hgetall(keys.batch(keys.reference(tenant, name))),
            )
        if not raw:
            raise NotFound(f"no batch {name!r}", field="id")
        counts = {key.decode(): int(value) for key, value in raw.items()}
        return BatchState(
            id=name,
            count=counts.get("count", 0),
            is_complete=bool(counts.get("is_complete", 0)),
            **{word: counts.get(word, 0) for word in ("queued", "started", "finished", "canceled")},
        )

    async def lines(self, tenant: str, name: str, after: int) -> AsyncIterator[list[BatchLine]]:
        """Yields what is done, some lines at a time, until everything is.

        Raises:
            NotFound: there is no such batch, or it has expired.
        """
        poll_s = _FIRST_POLL_S
        while True:
            # The state first: what it calls done is in the list that is read next.
            state = await self.state(tenant, name)
            lines = await self._lines(keys.reference(tenant, name), after)
            if lines:
                yield lines
                after, poll_s = lines[-1].cursor, _FIRST_POLL_S
            elif state.is_complete and after >= state.count:
                return
            else:
                await asyncio.sleep(poll_s)
                poll_s = min(_LONGEST_POLL_S, poll_s * 1.5)

    async def cancel(self, tenant: str, name: str) -> BatchState:
        """Cancels what is not done.

        Raises:
            NotFound: there is no such batch, or it has expired.
        """
        await self.state(tenant, name)
        ref = keys.reference(tenant, name)
        members: list[str] = []
        with redis_errors():
            scan = self._redis.hscan_iter(keys.batch_members(ref), count=_MEMBERS_AT_ONCE)
            async for _, member in cast("AsyncIterator[tuple[bytes, bytes]]", scan):
                members.append(keys.reference(tenant, member.decode()))
        await self._cancel(members)
        return await self.state(tenant, name)

    async def _complete(self, batch: OpenBatch) -> None:
        with redis_errors():
            key = keys.batch(batch.ref)
            known = int(await self._redis.hget(key, "count") or 0)
            if known > batch.count:
                raise Conflict(f"batch {batch.id!r} has {known} submissions", field="id")
            await self._redis.hset(key, "is_complete", 1)

    async def _abandon(self, batch: OpenBatch) -> None:
        """Cancels what was added; of a new batch nothing remains, so that it can be sent again."""
        await self._cancel(batch.added)
        if batch.is_new:
            ref = batch.ref
            names = [keys.batch(ref), keys.batch_done(ref), keys.batch_members(ref)]
            names += map(keys.submission, batch.added)
            with redis_errors():
                for at in range(0, len(names), _MEMBERS_AT_ONCE):
                    await self._redis.delete(*names[at : at + _MEMBERS_AT_ONCE])

    async def _lines(self, ref: str, after: int) -> list[BatchLine]:
        with redis_errors():
            done = await self._redis.lrange(keys.batch_done(ref), after, after + _LINES_AT_ONCE - 1)
            if not done:
                return []
            members = cast("list[bytes]", await self._redis.hmget(keys.batch_members(ref), done))
            refs = [keys.reference(keys.tenant_of(ref), each.decode()) for each in members]
            states = await self._broker.states(refs)
        return [
            BatchLine(after + at + 1, int(index), state)
            for at, (index, state) in enumerate(zip(done, states, strict=True))
        ]

    async def _cancel(self, refs: Sequence[str]) -> None:
        for at in range(0, len(refs), _MEMBERS_AT_ONCE):
            await asyncio.to_thread(self._cancel_now, refs[at : at + _MEMBERS_AT_ONCE])

    def _cancel_now(self, refs: Sequence[str]) -> None:
        with redis_errors():
            for ref in refs:
                payload = self._broker.store.payload(ref)
                if payload is not None:
                    self._broker.cancel_now(ref, payload)
