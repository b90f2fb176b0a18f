"""The worker process: RQ's loop around the one task, with our leases in place of its registries.

RQ's own worker spends more on an empty job than a run costs. Kept are its work loop, its signal
handling and its way to record a job that failed; left out are heartbeats and
registries for each job, results (ours are in the submission), suspension, remote commands and
maintenance. An RQ job moves atomically from the queue to a list of this worker's own and leaves
that list only when it is done.
"""

import os
import socket
import time
from collections.abc import Callable
from secrets import token_hex
from typing import NamedTuple

import redis
import structlog
from rq import Queue
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.worker import SimpleWorker, WorkerStatus

from sandbox_service.queue import dispatch, keys
from sandbox_service.queue.connection import connect
from sandbox_service.queue.pinned_job import JobRefused, PinnedJob, pinned_queue
from sandbox_service.queue.signing import Signer
from sandbox_service.queue.submissions import SubmissionStore
from sandbox_service.queue.suites import SuiteReader
from sandbox_service.schema.verdict import Lane
from sandbox_service.settings import Settings
from sandbox_service.telemetry.tracing import tracing_to
from sandbox_service.worker.lease import Lease
from sandbox_service.worker.readiness import Readiness
from sandbox_service.worker.tasks import RUNNER, Pipeline, SubmissionRunner

_log = structlog.get_logger(__name__)
_DEQUEUE_S = 2
_RECONNECT_S = 0.25


class _Taken(NamedTuple):
    """An RQ job in this worker's own list."""

    id: str
    data: bytes
    """Its call, as RQ wrote it; empty when there is no such job."""


