"""Starting and removing sandboxes beside the work, so that no submission waits for either."""

from collections import defaultdict
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from time import monotonic

import structlog

from sandbox_service.errors import SandboxError
from sandbox_service.sandbox.base import Engine, Sandbox

_log = structlog.get_logger(__name__)
_THREADS = 2


@dataclass
class Warm:
    """A sandbox that is ready, and what decides how long it stays."""

    sandbox: Sandbox
    image: str
    memory_bytes: int
    started_s: float = field(default_factory=monotonic)
    idle_since_s: float = field(default_factory=monotonic)
    used: int = 0


def start(engine: Engine, image: str, memory_bytes: int) -> Warm:
    """Starts a sandbox and waits for it.

    Raises:
        SandboxError: it does not start.
    """
    began = monotonic()
    sandbox = engine.start(image, memory_bytes=memory_bytes)
    _log.debug("sandbox_started", image=image, start_s=round(monotonic() - began, 3))
    return Warm(sandbox, image, memory_bytes)


class Background:
    """Threads that start and remove sandboxes ahead of need."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="sandboxes")
        self._coming: dict[str, list[Future[Warm]]] = defaultdict(list)

    def start(self, image: str, memory_bytes: int) -> None:
        """Begins to start a sandbox; `take` hands it out."""
        self._coming[image].append(self._threads.submit(start, self._engine, image, memory_bytes))

    def coming(self, image: str) -> int:
        """Number of sandboxes of that image that were begun and not taken."""
        return len(self._coming[image])

    def take(self, image: str) -> Warm | None:
        """Waits for a sandbox that was begun; None if there is none, or it did not start."""
        while self._coming[image]:
            future = self._coming[image].pop(0)
            try:
                return future.result()
            except SandboxError as error:
                _log.warning("sandbox_not_started", image=image, reason=str(error))
        return None

    def close(self, warm: Warm) -> None:
        """Removes a sandbox soon."""
        self._threads.submit(warm.sandbox.close)

    def shut_down(self) -> None:
        """Removes every sandbox that was begun, and waits until all are gone."""
        for image in list(self._coming):
            while warm := self.take(image):
                self.close(warm)
        self._threads.shutdown(wait=True)
