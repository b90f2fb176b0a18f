"""The supervisor: boots a zygote, says hello, and serves executions until the host is gone."""

import os
import select
import sys
import time
from typing import Any

from runners import accounting, execute, kernel, landlock, stage, supervise, wire, zygote

PROTOCOL = 1
_FLUSH_BYTES = 256 * 1024
_FLUSH_S = 0.5


class _Outbox:
    """Frames on their way to the host; they wait for others while more is there to be done."""

    def __init__(self, stream_in: int, stream_out: int) -> None:
        self._in, self._out = stream_in, stream_out
        self._frames: list[bytes] = []
        self._size = 0
        self._since = 0.0

    @property
    def is_empty(self) -> bool:
        """Whether the host has every answer so far."""
        return not self._frames

    def put(self, frame: bytes, *, may_wait: bool) -> None:
        """Takes a frame, and sends all there are unless the next request has come already."""
        if not self._frames:
            self._since = time.monotonic()
        self._frames.append(frame)
        self._size += len(frame)
        is_early = self._size < _FLUSH_BYTES and time.monotonic() - self._since < _FLUSH_S
        if may_wait and is_early and select.select([self._in], [], [], 0)[0]:
            return
        wire.write_all(self._out, b"".join(self._frames))
        self._frames, self._size = [], 0


class _Reports:
    """Reports of one execution, several in a frame."""

    def __init__(self, outbox: _Outbox) -> None:
        self._outbox = outbox
        self._reset()

    def _reset(self) -> None:
        self._blobs = wire.Blobs()
        self._items: list[dict[str, Any]] = []
        self._since = time.monotonic()

    def add(self, kind: str, report: dict[str, Any]) -> None:
        """Takes a report; its byte strings become blobs."""
        self._items.append({"kind": kind, **self._pack(report)})
        if self._blobs.size > _FLUSH_BYTES or time.monotonic() - self._since > _FLUSH_S:
            self.flush(done=False)

    def _pack(self, report: dict[str, Any]) -> dict[str, Any]:
        packed = {}
        for key, value in report.items():
            if isinstance(value, bytes):
                packed[key] = self._blobs.add(value)
            else:
                packed[key] = self._pack(value) if key == "interactor" else value
        return packed

    def flush(self, *, done: bool, error: str | None = None, skipped: bool = False) -> None:
        """Sends what there is."""
        header = {"reports": self._items, "done": done, "error": error, "skipped": skipped}
        self._outbox.put(wire.encode(header, self._blobs), may_wait=done)
        self._reset()


def _execute(executor: execute.Executor, request: dict[str, Any], reports: _Reports) -> None:
    step = request["compile"]
    if step is not None:
        outcome, artifacts = executor.compile(step)
        reports.add("compile", execute.report_of(outcome))
        if outcome.ending != "exited" or outcome.exit_code != 0:
            return
        for path, content in artifacts.items():
            reports.add("artifact", {"path": path, "content": content})
    for run in request["runs"]:
        reports.add("run", executor.run(run))


def _serve(stream_in: int, stream_out: int, nursery: zygote.Nursery, place: stage.Stage) -> None:
    meter = accounting.find_meter(lambda: nursery.pids | {os.getpid(), 1})
    hello = {
        "protocol": PROTOCOL,
        "python": sys.version.split()[0],
        "meter": meter.kind,
        "landlock_abi": landlock.abi(),
        "memory_bytes": meter.memory_bytes(),
    }
    wire.write_frame(stream_out, hello)
    outbox, began = _Outbox(stream_in, stream_out), time.monotonic()
    while True:
        try:
            request = wire.read_frame(stream_in)
        except EOFError:
            return
        if outbox.is_empty:
            began = time.monotonic()
        reports = _Reports(outbox)
        patience_s = request["patience_s"]
        if patience_s is not None and time.monotonic() - began > patience_s:
            reports.flush(done=True, skipped=True)
            continue
        try:
            _execute(execute.Executor(nursery, meter, place, request), request, reports)
        except (supervise.RunnerError, ValueError, OSError) as error:
            reports.flush(done=True, error=f"{type(error).__name__}: {error}")
        else:
            reports.flush(done=True)
        del request  # before the next one comes: either may be large


def _stand_without_nesting() -> None:
    """Hides this process from the programs that will see it.

    Raises:
        OSError: the kernel has nothing to keep them from it.
    """
    if not landlock.abi():
        raise OSError("neither nested namespaces nor Landlock")
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)


def main(modules: list[str], *, nested: bool) -> None:
    """Runs until the host closes the stream.

    Without nesting there are no namespaces for each run, and Landlock has to keep a run away
    from the runner and its stage.
    """
    stream_in, stream_out = os.dup(0), os.dup(1)
    null = os.open("/dev/null", os.O_RDWR)
    for number in (0, 1):
        os.dup2(null, number)
    try:
        if not nested:
            _stand_without_nesting()
        place = stage.Stage()
        nursery = zygote.Nursery(modules, nested=nested)
    except OSError as error:
        wire.write_frame(stream_out, {"error": str(error)})
        return
    _serve(stream_in, stream_out, nursery, place)
