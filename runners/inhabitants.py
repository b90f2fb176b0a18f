"""What goes on in a jail in Python: a harness in the program's process, or a collecting init."""

import contextlib
import marshal
import os
import signal
import stat
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from runners import jail, kernel
from runners.init import STATUS_FD

Harness = Callable[[dict[str, Any], list[int]], NoReturn]


def live(made: jail.Jail, harnesses: dict[str, Harness]) -> NoReturn:
    """Goes on where the script has ended: as the program, or as an init that collects files."""
    kernel.note_thread_id()
    harness = made.order["harness"]
    if harness is None:
        _compile(made.order, made.kept[0])
    harnesses[harness](made.order, made.kept)


def _compile(order: jail.Order, channel: int) -> NoReturn:
    """Runs the compiler, ends all that it left running, and hands out what it made."""
    try:
        argv, env = order["argv"], order["env"]
        reset = (signal.SIGPIPE, signal.SIGXFSZ)
        main = os.posix_spawn(jail.find(argv, env), argv, env, setpgroup=0, setsigdef=reset)
        status, peak_bytes = _wait_for(main)
        if order["nested"]:
            _end_all_others()
        files = dict(_collect(order["collect"], channel))
        report = {"status": status, "peak_bytes": peak_bytes, "files": files}
        os.write(STATUS_FD, marshal.dumps(report))
    except OSError as error:
        os.write(STATUS_FD, str(error).encode())
    os._exit(0)


def _wait_for(main: int) -> tuple[int, int]:
    while True:
        pid, status, usage = os.wait4(-1, 0)
        if pid == main:
            return status, usage.ru_maxrss * 1024


def _end_all_others() -> None:
    """Leaves init alone in its namespace, so that nothing moves under the collector."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait4(-1, 0)


def _collect(paths: list[str], channel: int) -> Iterator[tuple[str, int]]:
    """Writes regular files to the channel and yields path and size of each; skips all else."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    for path in _meant_by(paths):
        try:
            fd = os.open(path, flags)
        except OSError:
            continue
        facts = os.fstat(fd)
        if stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1:
            yield path, _copy_out(fd, channel)
        os.close(fd)


def _meant_by(paths: list[str]) -> Iterator[str]:
    """Yields the paths themselves, and for `*.class` all files that end so, below as well."""
    for path in paths:
        if not path.startswith("*"):
            yield path
            continue
        for folder, folders, files in os.walk("."):
            folders.sort()
            for name in sorted(files):
                if name.endswith(path[1:]):
                    yield f"{folder}/{name}".removeprefix("./")


def _copy_out(fd: int, channel: int) -> int:
    size = 0
    while data := os.read(fd, 1 << 20):
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(channel, rest) :]
        size += len(data)
    return size
