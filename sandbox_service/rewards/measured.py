"""What was found out about a completion besides its tests."""

from typing import NamedTuple


class Measured(NamedTuple):
    """A score, or why there is none."""

    score: float | None
    """From 0 to 1; None if nobody can tell."""

    detail: str = ""
    """Why nobody can tell, or what kept the score down."""
