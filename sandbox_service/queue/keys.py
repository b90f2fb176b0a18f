"""Every Redis key, channel and lifetime of the service.

RQ keeps its own keys under `rq:`; everything else is under `sandbox:`, so that an ACL user can be
confined to these two prefixes.
"""

TASK = "sandbox_service.worker.tasks.run_submissions"
"""The only function that an RQ job may name."""

QUEUE = "default"
"""Name of the RQ queue."""

RQ_QUEUE = f"rq:queue:{QUEUE}"
"""List of RQ job ids that wait."""

WAITING = "sandbox:waiting"
"""Sorted set of the ids that wait, by the time of acceptance."""

STARTED = "sandbox:started"
"""Sorted set of the ids being run, by the time of their start."""

WORKERS = "sandbox:workers"
"""Sorted set of worker names, by the time at which their lease ends."""

METRICS = "sandbox:metrics"
"""Hash of counters that workers and API replicas share."""

FINISHED = "sandbox:finished"
"""Channel on which the id of every finished or canceled submission is published."""

IN_FLIGHT_PREFIX = "sandbox:in_flight:"
"""Prefix of one list for each worker: the RQ jobs it has taken and not yet done."""

SUITE_TTL_S = 7 * 24 * 3600
"""Seconds for which a suite is kept after it was last stored or used."""

SUBMISSION_PREFIX = "sandbox:submission:"
"""Prefix of one hash for each submission: payload, status, attempts, result and reward."""


def submission(submission_id: str) -> str:
    """Returns the key of a submission's hash."""
    return SUBMISSION_PREFIX + submission_id


def suite(digest: str) -> str:
    """Returns the key of a stored list of tests."""
    return f"sandbox:suite:{digest}"


def in_flight(worker: str) -> str:
    """Returns the key of the list of RQ jobs that a worker has taken."""
    return IN_FLIGHT_PREFIX + worker


def rq_job(job_id: str) -> str:
    """Returns the key of RQ's hash of a job."""
    return f"rq:job:{job_id}"
