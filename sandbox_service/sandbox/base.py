"""The protocol between whoever needs a program run and whatever runs it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from sandbox_service.schema.result import SandboxInfo
from sandbox_service.schema.run import Execution, ExecutionReport

Gather = Callable[[], "list[ExecutionReport | None]"]
"""Waits for what was begun, and returns a report for each; None for what was not run."""


class Sandbox(Protocol):
    """One isolated place with a runner in it, at the other end of a byte stream."""

    info: SandboxInfo
    """What isolates it."""

    def execute(self, execution: Execution) -> ExecutionReport:
        """Compiles once and runs in order.

        Raises:
            SandboxDied: the stream ended; the sandbox must be closed.
            ProtocolViolation: the runner broke the contract; the sandbox must be closed.
        """

    def begin_all(self, executions: Sequence[Execution], *, patience_s: float | None) -> Gather:
        """Begins to do one after the other without a pause, but none whose turn comes too late.

        What it returns has to be called before anything else is asked, and raises the same.

        Raises:
            SandboxDied: the stream ended; the sandbox must be closed.
            ProtocolViolation: the runner broke the contract; the sandbox must be closed.
        """

    def set_memory(self, memory_bytes: int) -> None:
        """Gives the next runs another memory limit.

        Raises:
            SandboxDied: it cannot; the sandbox must be closed.
        """

    def close(self) -> None:
        """Ends everything inside; never raises."""


class Engine(Protocol):
    """Starts sandboxes of one kind."""

    name: str
    """`docker`, `local` or `fake`."""

    is_single_use: bool
    """Whether each sandbox serves one submission only, because runs share its inside."""

    def start(self, image: str, *, memory_bytes: int) -> Sandbox:
        """Starts a sandbox of an image family and waits until its runner is ready.

        Raises:
            EngineUnavailable: the engine, or the image, is not there.
            SandboxDied: the runner did not come up.
        """

    def reap(self) -> int:
        """Removes what workers that are gone left behind; returns how many."""

    def close(self) -> None:
        """Lets go of the engine's own resources."""


class PoolFigures(NamedTuple):
    """What a worker's sandboxes look like."""

    open: int = 0
    """Sandboxes that there are now."""

    started: int = 0
    """Started so far."""

    lost: int = 0
    """Of those, how many broke."""


class SandboxSource(Protocol):
    """What the pipeline needs: a program run, whichever sandbox that takes."""

    def execute(self, execution: Execution, *, fresh: bool) -> ExecutionReport:
        """Runs in a pooled sandbox, or in one that is destroyed afterwards.

        Raises:
            SandboxError: no sandbox could do it.
        """

    def look_ahead(self, executions: Sequence[Execution]) -> Gather:
        """Begins what can be run without a pause between; what breaks meanwhile is no loss.

        Raises:
            SandboxError: no sandbox could begin.
        """

    def figures(self) -> PoolFigures:
        """Counts the sandboxes; may be called by another thread."""

    def tidy(self) -> None:
        """Removes what is not needed any more; called when there is no work."""

    def close(self) -> None:
        """Closes every sandbox."""
