"""Every Redis key, channel and lifetime of the service.

RQ keeps its own keys under `rq:`; everything else is under `sandbox:`, so that an ACL user can be
confined to these two prefixes. A *reference* is `<tenant>/<id>`: it names a submission or a batch,
and nobody can name another tenant's.
"""

import re
from typing import NamedTuple

TASK = "sandbox_service.worker.tasks.run_submissions"
"""The only function that an RQ job may name."""

DEFAULT_TENANT = "default"
"""Owner of everything where there are no tenants."""

WORKERS = "sandbox:workers"
"""Sorted set of worker names, by the time at which their lease ends."""

UNREADY = "sandbox:unready"
"""Hash of the workers whose engine is down, with the reason."""

METRICS = "sandbox:metrics"
"""Hash of counters that workers and API replicas share."""

FINISHED = "sandbox:finished"
"""Channel on which the reference of every finished or canceled submission is published."""

LANES = "sandbox:lanes"
"""Sorted set of the lanes that have work, by the share that they have used."""

WAKE = "sandbox:wake"
"""List of tokens; an idle worker that takes one looks for work."""

BUSY = "sandbox:busy"
SANDBOXES = "sandbox:sandboxes"
"""Hash of the workers that run something, with the tenant whose it is."""

DEAD = "sandbox:dead"
"""Sorted set of submissions that ended as internal errors, by time."""

RECENT = "sandbox:recent"
"""List of the submissions that were done last, latest first."""

API_KEYS = "sandbox:api_keys"
"""Hash of the API keys that were made, by their ids."""

AUDIT = "sandbox:audit"
"""Stream of who did what with keys and dead letters, and of who was refused."""

IN_FLIGHT_PREFIX = "sandbox:in_flight:"
"""Prefix of one list for each worker: the RQ jobs it has taken and not yet done."""

SUITE_TTL_S = 7 * 24 * 3600
"""Seconds for which a suite is kept after it was last stored or used."""

SUBMISSION_PREFIX = "sandbox:submission:"
"""Prefix of one hash for each submission: payload, status, attempts, result and reward."""

# Names of tenants are part of the names of RQ queues and jobs.
_TENANT = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_JOB_ID = re.compile(r"^[0-9a-f]{32}-([a-z]+)-(.+)$")


class Place(NamedTuple):
    """Where a submission waits."""

    lane: str
    tenant: str

    @property
    def queue(self) -> str:
        """Name of the RQ queue."""
        return f"{self.lane}:{self.tenant}"

    @property
    def rq_queue(self) -> str:
        """Key of the list of RQ job ids that wait."""
        return f"rq:queue:{self.queue}"


def is_tenant(name: str) -> bool:
    """Tells whether a text can name a tenant."""
    return _TENANT.fullmatch(name) is not None


def reference(tenant: str, name: str) -> str:
    """Returns what names a tenant's submission or batch among all."""
    return f"{tenant}/{name}"


def tenant_of(ref: str) -> str:
    """Returns whose submission it is."""
    return ref.partition("/")[0]


def id_of(ref: str) -> str:
    """Returns the id by which the tenant knows it."""
    return ref.partition("/")[2]


def job_id(token: str, place: Place) -> str:
    """Returns the id of an RQ job, which says where the job belongs."""
    return f"{token}-{place.lane}-{place.tenant}"


def place_of_job(name: str) -> Place | None:
    """Returns where an RQ job belongs; None if the id is not one of ours."""
    match = _JOB_ID.match(name)
    return None if match is None else Place(match[1], match[2])


def submission(ref: str) -> str:
    """Returns the key of a submission's hash."""
    return SUBMISSION_PREFIX + ref


def waiting(lane: str) -> str:
    """Returns the key of the sorted set of what waits in a lane, by the time of acceptance."""
    return f"sandbox:waiting:{lane}"


def started(lane: str) -> str:
    """Returns the key of the sorted set of what runs, by the time of its start."""
    return f"sandbox:started:{lane}"


def suite(digest: str) -> str:
    """Returns the key of a stored list of tests."""
    return f"sandbox:suite:{digest}"


def in_flight(worker: str) -> str:
    """Returns the key of the list of RQ jobs that a worker has taken."""
    return IN_FLIGHT_PREFIX + worker


def rq_job(name: str) -> str:
    """Returns the key of RQ's hash of a job."""
    return f"rq:job:{name}"


def followers(ref: str) -> str:
    """Returns the key of the list of submissions that wait for an equal one's result."""
    return f"sandbox:followers:{ref}"


def cached(tenant: str, content: str) -> str:
    """Returns the key of a result that equal submissions of a tenant may have."""
    return f"sandbox:cache:{tenant}/{content}"


def flight(tenant: str, lane: str, content: str) -> str:
    """Returns the key that says which submission with this content is under way."""
    return f"sandbox:flight:{tenant}/{lane}/{content}"


def rate(tenant: str) -> str:
    """Returns the key of what a tenant may still send."""
    return f"sandbox:rate:{tenant}"


def drained(bucket: int) -> str:
    """Returns the key of how many submissions were done in ten seconds."""
    return f"sandbox:drained:{bucket}"


def batch(ref: str) -> str:
    """Returns the key of a batch's hash: its size and its members by status."""
    return f"sandbox:batch:{ref}"


def batch_done(ref: str) -> str:
    """Returns the key of the list of a batch's indexes in the order in which they were done."""
    return f"sandbox:batch_done:{ref}"


def batch_members(ref: str) -> str:
    """Returns the key of the hash of a batch's submission ids by index."""
    return f"sandbox:batch_members:{ref}"
