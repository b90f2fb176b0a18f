"""A submission: code, language, tests, limits and how they become a reward."""

from typing import Annotated

from pydantic import Field, JsonValue, model_validator

from sandbox_service.schema.base import Model
from sandbox_service.schema.limits import Limits
from sandbox_service.schema.reward import PassRate, RewardSpec
from sandbox_service.schema.testcase import TestCase
from sandbox_service.schema.verdict import Isolation, Lane

MAX_TESTS = 10_000
MAX_FILES = 256
MAX_DEADLINE_S = 7 * 24 * 3600

SubmissionId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$")]


class Submission(Model):
    """One program and what is to be found out about it."""

    language: Annotated[str, Field(min_length=1, max_length=64)]
    """A name or alias from `/v1/languages`."""

    code: str | None = None
    """The program; either this or `completion`."""

    completion: str | None = None
    """A model's whole text, out of which the code is taken."""

    tests: Annotated[tuple[TestCase, ...], Field(min_length=1, max_length=MAX_TESTS)] | None = None
    """At least one test; either this or `suite`."""

    suite: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")] | None = None
    """Digest of tests stored before by `PUT /v1/suites`."""

    files: Annotated[dict[str, str], Field(max_length=MAX_FILES)] = {}
    """Files beside the program: relative path to text, or to `base64:…`."""

    limits: Limits = Limits()
    """What each run is allowed."""

    reward: RewardSpec = PassRate()
    """How the result becomes a scalar."""

    isolation: Isolation = Isolation.POOLED
    """`pooled` shares the outer wall over time, `fresh` does not."""

    stop_at_first_failure: bool = False
    """Skip the tests after the first one that fails."""

    id: SubmissionId | None = None
    """Idempotency key: the same id with the same content is answered once and the same."""

    lane: Lane = Lane.TRAIN
    """Which of the lanes it waits in."""

    deadline_s: Annotated[float, Field(gt=0, le=MAX_DEADLINE_S)] | None = None
    """Seconds from acceptance after which it is not run any more: canceled, reward null."""

    cache: bool | None = None
    """True also takes and keeps results of equal submissions, false runs it in any case; null
    runs equal submissions once only while they are waiting or running."""

    metadata: dict[str, JsonValue] = {}
    """Handed back untouched."""

    @model_validator(mode="after")
    def _has_one_source(self) -> "Submission":
        if (self.code is None) == (self.completion is None):
            raise ValueError("exactly one of code and completion is required")
        if (self.tests is None) == (self.suite is None):
            raise ValueError("exactly one of tests and suite is required")
        return self
