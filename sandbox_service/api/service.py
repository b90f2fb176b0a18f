"""What the routes share: settings, languages, the broker, and the checks of submissions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from fastapi import Request

from sandbox_service.api.access import caller_of
from sandbox_service.api.errors import FieldError, InvalidBody
from sandbox_service.errors import UnknownLanguage
from sandbox_service.languages import LanguageTable
from sandbox_service.queue.batches import Batches
from sandbox_service.queue.broker import Broker, StoredState, Submitted
from sandbox_service.queue.connection import redis_errors
from sandbox_service.queue.keys import id_of
from sandbox_service.queue.suites import missing_suites
from sandbox_service.schema.checker import CustomChecker, InteractiveChecker
from sandbox_service.schema.submission import Submission
from sandbox_service.schema.testcase import CallTest, ExitCodeTest, StdioTest, TestCase
from sandbox_service.schema.verdict import JobStatus
from sandbox_service.settings import Settings
from sandbox_service.telemetry.metrics import HttpMetrics
from sandbox_service.telemetry.tracing import Tracing


@dataclass(frozen=True, slots=True)
class Service:
    """One for each application."""

    settings: Settings
    languages: LanguageTable
    broker: Broker
    batches: Batches
    metrics: HttpMetrics
    tracing: Tracing

    def wait_s(self, asked: float | None) -> float:
        """Returns how long a request may wait."""
        return min(self.settings.max_wait_s, self.settings.max_wait_s if asked is None else asked)

    async def submit(
        self, request: Request, submissions: Sequence[Submission], wait: float | None
    ) -> Submitted:
        """Stores what a caller sent and waits.

        Raises:
            Conflict: an id was used before with other content; the others are accepted.
            QueueFull: too many are waiting, or the caller sends too fast.
            QueueUnavailable: Redis does not answer.
        """
        with self.tracing.span("submit", request.headers, count=len(submissions)):
            return await self.broker.submit(
                caller_of(request).tenant,
                submissions,
                wait_s=self.wait_s(wait),
                trace=self.tracing.context(),
            )

    async def states(self, submitted: Submitted) -> list[StoredState]:
        """Returns how the submissions stand.

        Raises:
            QueueUnavailable: Redis does not answer.
        """
        if not submitted.is_done and submitted.is_new:
            # Nothing is known of them yet but that they were stored.
            return [
                StoredState(id_of(ref), JobStatus.QUEUED, None, b"null") for ref in submitted.refs
            ]
        with redis_errors():
            return await self.broker.states(submitted.refs)

    async def check(self, submissions: Sequence[Submission], prefixes: Sequence[str]) -> None:
        """Checks what the schema cannot know; the prefixes stand before the names of fields.

        Raises:
            InvalidBody: unknown languages or suites, limits above the maxima, tests of a refused
                kind; all are named.
            QueueUnavailable: Redis does not answer.
        """
        errors: list[FieldError] = []
        for submission, prefix in zip(submissions, prefixes, strict=True):
            errors.extend(self._language_errors(submission, prefix))
            errors.extend(self._limit_errors(submission, prefix))
            errors.extend(self._kind_errors(submission.tests or (), prefix))
        if errors:
            is_language = errors[0].field.endswith("language")
            raise InvalidBody(errors, UnknownLanguage.code if is_language else None)
        with redis_errors():
            digests = [submission.suite for submission in submissions if submission.suite]
            missing = await missing_suites(self.broker.redis, digests)
        if missing:
            raise InvalidBody(
                [
                    FieldError(f"{prefix}suite", "no such suite is stored")
                    for submission, prefix in zip(submissions, prefixes, strict=True)
                    if submission.suite in missing
                ]
            )

    def check_kinds(self, tests: Sequence[TestCase]) -> None:
        """Checks that no test is of a kind that is refused here.

        Raises:
            InvalidBody: some are; all are named.
        """
        if errors := list(self._kind_errors(tests, "")):
            raise InvalidBody(errors)

    def _kind_errors(self, tests: Sequence[TestCase], prefix: str) -> Iterator[FieldError]:
        if self.settings.allow_exit_code_tests:
            return
        for index, test in enumerate(tests):
            if isinstance(test, ExitCodeTest):
                reason = "tests by exit code are refused here"
                yield FieldError(f"{prefix}tests[{index}].exit_code", reason)

    def _language_errors(self, submission: Submission, prefix: str) -> Iterator[FieldError]:
        names = [("language", submission.language), *_checker_languages(submission.tests or ())]
        for field, name in names:
            try:
                self.languages.get(name)
            except UnknownLanguage as error:
                yield FieldError(prefix + field, str(error))

    def _limit_errors(self, submission: Submission, prefix: str) -> Iterator[FieldError]:
        limits, settings = submission.limits, self.settings
        asked: tuple[tuple[str, float, float], ...] = (
            ("cpu_time_s", limits.cpu_time_s, settings.max_cpu_time_s),
            ("wall_time_s", limits.wall_time_s or 0, settings.max_wall_time_s),
            ("memory_bytes", limits.memory_bytes, settings.max_memory_bytes),
            ("output_bytes", limits.output_bytes, settings.max_output_bytes),
        )
        for name, value, maximum in asked:
            if value > maximum:
                yield FieldError(f"{prefix}limits.{name}", f"at most {maximum} here")


def _checker_languages(tests: Sequence[TestCase]) -> Iterator[tuple[str, str]]:
    for index, test in enumerate(tests):
        checker = test.checker if isinstance(test, StdioTest | CallTest) else None
        if isinstance(checker, CustomChecker | InteractiveChecker):
            yield f"tests[{index}].checker.language", checker.language


def service_of(request: Request) -> Service:
    """Returns what the application was made with."""
    return cast("Service", request.app.state.service)
