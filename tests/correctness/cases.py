"""Reads case files, and turns each case into the submission that the service would get.

A line of a case file has `language`, `mode` (`stdin`, `call` or `assert`), `code`, `tests`, and may
have `limits` (`wall_s`, `memory_mb`, `output_kb`, `compile_s`) and `compare` (a checker other than
the default one); `expect` says the verdict, the other verdicts that are right too, and the counts.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sandbox_service.schema.limits import MIB
from sandbox_service.schema.submission import Submission
from sandbox_service.schema.verdict import Verdict

CASES_DIR = Path(__file__).parents[3] / "shared" / "cases"
OWN_DIR = Path(__file__).parent / "cases"
REASON_ABSENT = f"the case files are not on this machine ({CASES_DIR})"

_LANGUAGES = {"node": "javascript"}
_ROOMY = frozenset({"java", "node"})
_VERDICTS = {
    "time_limit": Verdict.TIME_LIMIT_EXCEEDED,
    "memory_limit": Verdict.MEMORY_LIMIT_EXCEEDED,
    "output_limit": Verdict.OUTPUT_LIMIT_EXCEEDED,
}
_NEVER_THE_CANDIDATES = frozenset({Verdict.ACCEPTED, Verdict.INTERNAL_ERROR, Verdict.SKIPPED})


@dataclass(frozen=True)
class Case:
    """One case: what is sent, and what must come back."""

    id: str
    title: str
    language: str
    verdicts: frozenset[Verdict]
    passed: int
    total: int
    body: dict[str, Any]

    def submission(self) -> Submission:
        """Returns what is sent.

        Raises:
            ValidationError: the service refuses it, as it must where there are no tests.
        """
        return Submission.model_validate_json(json.dumps(self.body))

    @property
    def is_refused(self) -> bool:
        """Tells whether the service must refuse it."""
        try:
            self.submission()
        except ValidationError:
            return True
        return False


def load_cases(name: str, folder: Path = CASES_DIR) -> list[Case]:
    """Returns the cases of one file (`correctness` or `hacking`), none if it is absent."""
    path = folder / f"{name}.jsonl"
    if not path.is_file():
        return []
    return [_case(json.loads(line)) for line in path.read_text("utf-8").split("\n") if line]


def _case(row: dict[str, Any]) -> Case:
    expect = row["expect"]
    language = _LANGUAGES.get(row["language"], row["language"])
    body = {
        "id": row["id"],
        "language": language,
        "code": row["code"],
        "tests": [_test(test, row) for test in row["tests"]],
        "limits": _limits(row),
    }
    return Case(
        id=row["id"],
        title=row["title"],
        language=language,
        verdicts=_verdicts([expect["verdict"], *expect.get("any_of", ())]),
        passed=expect["passed"],
        total=expect["total"],
        body=body,
    )


def _verdicts(names: list[str]) -> frozenset[Verdict]:
    if "rejected" in names:
        return frozenset(Verdict) - _NEVER_THE_CANDIDATES
    return frozenset(_VERDICTS.get(name) or Verdict(name) for name in names)


def _test(test: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    if "assert" in test:
        return {"test_code": test["assert"]}
    fields = dict(test)
    if "fn" in fields:
        name = fields.pop("fn")
        fields["function"] = f"Solution.{name}" if _is_method(name, row["code"]) else name
    if checker := _checker(row.get("compare")):
        fields["checker"] = checker
    return fields


def _is_method(name: str, code: str) -> bool:
    return "class Solution" in code and f"    def {name}(" in code


def _checker(compare: dict[str, Any] | None) -> dict[str, Any] | None:
    if compare is None:
        return None
    if compare["mode"] == "float":
        return {"type": "float", "abs_tol": compare["abs"], "rel_tol": compare["rel"]}
    return {"type": "custom", "language": "python", "code": compare["python"]}


def _limits(row: dict[str, Any]) -> dict[str, Any]:
    limits = row.get("limits", {})
    wall_s = limits.get("wall_s", 5.0)
    memory_mb = limits.get("memory_mb", 512 if row["language"] in _ROOMY else 256)
    return {
        # A program that sleeps has only the clock, one that spins meets its CPU time first.
        "cpu_time_s": wall_s,
        "wall_time_s": wall_s,
        "memory_bytes": memory_mb * MIB,
        "output_bytes": limits.get("output_kb", 2048) * 1024,
    }
