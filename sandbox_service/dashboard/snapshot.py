"""One look at the service as a whole, as the dashboard shows it."""

from sandbox_service.dashboard.figures import Figures
from sandbox_service.dashboard.history import Sample
from sandbox_service.schema.base import Model
from sandbox_service.schema.job import QueueState
from sandbox_service.schema.verdict import JobStatus, Verdict


class WorkerState(Model):
    """One worker process."""

    name: str
    """Its name: host, process id and a random part."""

    lease_s: float
    """Seconds until it counts as dead unless it gives a sign of life."""

    runs_for: str = ""
    """Tenant whose submissions it runs; empty when it is idle."""

    trouble: str = ""
    """Why it takes no jobs; empty when it does."""

    sandboxes: int = 0
    """Sandboxes that it has."""


class Recent(Model):
    """A submission that was done lately, without what it printed."""

    tenant: str
    """Whose it is."""

    id: str
    """Its id."""

    status: JobStatus
    """`finished` or `canceled`."""

    verdict: Verdict | None
    """None where the result is too large to be looked into in passing."""

    reward: float | None
    """None means no information."""

    passed: int = 0
    """Tests passed."""

    total: int = 0
    """Tests."""

    queued_s: float | None = None
    """From acceptance to the start of work."""

    run_s: float | None = None
    """From the start of work to the result."""

    engine: str = ""
    """What isolated it."""


class Snapshot(Model):
    """Everything that the page shows."""

    at: float
    """Seconds since 1970, by the clock of Redis."""

    period_s: float
    """Seconds until the next one; a page that gets none for much longer is stale."""

    lanes: tuple[QueueState, ...]
    """Every queue."""

    workers: tuple[WorkerState, ...]
    """Workers alive, at most as many as a page can show."""

    worker_count: int
    """Workers alive."""

    latest: Figures
    """The latest minutes."""

    total: Figures
    """Since the counters began."""

    sample: Sample
    """The newest point of the charts."""

    recent: tuple[Recent, ...]
    """Latest first."""
