"""A batch in memory whose results are sent in pieces, with connections that end too early."""

import json
from collections.abc import Iterator
from typing import Any

import httpx

from tests.factories import make_result
from tests.unit.client.fake_service import problem


class Broken(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that is lost after some bytes."""

    def __init__(self, content: bytes, error: Exception | None) -> None:
        self._content = content
        self._error = error

    def __iter__(self) -> Iterator[bytes]:
        # Pieces that end in the middle of a line.
        for at in range(0, len(self._content), 37):
            yield self._content[at : at + 37]
        if self._error is not None:
            raise self._error

    async def __aiter__(self):
        for piece in self:
            yield piece


class FakeBatches:
    """Results are done last first; each connection carries `per_connection` of them."""

    def __init__(self, *, per_connection: int = 1000) -> None:
        self.per_connection = per_connection
        self.loss: Exception | None = httpx.ReadError("lost")
        self.created: dict[str, dict[str, Any]] = {}
        self.asked_after: list[int] = []
        self.silences = 0
        self.stdout = ""

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            return self._create(request)
        batch = self.created.get(request.url.path.split("/")[3])
        if batch is None:
            return problem(404, "not_found")
        if request.url.path.endswith("/results"):
            return self._results(batch, int(request.url.params["after"]))
        count = len(batch["submissions"])
        done = {"finished": 0, "canceled": count} if request.method == "DELETE" else {}
        body = {"id": batch["id"], "count": count, "is_complete": True, "finished": count} | done
        return httpx.Response(200, json=body)

    def _create(self, request: httpx.Request) -> httpx.Response:
        if request.headers["Content-Type"] == "application/x-ndjson":
            first, *rest = request.content.splitlines()
            body = {**json.loads(first), "submissions": [json.loads(line) for line in rest]}
        else:
            body = json.loads(request.content)
        self.created[body["id"]] = body
        answer = {"id": body["id"], "count": len(body["submissions"])}
        return httpx.Response(202, json=answer)

    def _results(self, batch: dict[str, Any], after: int) -> httpx.Response:
        self.asked_after.append(after)
        if self.silences:
            self.silences -= 1
            return httpx.Response(200, stream=Broken(b"", httpx.ReadTimeout("silent")))
        indexes = list(reversed(range(len(batch["submissions"]))))
        upto = after + self.per_connection
        lines = [
            self._line(cursor, index)
            for cursor, index in enumerate(indexes[after:upto], start=after + 1)
        ]
        is_last = upto >= len(indexes)
        return httpx.Response(200, stream=Broken(b"".join(lines), None if is_last else self.loss))

    def _line(self, cursor: int, index: int) -> bytes:
        result = make_result(id=f"s{index}", tests=[{"verdict": "accepted", "stdout": self.stdout}])
        line = {"cursor": cursor, "index": index, "id": result.id, "status": "finished"}
        line["result"] = result.model_dump(mode="json")
        return json.dumps(line, ensure_ascii=False).encode() + b"\n"
