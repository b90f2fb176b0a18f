"""The submissions that were done last, each looked into once and then remembered."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple, cast

from pydantic import ValidationError

from sandbox_service.dashboard.snapshot import Recent
from sandbox_service.errors import NotFound, TamperedData
from sandbox_service.queue import keys
from sandbox_service.queue.broker import Broker
from sandbox_service.schema.result import Result
from sandbox_service.schema.verdict import JobStatus

SHOWN = 50
_REMEMBERED = 4 * SHOWN
# A page that is open shall not make Redis send megabytes of output every few seconds.
_BYTES_AT_ONCE = 256 * 1024


class _Row(NamedTuple):
    """What is read first of a submission."""

    ref: str
    status: bytes
    reward: bytes | None
    size: int


class RecentReader:
    """Reads the list of recent submissions for one feed."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._known: OrderedDict[str, Recent] = OrderedDict()

    async def read(self) -> tuple[Recent, ...]:
        """Returns the latest first; those that have expired meanwhile are left out."""
        listed = cast("list[bytes]", await self._broker.redis.lrange(keys.RECENT, 0, SHOWN - 1))
        refs = list(dict.fromkeys(name.decode() for name in listed))
        fresh = await self._look_into([ref for ref in refs if ref not in self._known])
        shown = self._known | fresh
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return tuple(shown[ref] for ref in refs if ref in shown)

    async def _look_into(self, refs: Sequence[str]) -> dict[str, Recent]:
        rows = await self._rows(refs)
        wanted, room = [], _BYTES_AT_ONCE
        for row in rows:
            if row.size <= room:
                wanted.append(row.ref)
                room -= row.size
        results = await self._results(wanted)
        found = {row.ref: _recent(row, results.get(row.ref)) for row in rows}
        for row in rows:
            # There was no room for the others this time.
            if row.ref in results or row.size > _BYTES_AT_ONCE:
                self._known[row.ref] = found[row.ref]
        return found

    async def _rows(self, refs: Sequence[str]) -> list[_Row]:
        if not refs:
            return []
        async with self._broker.redis.pipeline(transaction=False) as pipeline:
            for ref in refs:
                pipeline.hmget(keys.submission(ref), "status", "reward")
                pipeline.hstrlen(keys.submission(ref), "result")
            replies = await pipeline.execute()
        return [
            _Row(ref, status, reward, size)
            for ref, (status, reward), size in zip(refs, replies[::2], replies[1::2], strict=True)
            if status is not None
        ]

    async def _results(self, refs: Sequence[str]) -> dict[str, bytes | None]:
        try:
            states = await self._broker.states(refs)
        except (NotFound, TamperedData):
            if len(refs) == 1:
                return {refs[0]: None}
            # One of them spoils the lot, so each is read by itself.
            return {ref: (await self._results([ref]))[ref] for ref in refs}
        return {ref: state.result for ref, state in zip(refs, states, strict=True)}


def _recent(row: _Row, content: bytes | None) -> Recent:
    plain = Recent(
        tenant=keys.tenant_of(row.ref),
        id=keys.id_of(row.ref),
        status=JobStatus(row.status.decode()),
        verdict=None,
        reward=None if row.reward in {None, b"null"} else float(row.reward or b""),
    )
    if content is None:
        return plain
    try:
        result = Result.model_validate_json(content, extra="ignore")
    except ValidationError:
        return plain
    return plain.model_copy(
        update={
            "verdict": result.verdict,
            "passed": result.passed,
            "total": result.total,
            "queued_s": result.timing.queued_s,
            "run_s": result.timing.run_s,
            "engine": result.sandbox.engine if result.sandbox else "",
        }
    )