class SubmissionWorker(SimpleWorker):
    """Takes one RQ job at a time."""

    def __init__(
        self,
        connection: redis.Redis,
        blocking: redis.Redis,
        lease: Lease,
        *,
        name: str,
        on_idle: Callable[[], None],
        settings: Settings,
    ) -> None:
        super().__init__(
            # RQ wants to know a queue; which one a job comes from is decided for each job.
            [pinned_queue(connection, keys.Place(Lane.TRAIN, keys.DEFAULT_TENANT).queue)],
            name=name,
            connection=connection,
            serializer=JSONSerializer,
            job_class=PinnedJob,
        )
        self._lease = lease
        self._on_idle = on_idle
        # Retries would hide a lost answer, and with it the job that Redis moved.
        self._blocking = blocking
        self._in_flight = keys.in_flight(name)
        self._step = blocking.register_script(dispatch.NEXT)
        self._weights = [part for each in settings.lane_weights.items() for part in each]
        self._most_for_a_tenant = settings.tenant_max_running or ""
        self._began = 0.0
        self._taken: _Taken | None = None
        self._may_have_leftovers = False

    def is_draining(self) -> bool:
        """Tells whether the worker was asked to end."""
        return bool(self._stop_requested)

    def bootstrap(self, *args: object, **kwargs: object) -> None:
        """Takes the lease; no channel for remote commands is opened."""
        self._lease.start()
        _log.info("worker_started", worker=self.name, pid=os.getpid())

    def teardown(self) -> None:
        """Hands back what was taken."""
        self._lease.stop()
        _log.info("worker_stopped", worker=self.name)

    def _set_connection(self, connection: redis.Redis) -> redis.Redis:
        # Ours has the timeouts that it shall have.
        return connection

    @property
    def should_run_maintenance_tasks(self) -> bool:
        """Never: there are no registries to clean."""
        return False

    def check_for_suspension(self, burst: bool) -> None:
        """Does nothing: a worker is stopped, not suspended."""

    def heartbeat(self, *args: object, **kwargs: object) -> None:
        """Does nothing: the lease is the sign of life."""

    def set_shutdown_requested_date(self) -> None:
        """Does nothing: the logs have it."""

    def increment_failed_job_count(self, pipeline: object = None) -> None:
        """Does nothing: there is no hash for each worker."""

    def set_state(self, state: str, pipeline: object = None) -> None:
        """Remembers the state, which decides what a signal does, without telling Redis."""
        self._state = state

    def procline(self, message: str) -> None:
        """Does nothing: the title of the process stays."""

    def dequeue_job_and_maintain_ttl(
        self, timeout: int | None, max_idle_time: int | None = None
    ) -> tuple[Job, Queue] | None:
        """Moves a job to this worker's own list and reads it; None in burst mode when idle."""
        self.set_state(WorkerStatus.IDLE)
        taken, self._taken = self._taken, None
        while taken is None:
            taken = self._take(blocking=timeout is not None)
            if taken is None and timeout is None:
                return None
            if taken is None:
                self._on_idle()
        self.set_state(WorkerStatus.BUSY)
        self._began = time.monotonic()
        job = PinnedJob(taken.id, self.connection, JSONSerializer)
        job.restore({b"data": taken.data})
        return job, self.queues[0]

    def execute_job(self, job: Job, queue: Queue) -> None:
        """Runs the task; a job that asks for anything else is recorded as failed."""
        try:
            job.perform()
        except JobRefused as refusal:
            _log.error("job_refused", rq_job_id=job.id, reason=str(refusal))
            self.connection.lrem(self._in_flight, 1, job.id)
            if self.connection.exists(job.key):
                self.handle_job_failure(job, queue, exc_string=str(refusal))
            return
        except (redis.ConnectionError, redis.TimeoutError) as error:
            # The job is still in this worker's own list, and is taken up again from there.
            self._note_loss(error)
            return
        try:
            seconds = time.monotonic() - self._began
            self._taken = self._next(done=job.id, seconds=seconds, more=not self.is_draining())
        except (redis.ConnectionError, redis.TimeoutError) as error:
            self._note_loss(error)

    def _take(self, *, blocking: bool) -> _Taken | None:
        try:
            taken = self._leftover() or self._next()
            if taken is None and blocking:
                self._blocking.blpop([keys.WAKE], _DEQUEUE_S)
                taken = self._next()
        except (redis.ConnectionError, redis.TimeoutError) as error:
            self._note_loss(error)
            return None
        return taken

    def _note_loss(self, error: redis.RedisError) -> None:
        # Redis may have moved a job although its answer was lost.
        _log.warning("redis_lost", reason=type(error).__name__)
        self._may_have_leftovers = True
        time.sleep(_RECONNECT_S)

    def _next(self, *, done: str = "", seconds: float = 0.0, more: bool = True) -> _Taken | None:
        reply = self._step(
            keys=[self._in_flight],
            args=[
                self.name,
                dispatch.ESTIMATE_S,
                self._most_for_a_tenant,
                done,
                f"{seconds:.6f}",
                int(more),
                *self._weights,
            ],
        )
        return _Taken(reply[0].decode(), reply[1]) if reply else None

    def _leftover(self) -> _Taken | None:
        if not self._may_have_leftovers:
            return None
        name = self._blocking.lindex(self._in_flight, 0)
        self._may_have_leftovers = name is not None
        if not isinstance(name, bytes):
            return None
        data = self._blocking.hget(keys.rq_job(name.decode()), "data")
        return _Taken(name.decode(), data if isinstance(data, bytes) else b"")


def worker_name() -> str:
    """Returns a name that no other worker has."""
    return f"{socket.gethostname()}-{os.getpid()}-{token_hex(4)}"


def run_worker(
    settings: Settings,
    url: str,
    build_pipeline: Callable[[Settings], Pipeline],
    *,
    name: str | None = None,
    burst: bool = False,
) -> None:
    """Takes jobs until a signal says stop; ends what it has begun first.

    Raises:
        EngineUnavailable: the pipeline cannot start sandboxes here.
    """
    name = name or worker_name()
    connection = connect(url)
    pipeline = build_pipeline(settings)
    try:
        store = SubmissionStore(connection, Signer.of(settings))
        lease_store = SubmissionStore(connect(url), store.signer)
        worker = SubmissionWorker(
            connection,
            connect(url, retries=0),
            Lease(lease_store, name, settings.worker_lease_s, pipeline.figures),
            name=name,
            on_idle=pipeline.tidy,
            settings=settings,
        )
        RUNNER.set(
            SubmissionRunner(
                pipeline=pipeline,
                store=store,
                suites=SuiteReader(connection),
                settings=settings,
                worker=name,
                is_draining=worker.is_draining,
                readiness=Readiness(connection, name, worker.is_draining),
                tracing=tracing_to(settings.otlp_endpoint, "worker"),
            )
        )
        worker.work(burst=burst)
    finally:
        pipeline.close()
        connection.close()
