"""One run's jail: its init prepares the namespaces, starts the program and waits for it.

Order matters: first what needs the rights of the new user namespace (mounts), then what takes
rights away (capabilities, Landlock, the filter), then the program. When init ends, the kernel
ends everything else in the namespace.
"""

import contextlib
import marshal
import os
import resource
import signal
import stat
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from runners import call, candidate, kernel, landlock, limits, program, seccomp, tester, view

_HARNESSES: dict[str, Callable[[dict[str, Any], list[int]], NoReturn]] = {
    "program": program.run,
    "call": call.run,
    "candidate": candidate.run,
    "tester": tester.run,
}
_STDIO = ("stdin", "stdout", "stderr")
_FIRST_FREE_FD = 3
_FILTER = seccomp.Filter(seccomp.program_filter())
_LANDLOCK_ABI = landlock.abi()
_TMPFS_FLAGS = kernel.MS_NOSUID | kernel.MS_NODEV
_MAX_OPEN_FILES = 4096

Order = dict[str, Any]
Fds = dict[str, int]


def enter(order: Order, fds: list[int]) -> NoReturn:
    """Turns this new process into the init of a jail; never returns."""
    roles: Fds = dict(zip(order["roles"], fds, strict=True))
    try:
        _prepare(order)
        for number, role in enumerate(_STDIO):
            os.dup2(roles[role], number)
        _confine(order["limits"])
        own = resource.getrusage(resource.RUSAGE_SELF)
        main = _start(order, roles)
        for number in range(_FIRST_FREE_FD):
            os.close(number)  # init must not keep the program's pipes open
        _wait(main, order, roles, own.ru_utime + own.ru_stime)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the supervisor must hear it
        os.write(roles["status"], marshal.dumps({"error": f"{type(error).__name__}: {error}"}))
    os._exit(0)


def _prepare(order: Order) -> None:
    """Makes the run's own file systems and puts the program's files into them."""
    view.map_own_id()
    allowed = order["limits"]
    size, inodes = allowed["disk_bytes"], allowed["inodes"]
    kernel.mount("box", view.BOX, "tmpfs", _TMPFS_FLAGS, f"size={size},nr_inodes={inodes},mode=755")
    with open("/proc/self/oom_score_adj", "wb", buffering=0) as file:
        file.write(b"1000")  # the kernel shall pick the program, not the runner
    for name in view.BOX_FOLDERS:
        os.mkdir(f"{view.BOX}/{name}", 0o700)
    flags = _TMPFS_FLAGS | kernel.MS_NOEXEC
    kernel.mount("proc", "/proc", "proc", flags, "subset=pid,hidepid=invisible")
    os.chdir(view.WORK)
    for path in order["files"]:
        _copy_in(path)


def _copy_in(path: str) -> None:
    """Copies one file of the submission from the stage into the working folder."""
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    source = os.open(f"{view.PROGRAM}/{path}", os.O_RDONLY)
    target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    while data := os.read(source, 1 << 20):
        os.write(target, data)
    os.close(source)
    os.close(target)


def _confine(allowed: dict[str, Any]) -> None:
    os.setsid()
    limits.apply(allowed)
    kernel.drop_capabilities()
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    if _LANDLOCK_ABI:
        landlock.restrict(_LANDLOCK_ABI, (view.BOX,), "/dev")
    _FILTER.install()


def _start(order: Order, roles: Fds) -> int:
    """Starts the program and returns its process id."""
    harness = order["harness"]
    if harness is None:
        argv, env = order["argv"], order["env"]
        return os.posix_spawnp(argv[0], argv, env, setpgroup=0)
    pid = os.fork()
    if pid == 0:
        _become_program(order, roles)
    return pid


def _become_program(order: Order, roles: Fds) -> NoReturn:
    """Runs a harness in this fork of the warm interpreter; never returns."""
    os.setpgid(0, 0)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # its own /proc/self is its own again
    kept = _keep([roles[role] for role in order["kept"]])
    os.environ.clear()
    os.environ.update(order["env"])
    run: Callable[[Order, list[int]], None] = __import__(
        f"runners.{order['harness']}", fromlist=["run"]
    ).run
    run(order, kept)
    os._exit(0)


def _keep(fds: list[int]) -> list[int]:
    """Moves these descriptors to 3, 4, … and closes all others."""
    high = [os.dup2(fd, _MAX_KEPT + index) for index, fd in enumerate(fds)]
    low = [os.dup2(fd, _FIRST_FREE_FD + index) for index, fd in enumerate(high)]
    os.closerange(_FIRST_FREE_FD + len(low), _MAX_OPEN_FILES)
    return low


_MAX_KEPT = 100  # above every descriptor that a jail receives


def _wait(main: int, order: Order, roles: Fds, own_cpu_s: float) -> None:
    """Reaps until the main process ends, then tells how it ended."""
    while True:
        pid, status, usage = os.wait4(-1, 0)
        if pid == main:
            break
    report: dict[str, Any] = {
        "status": status,
        "own_cpu_s": own_cpu_s,
        "peak_bytes": usage.ru_maxrss * 1024,
    }
    if order["collect"]:
        _end_all_others()
        report["files"] = dict(_collect(order["collect"], roles["channel"]))
    os.write(roles["status"], marshal.dumps(report))


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
    for path in paths:
        try:
            fd = os.open(path, flags)
        except OSError:
            continue
        facts = os.fstat(fd)
        if stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1:
            yield path, _copy_out(fd, channel)
        os.close(fd)


def _copy_out(fd: int, channel: int) -> int:
    size = 0
    while data := os.read(fd, 1 << 20):
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(channel, rest) :]
        size += len(data)
    return size
