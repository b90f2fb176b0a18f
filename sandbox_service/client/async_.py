"""The client for an event loop.

    async with AsyncSandboxClient("http://127.0.0.1:8000") as client:
        rewards, results, pending = await client.rewards(submissions)

Every method raises what the service meant, from `sandbox_service.errors`; while the service is
away or full, calls are tried again up to the deadline of `ClientOptions.retry`.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import httpx

from sandbox_service.client import _batches, _flows
from sandbox_service.client._drivers import LoopDriver
from sandbox_service.client.answers import Health, LanguageInfo, Rewards
from sandbox_service.client.progress import Progress
from sandbox_service.client.submissions import SubmissionLike
from sandbox_service.schema.job import BatchCreated, BatchResult, BatchState, JobState, QueueState
from sandbox_service.schema.result import Result
from sandbox_service.schema.testcase import TestCase


class AsyncSandboxClient(LoopDriver):
    """Submissions in, results and rewards out. Its methods are those of `SandboxClient`."""

    async def submit(self, submission: SubmissionLike, *, wait_s: float = 0.0) -> JobState:
        """Sends one submission and tells where it is after a wait.

        Raises:
            InvalidSubmission: a field does not fit; `field` names it.
            QueueFull: the service had no room until the deadline.
            ServiceUnavailable: it was not reached until the deadline.
        """
        return await self._run(_flows.submit(submission, wait_s))

    async def look(self, submission_id: str, *, wait_s: float = 0.0) -> JobState:
        """Tells where a submission is after a wait.

        Raises:
            NotFound: no such submission, or it has expired.
        """
        return await self._run(_flows.look(submission_id, wait_s))

    async def result(self, submission_id: str, *, timeout_s: float | None = None) -> Result:
        """Waits for the result of a submission that was sent before.

        Raises:
            NotFound: no such submission, or it has expired.
            NotFinished: the time was over first.
        """
        return await self._run(_flows.result(submission_id, self._patience(timeout_s)))

    async def cancel(self, submission_id: str) -> JobState:
        """Cancels a submission unless it is finished.

        Raises:
            NotFound: no such submission, or it has expired.
        """
        return await self._run(_flows.cancel(submission_id))

    async def score(self, submission: SubmissionLike, *, timeout_s: float | None = None) -> Result:
        """Sends one submission and waits for its result.

        Raises:
            InvalidSubmission: a field does not fit.
            NotFinished: the time was over first; the work goes on.
            ServiceUnavailable: the service was not reached until the deadline.
        """
        return await self._run(_flows.score(submission, self._patience(timeout_s)))

    async def rewards(
        self, submissions: Sequence[SubmissionLike], *, timeout_s: float | None = None
    ) -> Rewards:
        """Sends submissions and waits for all of them, or until the time is over.

        Raises:
            InvalidSubmission: a field does not fit; none of that request is accepted.
            ServiceUnavailable: the service was not reached until the deadline.
        """
        patience = self._patience(timeout_s)
        return await self._run(_flows.rewards(submissions, patience, self._options))

    async def create_batch(
        self, submissions: Sequence[SubmissionLike], *, defaults: Mapping[str, Any] | None = None
    ) -> BatchCreated:
        """Sends a batch; what the defaults say holds where a submission says nothing.

        Raises:
            InvalidSubmission: a field does not fit; nothing is accepted.
            ServiceUnavailable: the service was not reached until the deadline.
        """
        return await self._run(_batches.create(submissions, defaults))

    async def batch(self, batch_id: str) -> BatchState:
        """Counts the submissions of a batch by where they are.

        Raises:
            NotFound: no such batch, or it has expired.
        """
        return await self._run(_batches.look(batch_id))

    async def cancel_batch(self, batch_id: str) -> BatchState:
        """Cancels what is not finished of a batch.

        Raises:
            NotFound: no such batch, or it has expired.
        """
        return await self._run(_batches.cancel(batch_id))

    async def batch_results(
        self, batch_id: str, *, after: int = 0, timeout_s: float | None = None
    ) -> AsyncIterator[BatchResult]:
        """Gives results as they finish; a lost connection is taken up where it ended.

        Args:
            batch_id: Id of the batch.
            after: The `cursor` of the last result that was seen before.
            timeout_s: Time for all of them; None means as long as it takes.

        Raises:
            NotFound: no such batch, or it has expired.
            NotFinished: the time was over first.
            ServiceUnavailable: the service was not reached until the deadline.
        """
        cursor = _batches.Cursor(await self.batch(batch_id), after, self._options, timeout_s)
        while not cursor.is_done:
            response = await self._answer(cursor.call())
            was_silent = False
            try:
                async for chunk in response.aiter_bytes():
                    for result in cursor.take(chunk):
                        yield result
            except httpx.HTTPError as error:
                was_silent = isinstance(error, httpx.ReadTimeout)
            finally:
                await response.aclose()
            if not cursor.is_done:
                await asyncio.sleep(cursor.pause_s(was_silent=was_silent))

    async def run_batch(
        self,
        submissions: Sequence[SubmissionLike],
        *,
        defaults: Mapping[str, Any] | None = None,
        progress: Progress | None = None,
        timeout_s: float | None = None,
    ) -> list[Result]:
        """Sends a batch and returns its results in the order sent.

        Raises:
            InvalidSubmission: a field does not fit; nothing is accepted.
            NotFinished: the time was over first; the batch goes on.
            ServiceUnavailable: the service was not reached until the deadline.
        """
        batch = await self.create_batch(submissions, defaults=defaults)
        found = _batches.Collector(batch.count)
        async for line in self.batch_results(batch.id, timeout_s=timeout_s):
            done = found.add(line)
            if progress is not None:
                progress(done, batch.count)
        return found.in_order()

    async def put_suite(self, tests: Sequence[TestCase | Mapping[str, Any]]) -> str:
        """Stores tests once; returns the digest that a submission may say instead of them.

        Raises:
            InvalidSubmission: a field does not fit.
        """
        return await self._run(_flows.put_suite(tests))

    async def languages(self) -> tuple[LanguageInfo, ...]:
        """Lists what submissions may be written in."""
        return await self._run(_flows.languages())

    async def queues(self) -> tuple[QueueState, ...]:
        """Counts what waits, what runs and who works."""
        return await self._run(_flows.queues())

    async def health(self, *, within_s: float = 0.0) -> Health:
        """Tells that submissions are taken and worked on, or becomes true within the time.

        Raises:
            NoWorkers: nobody takes jobs.
            QueueUnavailable: Redis does not answer.
            ServiceUnavailable: the service does not.
        """
        return await self._run(_flows.health(within_s))
