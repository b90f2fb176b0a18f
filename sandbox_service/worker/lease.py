"""A worker's sign of life, and the takeover of jobs from workers that give none."""

import threading
from collections.abc import Callable

import redis
import structlog

from sandbox_service.queue import dispatch, keys
from sandbox_service.queue.submissions import SubmissionStore
from sandbox_service.sandbox.base import PoolFigures
from sandbox_service.schema.verdict import Lane

_log = structlog.get_logger(__name__)
_RENEWALS_PER_LEASE = 4
# Of those that wait, so many in each lane are looked at with each renewal.
_LOOKED_AT = 200


class Lease:
    """Renewed by a thread of its own, so that a long run does not look like death."""

    def __init__(
        self,
        store: SubmissionStore,
        worker: str,
        lease_s: float,
        figures: Callable[[], PoolFigures] = PoolFigures,
    ) -> None:
        """Takes what counts the worker's sandboxes, which is told with each renewal."""
        connection = store.redis
        self._figures = figures
        self._told = PoolFigures()
        self._worker = worker
        self._lease_s = lease_s
        self._renew = connection.register_script(dispatch.RENEW)
        self._release = connection.register_script(dispatch.RELEASE)
        self._orphans = connection.register_script(dispatch.ORPHANS)
        self._redis = connection
        self._store = store
        self._rank = 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lease", daemon=True)

    def start(self) -> None:
        """Takes the lease, and takes over what was left behind."""
        self.renew()
        self.adopt_orphans()
        self._thread.start()

    def renew(self) -> int:
        """Extends the lease; returns how many jobs of dead workers went back to the queue."""
        now, told = self._figures(), self._told
        more = (now.started - told.started, now.lost - told.lost)
        args: list[str | float] = [self._worker, self._lease_s, now.open, *more]
        taken = self._renew(keys=[keys.WORKERS], args=args)
        self._told = now
        if taken:
            _log.warning("jobs_taken_over", jobs=taken)
        return int(taken)

    def adopt_orphans(self) -> int:
        """Queues submissions whose owner is gone, and those that no RQ job carries."""
        last = self._rank + _LOOKED_AT - 1
        orphans: list[str] = []
        deepest = 0
        for lane in Lane:
            reply = self._orphans(
                keys=[keys.WORKERS], args=[lane.value, self._rank, last, self._lease_s]
            )
            orphans += [ref.decode() for ref in reply]
            deepest = max(deepest, self._redis.zcard(keys.waiting(lane)))
        self._rank = last + 1 if last < deepest else 0
        if orphans:
            _log.warning("orphans_adopted", submissions=len(orphans))
            self._store.hand_back(orphans)
        return len(orphans)

    def stop(self) -> None:
        """Ends the lease and hands back what was taken and not done."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(timeout=self._lease_s)
        release_lease(self._release, self._worker)

    def _run(self) -> None:
        while not self._stopped.wait(self._lease_s / _RENEWALS_PER_LEASE):
            try:
                self.renew()
                self.adopt_orphans()
            except redis.RedisError as error:
                _log.warning("lease_not_renewed", reason=type(error).__name__)


def release_lease(script: "redis.commands.core.Script", worker: str) -> int:
    """Ends the lease of a worker that is known to be gone; its jobs are free at once."""
    handed_back = script(keys=[keys.WORKERS, keys.in_flight(worker)], args=[worker])
    return int(handed_back)
