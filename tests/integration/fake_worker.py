"""A worker process with a pipeline that does what the code of a submission says.

`sleep 0.5` takes its time, `die` kills the process, `break` breaks the
sandbox, `down` waits for the engine, `wrong` is wrong, all else passes.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence

from sandbox_service.errors import EngineUnavailable, SandboxDied
from sandbox_service.queue.connection import connect
from sandbox_service.sandbox.base import PoolFigures
from sandbox_service.schema.result import Result
from sandbox_service.schema.submission import Submission
from sandbox_service.settings import Settings
from sandbox_service.telemetry.logging import configure_logging
from sandbox_service.worker.process import run_worker


class ObedientPipeline:
    """Says in Redis what it does, so that tests need not poll."""

    def __init__(self, url: str, name: str) -> None:
        self._redis = connect(url)
        self._redis.rpush("test:ready", name)

    def look_ahead(self, submissions: Sequence[Submission]) -> Callable[[], list[None]]:
        return lambda: [None] * len(submissions)

    def run(self, submission_id: str, submission: Submission, ahead: object = None) -> Result:
        self._redis.rpush("test:begun", submission_id)
        word, _, argument = (submission.code or "").partition(" ")
        if word == "sleep":
            time.sleep(float(argument))
        if word == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if word == "break":
            raise SandboxDied("the stream ended")
        if word == "down" and not self._redis.exists("test:engine"):
            raise EngineUnavailable("no daemon answers")
        is_right = word != "wrong"
        return Result(
            id=submission_id,
            verdict="accepted" if is_right else "wrong_answer",
            score=float(is_right),
            reward=float(is_right),
            passed=int(is_right),
            total=1,
            detail=str(os.getpid()),
            metadata=submission.metadata,
        )

    def figures(self) -> PoolFigures:
        return PoolFigures(open=1, started=1)

    def tidy(self) -> None:
        pass

    def close(self) -> None:
        self._redis.close()


if __name__ == "__main__":
    url, name = sys.argv[1:3]
    configure_logging("console", "warning")
    settings = Settings(worker_lease_s=0.6)
    run_worker(settings, url, lambda _: ObedientPipeline(url, name), name=name)
