"""A worker's sign of life, and the takeover of jobs from workers that give none."""

import threading

import redis
import structlog

from sandbox_service.queue import keys, scripts
from sandbox_service.queue.submissions import SubmissionStore

_log = structlog.get_logger(__name__)
_RENEWALS_PER_LEASE = 4


class Lease:
    """Renewed by a thread of its own, so that a long run does not look like death."""

    def __init__(self, connection: redis.Redis, worker: str, lease_s: float) -> None:
        self._worker = worker
        self._lease_s = lease_s
        self._renew = connection.register_script(scripts.RENEW)
        self._release = connection.register_script(scripts.RELEASE)
        self._orphans = connection.register_script(scripts.ORPHANS)
        self._store = SubmissionStore(connection)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lease", daemon=True)

    def start(self) -> None:
        """Takes the lease, and takes over what was left behind."""
        self.renew()
        self.adopt_orphans()
        self._thread.start()

    def renew(self) -> int:
        """Extends the lease; returns how many jobs of dead workers went back to the queue."""
        taken = self._renew(
            keys=[keys.WORKERS, keys.RQ_QUEUE],
            args=[self._worker, self._lease_s, keys.IN_FLIGHT_PREFIX],
        )
        if taken:
            _log.warning("jobs_taken_over", jobs=taken)
        return int(taken)

    def adopt_orphans(self) -> int:
        """Queues submissions whose owner is gone and whose RQ job was lost with it."""
        reply = self._orphans(
            keys=[keys.WAITING, keys.STARTED, keys.WORKERS], args=[keys.SUBMISSION_PREFIX]
        )
        orphans = [submission_id.decode() for submission_id in reply]
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
    handed_back = script(keys=[keys.WORKERS, keys.RQ_QUEUE, keys.in_flight(worker)], args=[worker])
    return int(handed_back)
