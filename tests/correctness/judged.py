"""What tests of the harnesses say of a result: verdict and trust in one line."""

from typing import Any

from sandbox_service.schema.result import Result
from sandbox_service.schema.submission import Submission
from sandbox_service.worker.pipeline import Pipeline


def judge(pipeline: Pipeline, code: str, *tests: str | dict[str, Any], **fields: Any) -> Result:
    """Scores code against tests; a text is test code."""
    body = {
        "language": "python",
        "code": code,
        "tests": [{"test_code": test} if isinstance(test, str) else test for test in tests],
    }
    return pipeline.run("one", Submission.model_validate(body | fields))


def verdict(pipeline: Pipeline, code: str, *tests: str | dict[str, Any], **fields: Any) -> str:
    """Returns the verdict's value."""
    return judge(pipeline, code, *tests, **fields).verdict.value
