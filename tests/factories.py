"""Objects for tests, with everything that a test does not speak of filled in."""

from typing import Any

from sandbox_service.languages import Examples, Language, LanguageTable, RunStep
from sandbox_service.schema.result import Result
from sandbox_service.schema.submission import Submission


def make_submission(**overrides: Any) -> Submission:
    return Submission.model_validate(make_body(**overrides))


def make_body(**overrides: Any) -> dict[str, Any]:
    """A submission as posted; a field overridden by None is left out."""
    body = {
        "language": "python",
        "code": "print(1)",
        "tests": [{"stdin": "", "expected_stdout": "1\n"}],
    } | overrides
    return {name: value for name, value in body.items() if value is not None}


def make_result(**overrides: Any) -> Result:
    fields = {
        "id": "one",
        "verdict": "accepted",
        "score": 1.0,
        "reward": 1.0,
        "passed": 1,
        "total": 1,
    } | overrides
    return Result.model_validate(fields)


def make_language(**overrides: Any) -> Language:
    fields = {
        "name": "python",
        "title": "Python 3",
        "aliases": ("py",),
        "image": "python",
        "source": "main.py",
        "run": RunStep(kind="python"),
        "examples": Examples(
            expected_stdout="", accepted="a", wrong="w", compile_error="c", probe="p"
        ),
    } | overrides
    return Language.model_validate(fields)


def make_languages() -> LanguageTable:
    return LanguageTable([make_language()])
