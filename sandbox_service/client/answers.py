"""What the methods of the clients return, where it is not a model of the service itself."""

from typing import NamedTuple

from sandbox_service.schema.base import Model
from sandbox_service.schema.job import QueueState
from sandbox_service.schema.result import Result


class Rewards(NamedTuple):
    """What became of several submissions, each list in the order sent."""

    rewards: list[float | None]
    """None means no information, never zero."""
    results: list[Result | None]
    """None where the time was over before there was one."""
    pending: list[str]
    """Ids of those without a result; empty unless a time was given."""


class LanguageInfo(Model):
    """A language, as callers need to know it."""

    name: str
    """Name in submissions."""

    title: str
    """Name for people, with the version."""

    aliases: tuple[str, ...] = ()
    """Other names that are taken."""

    is_compiled: bool = False
    """Whether there is a compile step."""


class LanguageList(Model):
    """Every language."""

    languages: tuple[LanguageInfo, ...]
    """By name."""


class QueueList(Model):
    """Every queue."""

    queues: tuple[QueueState, ...]
    """In order of priority."""


class SuiteRef(Model):
    """What a submission says instead of its tests."""

    suite: str
    """`sha256:` and the digest of the tests."""


class Health(Model):
    """Submissions are taken and worked on."""

    status: str
    """Always `ready`."""

    workers: int
    """Workers alive."""
