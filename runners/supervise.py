"""Watches one run from outside its jail: streams, clocks, memory; ends it when it must.

The verdict's facts come from here and from the kernel, never from what the program says.
"""

import contextlib
import marshal
import os
import resource
import select
import signal
import time
from typing import Any, NamedTuple

from runners import init, jail, streams, sweep
from runners.accounting import Meter
from runners.script import FAILURE_BYTES
from runners.zygote import Zygote

_CHANNEL_BYTES = 64 * 1024 * 1024
_STATUS_BYTES = 64 * 1024
# A process that nobody waits for is missing from its parent's usage; the sandbox's own counter
# has it. Below this difference the counter only shows the runner's own work.
_UNACCOUNTED_CPU_S = 0.05
_SHORTEST_LOOK_S = 0.005
_LOOK_AT_PROCESSES_S = 0.01
_CPUS = len(os.sched_getaffinity(0))


class RunnerError(Exception):
    """A run could not be started or watched; ours, not the program's."""


class Run(NamedTuple):
    """One jail to start: its order, its input, and extra descriptors by role.

    The descriptors are handed over: whoever starts the jail closes its own copies, so that the
    end of one jail is the end of the stream for the other.
    """

    order: dict[str, Any]
    extra: dict[str, int]
    stdin: bytes = b""


class Streams(NamedTuple):
    """What one jail printed, and what its harness said."""

    stdout: bytes
    stderr: bytes
    channel: bytes


class Outcome(NamedTuple):
    """What one run did, before it is put on the wire."""

    ending: str
    exit_code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    channel: bytes
    cpu_time_s: float
    wall_time_s: float
    memory_bytes: int
    report: dict[str, Any]
    other: Streams | None
    """What the jail beside it printed and said."""


class Live:
    """A jail that runs."""

    def __init__(self, zygote: Zygote, run: Run) -> None:
        limit = run.order["limits"]["output_bytes"]
        self._speaks = run.order["harness"] != "program"
        self.stdout, self.stderr = streams.Capture(limit), streams.Capture(limit)
        self.status = streams.Capture(_STATUS_BYTES)
        self.channel = streams.Capture(_CHANNEL_BYTES)
        self.feed = streams.Feed(run.stdin)
        roles = {
            "stdin": self.feed.read_fd,
            "stdout": self.stdout.write_fd,
            "stderr": self.stderr.write_fd,
            "status": self.status.write_fd,
            "channel": self.channel.write_fd,
            **run.extra,
        }
        self.order = run.order | {"roles": list(roles), "nested": zygote.nested}
        try:
            self.pid = zygote.fork(self.order, list(roles.values()))
        except OSError as error:
            raise RunnerError(f"no jail: {error}") from error
        finally:
            given = (*(c.write_fd for c in self.captures), self.feed.read_fd, *run.extra.values())
            for fd in given:
                os.close(fd)
        self.started = time.monotonic()
        self.exit_fd = -1 if zygote.nested else os.pidfd_open(self.pid)
        self.status_of_exit = 0
        self.usage: resource.struct_rusage | None = None

    @property
    def followed(self) -> tuple[streams.Capture, ...]:
        """Those that can fill up; what a plain program says of its syntax fits into a pipe."""
        if self._speaks:
            return self.captures
        return (self.stdout, self.stderr, self.status)

    @property
    def captures(self) -> tuple[streams.Capture, ...]:
        return (self.stdout, self.stderr, self.status, self.channel)

    def end(self) -> None:
        """Kills what is left and waits for init."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        _, self.status_of_exit, self.usage = os.wait4(self.pid, 0)
        self.feed.close()

    def drain(self) -> None:
        """Reads what is still in the pipes; every writer is dead."""
        for capture in self.captures:
            capture.drain()

    def streams(self) -> Streams:
        """Returns what it printed and said."""
        return Streams(self.stdout.data(), self.stderr.data(), self.channel.data())

    def close(self) -> None:
        for capture in self.captures:
            capture.close()
        if self.exit_fd >= 0:
            os.close(self.exit_fd)


class Counters:
    """The sandbox's counters since the run before; what a run leaves is where the next begins."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.idle_bytes = meter.memory_bytes()
        self._own_s = self._cpu_s = 0.0
        self._oom_kills = self._peak_bytes = 0

    def restart(self) -> None:
        """Begins a run."""
        self._own_s = time.process_time()
        self._cpu_s = self.meter.cpu_time_s()
        self._oom_kills = self.meter.oom_kills()
        self._peak_bytes = self.meter.peak_bytes()

    def cpu_time_s(self) -> float:
        """CPU seconds of the sandbox, without the supervisor's own."""
        own_s = time.process_time() - self._own_s
        return float(self.meter.cpu_time_s() - self._cpu_s - own_s)

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel ended a process for memory."""
        return self.meter.oom_kills() > self._oom_kills

    def peak_bytes(self) -> int:
        """Highest memory beyond the idle sandbox's, if the mark was passed; else 0."""
        mark = self.meter.peak_bytes()
        return mark - self.idle_bytes if mark > self._peak_bytes else 0


