"""One line of the doctor's table."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How good a finding is."""

    GOOD = "good"
    """As wanted."""

    NOTE = "note"
    """Works; worth knowing."""

    MISSING = "missing"
    """Something does not work for want of it."""


@dataclass(frozen=True)
class Finding:
    """What was looked for, what is there, and what to do about it."""

    topic: str
    state: State
    found: str
    advice: str = ""
