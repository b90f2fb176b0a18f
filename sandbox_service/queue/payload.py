"""What Redis holds of a submission until it is done: a line about it, then what is to be run.

Equal contents are equal submissions, whoever sent them under whatever id, so ids, metadata and
the like stand apart.
"""

import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Self

from sandbox_service.schema.submission import Submission
from sandbox_service.schema.verdict import Lane

_APART = {"id", "metadata", "lane", "deadline_s", "cache"}


@dataclass(frozen=True, slots=True)
class Payload:
    """A submission in two parts."""

    content: bytes
    """As JSON, without what stands apart."""
    metadata: dict[str, Any] = field(default_factory=dict)
    is_cacheable: bool = False
    trace: dict[str, str] = field(default_factory=dict)
    """Context of the trace that it belongs to."""

    @classmethod
    def of(cls, submission: Submission, trace: dict[str, str] | None = None) -> Self:
        """Takes a submission apart."""
        content = submission.model_dump_json(exclude_unset=True, exclude=_APART).encode()
        return cls(content, submission.metadata, submission.cache is True, trace or {})

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Reads what `to_bytes` wrote.

        Raises:
            ValueError: it is something else.
        """
        line, _, content = data.partition(b"\n")
        head = json.loads(line)
        if not isinstance(head, dict):
            raise ValueError("the payload does not begin with an object")  # noqa: TRY004 - of text
        return cls(
            content,
            metadata=head.get("metadata", {}),
            is_cacheable=head.get("cache", False) is True,
            trace=head.get("trace", {}),
        )

    def to_bytes(self) -> bytes:
        """Writes both parts."""
        if not (self.metadata or self.is_cacheable or self.trace):
            return b"{}\n" + self.content
        head: dict[str, Any] = {}
        if self.metadata:
            head["metadata"] = self.metadata
        if self.is_cacheable:
            head["cache"] = True
        if self.trace:
            head["trace"] = self.trace
        return json.dumps(head).encode() + b"\n" + self.content

    @property
    def content_digest(self) -> str:
        """The same for equal submissions."""
        return sha256(self.content).hexdigest()

    def digest(self, lane: Lane, deadline_s: float | None) -> str:
        """Returns what must be the same under the same id."""
        rest = [self.metadata, self.is_cacheable, lane.value, deadline_s]
        return sha256(json.dumps(rest).encode() + b"\n" + self.content).hexdigest()

    def submission(self) -> Submission:
        """Puts both parts together again.

        Raises:
            ValueError: the content is no submission.
        """
        parsed = Submission.model_validate_json(self.content)
        return parsed.model_copy(update={"metadata": self.metadata}) if self.metadata else parsed