class _Watch:
    """Clocks and counters of one run; looks at them only when a limit can have been reached."""

    def __init__(self, limits: dict[str, Any], counters: Counters) -> None:
        self.limits = limits
        self.counters = counters
        counters.restart()
        now = time.monotonic()
        self._deadline = now + limits["wall_time_s"]
        self._samples_memory = counters.meter.kind == "processes"
        self._look_at = self._next_look(now, limits["cpu_time_s"])
        self.peak = 0
        self.cpu_seen_s = 0.0

    def _next_look(self, now: float, cpu_left_s: float) -> float:
        pause = max(_SHORTEST_LOOK_S, cpu_left_s / _CPUS)
        if self._samples_memory:
            pause = min(pause, _LOOK_AT_PROCESSES_S)
        return now + pause

    def wait_ms(self) -> float:
        """How long nothing can go over a limit that one has to look at."""
        return float(max(0.0, min(self._deadline, self._look_at) - time.monotonic()) * 1000)

    def limit_reached(self) -> str | None:
        """Returns the limit that is over, if one is."""
        now = time.monotonic()
        if now < self._look_at and now < self._deadline:
            return None
        if self._samples_memory:
            self.peak = max(self.peak, self.counters.meter.memory_bytes())
            if self.peak > self.limits["memory_bytes"]:
                return "memory_limit"
        self.cpu_seen_s = max(self.cpu_seen_s, self.counters.cpu_time_s())
        left = self.limits["cpu_time_s"] - self.cpu_seen_s
        if left < -_UNACCOUNTED_CPU_S:
            return "cpu_limit"
        self._look_at = self._next_look(now, left)
        return "wall_limit" if now >= self._deadline else None


def sweep_up(zygote: Zygote) -> None:
    """Ends and removes what a run left, where its namespaces have not taken that along."""
    if not zygote.nested:
        sweep.end_processes(frozenset({os.getpid(), zygote.pid}))
        sweep.empty_folders()


def run(zygote: Zygote, counters: Counters, main: Run, other: Run | None = None) -> Outcome:
    """Runs a jail, and beside it another that serves it, until the first one ends.

    Raises:
        RunnerError: the jail could not be set up.
    """
    watch = _Watch(main.order["limits"], counters)
    lives = [Live(zygote, each) for each in (other, main) if each is not None]
    live = lives[-1]
    try:
        reached = _follow(live, lives, watch)
        wall = time.monotonic() - live.started
    finally:
        for each in lives:
            each.end()
    sweep_up(zygote)
    for each in lives:
        each.drain()
        each.close()
    return _conclude(live, lives, watch, reached, wall)


