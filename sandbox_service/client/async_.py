"""The client for an event loop.

    async with AsyncSandboxClient("http://127.0.0.1:8000") as client:
        rewards, results, pending = await client.rewards(submissions)

Every method raises what the service meant, from `sandbox_service.errors`; while the service is
away or full, calls are tried again up to the deadline of `ClientOptions.retry`.
"""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx
import tenacity

from sandbox_service.client import _flows
from sandbox_service.client._failures import Failed, failure_of_transport, raise_for_failure
from sandbox_service.client._flows import Patience, Rewards
from sandbox_service.client._submissions import SubmissionLike
from sandbox_service.client._transport import Call, ClientOptions, Flow, connection_settings
from sandbox_service.client.answers import Health, LanguageInfo
from sandbox_service.errors import SandboxServiceError
from sandbox_service.schema.job import JobState, QueueState
from sandbox_service.schema.result import Result
from sandbox_service.schema.testcase import TestCase

T = TypeVar("T")


class AsyncSandboxClient:
    """Submissions in, results and rewards out. Its methods are those of `SandboxClient`."""

    def __init__(
        self,
        base_url: str = "http://127.0.0.1:8000",
        *,
        api_key: str | None = None,
        options: ClientOptions | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._options = options or ClientOptions()
        settings = connection_settings(base_url, api_key, self._options)
        self._http = httpx.AsyncClient(**settings, transport=transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes every connection."""
        await self._http.aclose()

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

    def _patience(self, timeout_s: float | None) -> Patience:
        return Patience(timeout_s, self._options.wait_slice_s)

    async def _run(self, flow: Flow[T]) -> T:
        try:
            call = next(flow)
            while True:
                try:
                    response = await self._answer(call)
                except SandboxServiceError as error:
                    call = flow.throw(error)
                else:
                    call = flow.send(response)
        except StopIteration as end:
            returned: T = end.value
            return returned

    async def _answer(self, call: Call) -> httpx.Response:
        attempts = tenacity.AsyncRetrying(**self._options.retry.arguments(call.within_s))
        try:
            return await attempts(self._attempt, call)
        except Failed as failed:
            raise failed.error from failed.__cause__

    async def _attempt(self, call: Call) -> httpx.Response:
        try:
            response = await self._http.send(call.request(self._http))
        except httpx.HTTPError as error:
            raise failure_of_transport(error) from error
        raise_for_failure(response)
        return response
