"""Runs a program and an interactor that talk with each other, each in a jail of its own.

What one prints the other reads; the supervisor passes it on, counts it and keeps a bounded copy.
Whichever ends first decides nothing: the other one finds the end of its input and goes on until it
ends too, or meets its own limit.
"""

import contextlib
import os
import select
import signal
import time
from collections.abc import Container
from typing import Any, NamedTuple

from runners import supervise
from runners.streams import Capture
from runners.supervise import Run
from runners.zygote import Zygote

_CHUNK_BYTES = 65536
_LOOK_MS = 20.0


class Ended(NamedTuple):
    """How one of the two ended, for its report."""

    ending: str
    status: int
    stdout: bytes
    stderr: bytes
    channel: bytes
    cpu_time_s: float
    wall_time_s: float
    memory_bytes: int


class _Relay:
    """Takes what one prints and gives it to the other; holds no more than a chunk of it."""

    def __init__(self, limit: int) -> None:
        self.source, self.writer = os.pipe2(os.O_CLOEXEC)
        self.reader, self.sink = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self.source, False)
        os.set_blocking(self.sink, False)
        self._limit, self.size = limit, 0
        self._copy: list[bytes] = []
        self._waiting = b""
        self.has_source = self.has_sink = True

    @property
    def is_over(self) -> bool:
        """Whether more was printed than allowed."""
        return self.size > self._limit

    def wanted(self) -> tuple[int, int] | None:
        """Returns the descriptor and event that it waits for next, None at the end."""
        if self._waiting and self.has_sink:
            return self.sink, select.POLLOUT
        return (self.source, select.POLLIN) if self.has_source else None

    def move(self) -> None:
        """Moves what can be moved without waiting."""
        with contextlib.suppress(BlockingIOError):
            while self._give() and self._take():
                pass

    def _take(self) -> bool:
        if not self.has_source:
            return False
        part = os.read(self.source, _CHUNK_BYTES)
        room = self._limit - self.size
        if part and room > 0:
            self._copy.append(part[:room])
        self.size += len(part)
        self._waiting = part
        if not part:
            self.has_source = False
            self._end_sink()
        return bool(part) and not self.is_over

    def _give(self) -> bool:
        while self._waiting and self.has_sink:
            try:
                self._waiting = self._waiting[os.write(self.sink, self._waiting) :]
            except BrokenPipeError:  # nobody reads any more; what comes is counted and dropped
                self._end_sink()
        return True

    def _end_sink(self) -> None:
        if self.has_sink:
            self.has_sink = False
            os.close(self.sink)

    def data(self) -> bytes:
        """Returns what was printed, up to the limit."""
        return b"".join(self._copy)

    def close(self) -> None:
        """Closes both ends here."""
        self._end_sink()
        os.close(self.source)


class _Side:
    """One of the two, with its limits and its clock."""

    def __init__(self, zygote: Zygote, run: Run, output: _Relay, source: _Relay) -> None:
        self.limits: dict[str, Any] = run.order["limits"]
        self.output = output
        extra = {**run.extra, "stdin": source.reader, "stdout": output.writer}
        self.live = supervise.Live(zygote, run._replace(extra=extra))
        self.reached: str | None = None
        self.wall_time_s = 0.0
        self.since = self.live.started
        self._is_ended = False

    def has_ended(self, followed: Container[int]) -> bool:
        """Whether its init has reported or is gone, or, where there is none, it has exited."""
        live = self.live
        if live.exit_fd >= 0 and select.select([live.exit_fd], [], [], 0)[0]:
            return True
        return live.status.size > 0 or (live.exit_fd < 0 and live.status.fd not in followed)

    def look(self, followed: Container[int]) -> bool:
        """Notes the limit that is over; returns whether it goes on."""
        self.wall_time_s = time.monotonic() - self.live.started
        if self.has_ended(followed):
            return False
        if self.output.is_over or self.live.stderr.is_over:
            self.reached = "output_limit"
        elif time.monotonic() - self.since > self.limits["wall_time_s"]:
            self.reached = "wall_limit"
        return self.reached is None

    def end(self) -> None:
        """Kills what is left of it, so that its output ends too."""
        if not self._is_ended:
            self._is_ended = True
            self.live.end()

    def ended(self, *, out_of_memory: bool) -> Ended:
        """Returns how it ended; the one that was ended for the other's sake was killed."""
        usage = self.live.usage
        assert usage is not None
        report = supervise.report_of(self.live)
        cpu_time_s = usage.ru_utime + usage.ru_stime
        ending = self.reached
        if self.output.is_over:
            ending = "output_limit"
        if cpu_time_s > self.limits["cpu_time_s"]:
            ending = "cpu_limit"
        status = report.get("status", int(signal.SIGKILL))
        if ending is None:
            ending = "signaled" if os.WIFSIGNALED(status) else "exited"
            if ending == "signaled" and out_of_memory:
                ending = "memory_limit"
        return Ended(
            ending, status, self.output.data(), self.live.stderr.data(), self.live.channel.data(),
            cpu_time_s, self.wall_time_s, report.get("peak_bytes", 0),
        )  # fmt: skip


def run(
    zygote: Zygote, counters: supervise.Counters, program: Run, interactor: Run
) -> tuple[Ended, Ended]:
    """Lets the two talk until both have ended; returns how the program and the interactor did.

    Raises:
        RunnerError: a jail could not be set up.
    """
    counters.restart()
    said = _Relay(program.order["limits"]["output_bytes"])
    asked = _Relay(interactor.order["limits"]["output_bytes"])
    sides = [_Side(zygote, interactor, asked, said), _Side(zygote, program, said, asked)]
    allowed_cpu_s = sum(side.limits["cpu_time_s"] for side in sides)
    try:
        _talk(sides, [said, asked], counters, allowed_cpu_s)
    finally:
        for side in sides:
            side.end()
        for relay in (said, asked):
            relay.move()
            relay.close()
    supervise.sweep_up(zygote)
    for side in sides:
        side.live.drain()
        side.live.close()
    out_of_memory = counters.ran_out_of_memory()
    one, other = (side.ended(out_of_memory=out_of_memory) for side in sides)
    return other, one


def _talk(
    sides: list[_Side], relays: list[_Relay], counters: supervise.Counters, allowed_cpu_s: float
) -> None:
    """Passes on what is printed until both have ended, or one has met a limit."""
    captures = {capture.fd: capture for side in sides for capture in side.live.captures}
    running = list(sides)
    while running:
        _serve(captures, relays)
        for side in list(running):
            if not side.look(captures):
                side.end()
                running.remove(side)
                for other in running:  # it has its whole time from here on
                    other.since = time.monotonic()
        if counters.cpu_time_s() > allowed_cpu_s or any(side.reached for side in sides):
            return


def _serve(captures: dict[int, Capture], relays: list[_Relay]) -> None:
    poller = select.poll()
    for fd in captures:
        poller.register(fd, select.POLLIN)
    for wanted in filter(None, (relay.wanted() for relay in relays)):
        poller.register(*wanted)
    for fd, _ in poller.poll(_LOOK_MS):
        if fd in captures and not captures[fd].read():
            del captures[fd]
    for relay in relays:
        relay.move()
