"""The pipeline as a worker has it, with its sandboxes in sight."""

from collections.abc import Sequence
from typing import Self

from sandbox_service.languages import load_languages
from sandbox_service.sandbox.base import Engine, Gather, Sandbox
from sandbox_service.sandbox.pool import Pool
from sandbox_service.schema.result import Result
from sandbox_service.schema.run import Execution, ExecutionReport
from sandbox_service.schema.submission import Submission
from sandbox_service.settings import Settings
from sandbox_service.worker.boot import find_engine
from sandbox_service.worker.pipeline import Pipeline


def honest(language: str) -> Submission:
    """Returns a program that does no harm, for the same image as programs in that language."""
    is_python = language == "python"
    return Submission.model_validate(
        {
            "language": "python" if is_python else "bash",
            "code": "print(6 * 7)" if is_python else "echo 42",
            "tests": [{"expected_stdout": "42\n"}],
        }
    )


class _Watched:
    """A sandbox that notes when it is used."""

    def __init__(self, sandbox: Sandbox, used: list[Sandbox]) -> None:
        self._sandbox, self._used = sandbox, used
        self.info = sandbox.info

    def execute(self, execution: Execution) -> ExecutionReport:
        self._used.append(self._sandbox)
        return self._sandbox.execute(execution)

    def begin_all(self, executions: Sequence[Execution], *, patience_s: float | None) -> Gather:
        self._used.append(self._sandbox)
        return self._sandbox.begin_all(executions, patience_s=patience_s)

    def set_memory(self, memory_bytes: int) -> None:
        self._sandbox.set_memory(memory_bytes)

    def close(self) -> None:
        self._sandbox.close()


class _WatchedEngine:
    """An engine that knows which of its sandboxes was used last."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.name = engine.name
        self.is_single_use = engine.is_single_use
        self.used: list[Sandbox] = []

    def start(self, image: str, *, memory_bytes: int) -> Sandbox:
        return _Watched(self._engine.start(image, memory_bytes=memory_bytes), self.used)

    def reap(self) -> int:
        return self._engine.reap()

    def close(self) -> None:
        self._engine.close()


class Service:
    """One worker's pipeline; what it sends is one tenant's."""

    def __init__(self, settings: Settings) -> None:
        self._engine = _WatchedEngine(find_engine(settings))
        self._pool = Pool(self._engine, settings)
        self._pipeline = Pipeline(load_languages(settings.images_dir), self._pool)

    def run(self, submission: Submission) -> Result:
        """Runs a submission to its result."""
        return self._pipeline.run("attack", submission)

    def execute(self, execution: Execution) -> ExecutionReport:
        """Does what a sandbox is asked to do, without a submission around it."""
        return self._pool.execute(execution, fresh=False)

    def sandbox(self) -> Sandbox:
        """The sandbox that was used last."""
        return self._engine.used[-1]

    def close(self) -> None:
        """Ends every sandbox."""
        self._pipeline.close()
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def printed(result: Result) -> str:
    """Returns everything of a result that a program could have written, or made us write."""
    steps = [*result.tests, *([result.compile] if result.compile else [])]
    return "\n".join(part for step in steps for part in (step.stdout, step.stderr, step.detail))
