"""Batches: sent in one request, read as they are done, taken up again where a connection ended."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from sandbox_service.client._transport import Call, Flow, Patience, parse
from sandbox_service.client.options import ClientOptions
from sandbox_service.client.submissions import SubmissionLike, to_json
from sandbox_service.errors import NotFinished, ServiceUnavailable, UnexpectedResponse
from sandbox_service.schema.job import BatchCreated, BatchResult, BatchState
from sandbox_service.schema.result import Result

# Above it a batch goes as lines, which the service stores while they arrive.
_LARGEST_JSON_BYTES = 32 * 1024 * 1024
_MOST_STALLS = 20


def create(
    submissions: Sequence[SubmissionLike], defaults: Mapping[str, Any] | None
) -> Flow[BatchCreated]:
    """Sends a batch under an id made here, so that sending it again is the same batch."""
    header = {"id": uuid4().hex, "defaults": dict(defaults or {})}
    written = [to_json(submission) for submission in submissions]
    if sum(map(len, written)) > _LARGEST_JSON_BYTES:
        content = b"\n".join([to_json(header), *written])
        call = Call("POST", "/v1/batches", content=content, content_type="application/x-ndjson")
    else:
        content = b'%s,"submissions":[%s]}' % (to_json(header)[:-1], b",".join(written))
        call = Call("POST", "/v1/batches", content=content)
    response = yield call
    return parse(BatchCreated, response.content)


def look(batch_id: str) -> Flow[BatchState]:
    """Counts the submissions of a batch."""
    response = yield Call("GET", _path_of(batch_id))
    return parse(BatchState, response.content)


def cancel(batch_id: str) -> Flow[BatchState]:
    """Cancels what is not finished."""
    response = yield Call("DELETE", _path_of(batch_id))
    return parse(BatchState, response.content)


class Cursor:
    """How far the results of a batch were read."""

    def __init__(
        self, batch: BatchState, after: int, options: ClientOptions, timeout_s: float | None
    ) -> None:
        self._batch = batch
        self._after = after
        self._retry = options.retry
        self._patience = Patience(timeout_s, options.wait_slice_s)
        self._rest = b""
        self._stalls = 0

    @property
    def is_done(self) -> bool:
        """Whether every result was read."""
        return self._after >= self._batch.count

    def call(self) -> Call:
        """Returns the request that goes on where the last one ended.

        Raises:
            NotFinished: no time is left.
        """
        self._check_time()
        self._rest = b""
        self._stalls += 1
        return Call(
            "GET",
            f"{_path_of(self._batch.id)}/results",
            {"after": str(self._after)},
            within_s=self._patience.left_s,
            is_stream=True,
        )

    def take(self, chunk: bytes) -> Iterator[BatchResult]:
        """Gives the results that are complete with these bytes.

        Only a line feed ends a line: programs print every other character that might.

        Raises:
            NotFinished: no time is left.
        """
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in filter(None, lines):
            result = parse(BatchResult, line)
            self._after, self._stalls = result.cursor, 0
            yield result
        if not self.is_done:
            self._check_time()

    def pause_s(self, *, was_silent: bool) -> float:
        """Returns the seconds to wait when a connection has ended.

        Raises:
            ServiceUnavailable: connections end again and again without a result.
        """
        if was_silent:
            # The programs take long; that is nobody's failure.
            self._stalls = 0
        if self._stalls >= _MOST_STALLS:
            raise ServiceUnavailable(f"the results of batch {self._batch.id} break off")
        return self._retry.wait_s(self._stalls, None) if self._stalls else 0.0

    def _check_time(self) -> None:
        if self._patience.is_over:
            raise NotFinished(f"{self._after} of {self._batch.count} results are there")


class Collector:
    """Results of a batch by their places."""

    def __init__(self, count: int) -> None:
        self._found: dict[int, Result] = {}
        self._count = count

    def add(self, line: BatchResult) -> int:
        """Takes a result and returns how many there are."""
        self._found[line.index] = line.result
        return len(self._found)

    def in_order(self) -> list[Result]:
        """Returns all in the order sent.

        Raises:
            UnexpectedResponse: some are missing.
        """
        missing = [at for at in range(self._count) if at not in self._found]
        if missing:
            raise UnexpectedResponse(f"{len(missing)} results of the batch are missing")
        return [self._found[at] for at in range(self._count)]


def _path_of(batch_id: str) -> str:
    return f"/v1/batches/{quote(batch_id, safe='')}"
