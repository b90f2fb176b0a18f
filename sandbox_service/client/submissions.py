"""Submissions on their way to the wire: with an id each, as JSON, in requests of a fair size."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

from sandbox_service.errors import InvalidSubmission
from sandbox_service.schema.base import Model
from sandbox_service.schema.job import MAX_REWARDS_PER_REQUEST
from sandbox_service.schema.submission import Submission

SubmissionLike = Submission | Mapping[str, Any]
"""A submission, or the same as plain data; plain data is checked by the service."""


class Outgoing(NamedTuple):
    """A submission that may be sent any number of times and is run once."""

    id: str
    """The caller's id, or one made here."""
    body: bytes
    """As JSON."""


def outgoing(submission: SubmissionLike) -> Outgoing:
    """Gives a submission an id if it has none, and writes it.

    Raises:
        InvalidSubmission: it has values that JSON does not have, or an id that is no text.
    """
    if isinstance(submission, Submission):
        name = submission.id or uuid4().hex
        named = submission.model_copy(update={"id": name})
        return Outgoing(name, named.model_dump_json(exclude_unset=True).encode())
    name = submission.get("id") or uuid4().hex
    if not isinstance(name, str):
        raise InvalidSubmission("an id is text", field="id")
    return Outgoing(name, to_json({**submission, "id": name}))


def to_json(value: Any) -> bytes:
    """Writes plain data.

    Raises:
        InvalidSubmission: it has values that JSON does not have.
    """
    try:
        return json.dumps(value, allow_nan=False, default=_plain).encode()
    except (TypeError, ValueError) as error:
        raise InvalidSubmission(f"not JSON: {error}") from error


def _plain(value: object) -> object:
    if isinstance(value, Model):
        return value.model_dump(mode="json", exclude_unset=True)
    raise TypeError(f"{type(value).__name__} is no plain data")


def parts(submissions: Sequence[Outgoing], request_bytes: int) -> Iterator[list[Outgoing]]:
    """Cuts a list where a request would become too large."""
    part: list[Outgoing] = []
    size = 0
    for each in submissions:
        is_full = size + len(each.body) > request_bytes or len(part) == MAX_REWARDS_PER_REQUEST
        if part and is_full:
            yield part
            part, size = [], 0
        part.append(each)
        size += len(each.body)
    if part:
        yield part


def body_of(submissions: Iterable[Outgoing]) -> bytes:
    """Returns the body that carries several submissions."""
    return b'{"submissions":[%s]}' % b",".join(each.body for each in submissions)