def _follow(live: Live, lives: list[Live], watch: _Watch) -> str | None:
    """Serves the pipes until init reports or a limit is reached; returns that limit.

    A report that is there counts, however late it is read: whether the supervisor got the
    processor in time must not decide a verdict.
    """
    poller = select.poll()
    captures = {capture.fd: capture for each in lives for capture in each.followed}
    for fd in captures:
        poller.register(fd, select.POLLIN)
    if live.feed.is_open:
        poller.register(live.feed.fd, select.POLLOUT)
    if live.exit_fd >= 0:
        poller.register(live.exit_fd, select.POLLIN)
    while True:
        has_exited = streams.serve(poller, captures, live.feed, watch.wait_ms())
        if any(each.stdout.is_over or each.stderr.is_over for each in lives):
            return "output_limit"
        has_ended = live.exit_fd < 0 and live.status.fd not in captures
        if live.status.size or has_exited or has_ended:
            return None
        reached = watch.limit_reached()
        if reached:
            return reached


def _conclude(
    live: Live, lives: list[Live], watch: _Watch, reached: str | None, wall_time_s: float
) -> Outcome:
    report = report_of(live)
    cpu_time_s = _cpu_time_s(lives, report, watch)
    ending = _ending(lives, report, watch, reached, cpu_time_s)
    status = report.get("status", 0)
    exited = ending == "exited"
    return Outcome(
        ending=ending,
        exit_code=os.WEXITSTATUS(status) if exited else None,
        signal=os.WTERMSIG(status) if ending == "signaled" else None,
        stdout=live.stdout.data(),
        stderr=live.stderr.data(),
        channel=live.channel.data(),
        cpu_time_s=cpu_time_s,
        wall_time_s=wall_time_s,
        memory_bytes=max(report.get("peak_bytes", 0), watch.peak, watch.counters.peak_bytes()),
        report=report,
        other=lives[0].streams() if len(lives) > 1 else None,
    )


def report_of(live: Live) -> dict[str, Any]:
    """Returns what init told; empty when it was ended before it could.

    Without namespaces of its own a program has no init, and its own exit says it all.

    Raises:
        RunnerError: the jail could not be set up, or the program not be started.
    """
    data = live.status.data()
    if len(data) == FAILURE_BYTES:
        names = jail.build(live.order, range(len(live.order["roles"])), 0, 0).script
        raise RunnerError(f"jail: {names.failure(data)}")
    if data.startswith(init.TAG):
        return init.parse_report(data)._asdict()
    if data:
        return _report_of_compile(data)
    if live.exit_fd < 0 or live.usage is None:
        return {}
    return {"status": live.status_of_exit, "peak_bytes": live.usage.ru_maxrss * 1024}


def _report_of_compile(data: bytes) -> dict[str, Any]:
    try:
        report: dict[str, Any] = marshal.loads(data)  # noqa: S302 - init's own words
    except (ValueError, EOFError, TypeError):
        raise RunnerError(f"jail: {data.decode('utf-8', 'replace')}") from None
    return report


def _cpu_time_s(lives: list[Live], report: dict[str, Any], watch: _Watch) -> float:
    waited = sum(
        each.usage.ru_utime + each.usage.ru_stime for each in lives if each.usage is not None
    )
    counted = max(watch.cpu_seen_s, watch.counters.cpu_time_s())
    if counted > waited + _UNACCOUNTED_CPU_S:
        return counted
    return max(0.0, waited - float(report.get("init_cpu_s", 0.0)))


def _ending(
    lives: list[Live],
    report: dict[str, Any],
    watch: _Watch,
    reached: str | None,
    cpu_time_s: float,
) -> str:
    """Limits beat the program's own end; memory beats the other limits."""
    if watch.counters.ran_out_of_memory():
        return "memory_limit"
    if reached:
        return reached
    if any(each.stdout.is_over or each.stderr.is_over for each in lives):
        return "output_limit"
    if cpu_time_s > watch.limits["cpu_time_s"]:
        return "cpu_limit"
    if "status" not in report:
        raise RunnerError("the jail's init ended without a word")
    return "signaled" if os.WIFSIGNALED(report["status"]) else "exited"
