"""Style of Python code as a score: what to ask ruff, and what its findings are worth.

Running ruff is not done here. It reads the code and never runs it, but the code is hostile, so
whoever runs it bounds its time and memory.
"""

import json
from collections.abc import Sequence

_NAME = "solution.py"


def style_argv(select: Sequence[str]) -> tuple[str, ...]:
    """Returns the command line; the code goes to standard input, the findings come out as JSON.

    No configuration is read, and `# noqa` does not help: the candidate writes both.
    """
    return (
        "ruff", "check", "--isolated", "--no-cache", "--ignore-noqa", "--exit-zero",
        "--select", ",".join(select), "--output-format", "json", "--stdin-filename", _NAME, "-",
    )  # fmt: skip


def style_score(findings_json: bytes, code: str) -> float | None:
    """Returns one minus the findings per line that is not blank, at least zero.

    Code that does not parse is worth zero. None means missing: no code, or no findings to read.
    """
    lines = sum(1 for line in code.splitlines() if line.strip())
    try:
        findings = json.loads(findings_json)
    except ValueError:
        return None
    if not lines or not isinstance(findings, list):
        return None
    if any(_is_syntax_error(finding) for finding in findings):
        return 0.0
    return max(0.0, 1.0 - len(findings) / lines)


def _is_syntax_error(finding: object) -> bool:
    return isinstance(finding, dict) and finding.get("code") in {None, "invalid-syntax"}
