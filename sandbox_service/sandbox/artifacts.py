"""What compilers made, kept by content, so that the same code is compiled once."""

import hashlib
from collections import OrderedDict

from sandbox_service.schema.run import Execution, ExecutionReport


class ArtifactCache:
    """The most recently used artifacts, bounded by their size in bytes."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._size = 0
        self._entries: OrderedDict[str, ExecutionReport] = OrderedDict()

    @staticmethod
    def key(execution: Execution) -> str:
        """Returns the digest of everything that the compile step depends on."""
        assert execution.compile is not None
        digest = hashlib.sha256(f"{execution.image}\0{execution.compile.argv}\0".encode())
        digest.update(repr(sorted(execution.env.items())).encode())
        for path, content in sorted(execution.files.items()):
            digest.update(f"\0{path}\0{len(content)}\0".encode())
            digest.update(content)
        return digest.hexdigest()

    def get(self, key: str) -> ExecutionReport | None:
        """Returns the report of a compile step that went well, if it is known."""
        report = self._entries.get(key)
        if report is not None:
            self._entries.move_to_end(key)
        return report

    def put(self, key: str, report: ExecutionReport) -> None:
        """Keeps a report; forgets the least recently used ones beyond the bound."""
        size = _size(report)
        if size > self._max_bytes or key in self._entries:
            return
        self._entries[key] = report
        self._size += size
        while self._size > self._max_bytes:
            _, oldest = self._entries.popitem(last=False)
            self._size -= _size(oldest)


def _size(report: ExecutionReport) -> int:
    return sum(len(content) for content in report.artifacts.values())
