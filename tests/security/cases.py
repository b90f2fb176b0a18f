"""Reads the attack programs, and turns each into the submission that the service would get.

A line of the file has `where` (what is attacked), `run` (the protocol), `language`, `code`, `limits`
and `expect`. Programs print lines that begin with `HELD:`, `LEAK:` or `SKIP:`.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox_service.schema.limits import MIB
from sandbox_service.schema.submission import Submission
from sandbox_service.schema.verdict import Verdict

PATH = Path(__file__).parents[3] / "shared" / "cases" / "abuse.jsonl"
REASON_ABSENT = f"the attack programs are not on this machine ({PATH})"
IN_A_SANDBOX = ("sandbox", "compile", "compile-project")

_LANGUAGES = {"python3": "python"}
_VERDICTS = {
    "ok": Verdict.ACCEPTED,
    "time_limit": Verdict.TIME_LIMIT_EXCEEDED,
    "wall_limit": Verdict.TIME_LIMIT_EXCEEDED,
    "memory_limit": Verdict.MEMORY_LIMIT_EXCEEDED,
    "output_limit": Verdict.OUTPUT_LIMIT_EXCEEDED,
    "compile_error": Verdict.COMPILE_ERROR,
    "compile_limit": Verdict.COMPILE_ERROR,
}
# Attacks that do nothing but last: they meet their limit whatever it is, so it may be small.
_LASTING = frozenset({
    "proc-sigstop-self", "proc-ignore-signals", "proc-fork-relay", "cpu-spin", "cpu-threads",
    "cpu-vfork-hang", "out-drip",
})  # fmt: skip
_SHORT = {"cpu_time_s": 1.0, "wall_time_s": 2.0}
# Optimised, the compiler drops the array or the memory that nobody looks at, and with it the attack.
_NOT_OPTIMISED = '#pragma GCC optimize("O0")\n'
_NEEDS_EVERY_STORE = frozenset({"mem-many-children", "mem-anon", "cc-big-object"})


@dataclass(frozen=True)
class Attack:
    """One attack: what is sent, and what must come back."""

    id: str
    where: str
    protocol: str
    language: str
    code: str
    limits: dict[str, Any]
    verdicts: frozenset[Verdict]
    must_print: tuple[str, ...]
    must_not_print: tuple[str, ...]

    def submission(self, runs: int = 1) -> Submission:
        """Returns what is sent; each run is a test of its own."""
        return Submission.model_validate(
            {
                "language": self.language,
                "code": self.code,
                "tests": [{"stdin": "", "exit_code": 0}] * runs,
                "limits": self.limits,
            }
        )


def load_attacks() -> list[Attack]:
    """Returns all attacks, none if the file is absent."""
    if not PATH.is_file():
        return []
    return [_attack(json.loads(line)) for line in PATH.read_text("utf-8").splitlines() if line]


def _attack(row: dict[str, Any]) -> Attack:
    expect = row["expect"]
    return Attack(
        id=row["id"],
        where=row["where"],
        protocol=row["run"],
        language=_LANGUAGES.get(row["language"], row["language"]),
        code=(_NOT_OPTIMISED if row["id"] in _NEEDS_EVERY_STORE else "") + row["code"],
        limits=_limits(row["limits"]) | (_SHORT if row["id"] in _LASTING else {}),
        verdicts=frozenset(
            _VERDICTS.get(name, Verdict.RUNTIME_ERROR) for name in expect["verdict"]
        ),
        must_print=tuple(expect.get("stdout_has", ())),
        must_not_print=tuple(expect["stdout_not"]),
    )


def _limits(limits: dict[str, Any]) -> dict[str, Any]:
    return {
        "cpu_time_s": limits["cpu_s"],
        "wall_time_s": limits["wall_s"],
        "memory_bytes": limits["memory_mb"] * MIB,
        "output_bytes": limits["output_kb"] * 1024,
        "processes": limits["pids"],
        "open_files": limits["fds"],
        "disk_bytes": limits["disk_mb"] * MIB,
        "inodes": limits["inodes"],
    }
