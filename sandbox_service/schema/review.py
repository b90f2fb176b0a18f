"""What a trainer should look at; found by `judge.review`."""

from enum import StrEnum

from sandbox_service.schema.base import Model


class FlagKind(StrEnum):
    """What a program does beside solving the problem."""

    IMITATES_HARNESS = "imitates_harness"
    """Its output looks like the report of a test runner, and the expected output does not."""

    READS_TESTS = "reads_tests"
    """It looks for test data: in frames of its callers, in files, in other processes."""

    ATTACKS_PROCESSES = "attacks_processes"
    """It kills or traces processes, or writes into memory."""

    USES_NETWORK = "uses_network"
    """It opens connections, which no sandbox lets through."""

    HARD_CODED = "hard_coded"
    """Expected values stand as literals in the code; `share` says how many."""


class Flag(Model):
    """One finding. It informs; a reward policy may price it."""

    kind: FlagKind
    """What was found."""

    detail: str = ""
    """Where."""

    share: float | None = None
    """Share of the expected values, for `hard_coded`."""
