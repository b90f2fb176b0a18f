"""What the routes share: settings, languages, the broker, and the checks of submissions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from fastapi import Request
from pydantic import BaseModel, ValidationError

from sandbox_service.api.errors import FieldError, InvalidBody, field_errors
from sandbox_service.errors import InvalidJson, UnknownLanguage, UnsupportedEncoding
from sandbox_service.languages import LanguageTable
from sandbox_service.queue.broker import Broker
from sandbox_service.queue.connection import redis_errors
from sandbox_service.queue.suites import missing_suites
from sandbox_service.schema.checker import CustomChecker, InteractiveChecker
from sandbox_service.schema.submission import Submission
from sandbox_service.schema.testcase import CallTest, StdioTest, TestCase
from sandbox_service.settings import Settings
from sandbox_service.telemetry.metrics import HttpMetrics

ModelT = TypeVar("ModelT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Service:
    """One for each application."""

    settings: Settings
    languages: LanguageTable
    broker: Broker
    metrics: HttpMetrics

    def wait_s(self, asked: float | None) -> float:
        """Returns how long a request may wait."""
        return min(self.settings.max_wait_s, self.settings.max_wait_s if asked is None else asked)

    async def check(self, submissions: Sequence[Submission], prefixes: Sequence[str]) -> None:
        """Checks what the schema cannot know; the prefixes stand before the names of fields.

        Raises:
            InvalidBody: unknown languages or suites, limits above the maxima; all are named.
            QueueUnavailable: Redis does not answer.
        """
        errors: list[FieldError] = []
        for submission, prefix in zip(submissions, prefixes, strict=True):
            errors.extend(self._language_errors(submission, prefix))
            errors.extend(self._limit_errors(submission, prefix))
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


async def read_model(request: Request, model: type[ModelT]) -> ModelT:
    """Reads the body in one pass from bytes to model.

    Raises:
        UnsupportedEncoding: it is not UTF-8.
        InvalidJson: it is not JSON, or nested too deeply.
        InvalidBody: a field does not fit.
        PayloadTooLarge: it is larger than the service takes.
    """
    body = await request.body()
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False, include_context=False)
    if errors[0]["type"] != "json_invalid":
        raise InvalidBody(field_errors(errors))
    try:
        body.decode()
    except UnicodeDecodeError as error:
        raise UnsupportedEncoding(f"the body is not UTF-8: {error}", field="body") from error
    raise InvalidJson(errors[0]["msg"], field="body")
