"""Turns submissions into tickets, if there is room and the tenant may send so many."""

import asyncio
from collections.abc import Sequence
from secrets import token_hex
from typing import cast

import redis.asyncio

from sandbox_service.errors import QueueFull, RateLimited
from sandbox_service.queue import keys, scripts
from sandbox_service.queue.connection import redis_errors
from sandbox_service.queue.drain import DrainRate
from sandbox_service.queue.payload import Payload
from sandbox_service.queue.signing import Signer
from sandbox_service.queue.tickets import Membership, Ticket
from sandbox_service.schema.result import Result, Timing
from sandbox_service.schema.submission import Submission
from sandbox_service.schema.verdict import JobStatus, Lane
from sandbox_service.settings import Settings

_READ_AT_ONCE = 256


class Admission:
    """What a submission passes before it is stored."""

    def __init__(self, settings: Settings, connection: redis.asyncio.Redis, signer: Signer) -> None:
        self._settings = settings
        self._redis = connection
        self._signer = signer
        self._drain = DrainRate(connection)
        self._rate = connection.register_script(scripts.RATE)

    async def check_room(self, tenant: str, count: int, known_depth: int) -> None:
        """Refuses what would exceed a bound.

        Raises:
            QueueFull: too many are waiting, of all or of this tenant.
            RateLimited: the tenant sends faster than it may.
            QueueUnavailable: Redis does not answer.
        """
        await self.check_depth(tenant, count, known_depth)
        per_s = self._settings.tenant_rate_per_s
        if per_s is not None:
            with redis_errors():
                await self._take_tokens(tenant, count, per_s)

    async def check_depth(self, tenant: str, count: int, known_depth: int) -> None:
        """Refuses what would exceed the bound of the queue.

        Raises:
            QueueFull: too many are waiting, of all or of this tenant.
            QueueUnavailable: Redis does not answer.
        """
        settings = self._settings
        with redis_errors():
            # The depth after the latest write is enough until it comes near the bound.
            if known_depth + count > settings.max_queue_depth:
                depth = await self._depth()
                await self._compare(depth, count, settings.max_queue_depth, "submissions")
            if settings.tenant_max_depth is not None:
                depth = int(await self._redis.hget("sandbox:tenant_waiting", tenant) or 0)
                await self._compare(depth, count, settings.tenant_max_depth, "of your submissions")

    async def tickets(
        self,
        tenant: str,
        submissions: Sequence[Submission],
        memberships: Sequence[Membership | None] | None = None,
        trace: dict[str, str] | None = None,
    ) -> list[Ticket]:
        """Returns one ticket for each submission, with a result where an equal one has one."""
        payloads = [Payload.of(submission, trace) for submission in submissions]
        found = await self._cached(tenant, payloads)
        places = memberships or [None] * len(submissions)
        tickets = []
        for at, (submission, payload, place) in enumerate(
            zip(submissions, payloads, places, strict=True)
        ):
            tickets.append(self._ticket(tenant, submission, payload, place, found.get(at)))
            if at % _READ_AT_ONCE == _READ_AT_ONCE - 1:
                # Many at once must not keep everybody else waiting.
                await asyncio.sleep(0)
        return tickets

    def _ticket(
        self,
        tenant: str,
        submission: Submission,
        payload: Payload,
        membership: Membership | None,
        cached: bytes | None,
    ) -> Ticket:
        lane, deadline_s = submission.lane, submission.deadline_s
        name = submission.id or token_hex(16)
        ref = keys.reference(tenant, name)
        digest = payload.digest(lane, deadline_s) if submission.id else ""
        if cached is not None:
            result, reward = _reused(cached, name, submission)
            sealed = self._signer.seal(result, "result", ref, JobStatus.FINISHED.value, reward)
            return Ticket(
                ref, digest, b"", lane, result=sealed, reward=reward.encode(), membership=membership
            )
        alone = submission.cache is False
        return Ticket(
            ref,
            digest,
            self._signer.seal(payload.to_bytes(), "payload", ref),
            lane,
            deadline_s,
            flight="" if alone else keys.flight(tenant, lane, payload.content_digest),
            membership=membership,
        )

    async def _cached(self, tenant: str, payloads: Sequence[Payload]) -> dict[int, bytes]:
        wanted = {
            at: keys.cached(tenant, payload.content_digest)
            for at, payload in enumerate(payloads)
            if payload.is_cacheable
        }
        found: dict[int, bytes] = {}
        places = list(wanted)
        for at in range(0, len(places), _READ_AT_ONCE):
            part = places[at : at + _READ_AT_ONCE]
            with redis_errors():
                names = [wanted[place] for place in part]
                rows = cast("list[bytes | None]", await self._redis.mget(names))
            for place, row in zip(part, rows, strict=True):
                if row is not None:
                    found[place] = self._signer.open(row, "cached result", wanted[place])
        return found

    async def _take_tokens(self, tenant: str, count: int, per_s: float) -> None:
        wait_s = await self._rate(
            keys=[keys.rate(tenant)], args=[count, per_s, self._settings.tenant_burst]
        )
        if float(wait_s) > 0:
            raise RateLimited(
                f"at most {per_s:g} submissions a second are taken from you",
                retry_after_s=float(wait_s),
            )

    async def _compare(self, depth: int, count: int, bound: int, what: str) -> None:
        excess = depth + count - bound
        if excess > 0:
            raise QueueFull(
                f"{depth} {what} are waiting and {count} more are too many",
                retry_after_s=await self._drain.retry_after_s(excess),
            )

    async def _depth(self) -> int:
        async with self._redis.pipeline(transaction=False) as pipeline:
            for lane in Lane:
                pipeline.zcard(keys.waiting(lane))
            return sum(await pipeline.execute())


def _reused(cached: bytes, name: str, submission: Submission) -> tuple[bytes, str]:
    result = Result.model_validate_json(cached).model_copy(
        update={
            "id": name,
            "metadata": submission.metadata,
            "timing": Timing(),
            "reused": True,
        }
    )
    reward = "null" if result.reward is None else repr(result.reward)
    return result.model_dump_json().encode(), reward
