"""HumanEval-X entries as submissions: how each language's parts make a whole program."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[3] / "shared" / "data" / "humaneval-x"
FILES = {"javascript": "js"}
LIMITS = {"cpu_time_s": 5.0, "memory_bytes": 512 * 1024 * 1024}

_JAVA_RESULT = re.compile(r"public +([\w<>\[\], ]+?) +\w+\(")
_JAVA_ZEROS = {"boolean": "false", "int": "0", "long": "0", "double": "0"}
_GO_RESULT = re.compile(r"^func +\w+\((?:[^()]|\([^()]*\))*\) *(.+?) *\{\s*\Z", re.MULTILINE)

Task = dict[str, str]


def load(language: str) -> list[Task]:
    """Returns the entries of a language."""
    with gzip.open(DATA / f"{FILES.get(language, language)}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def submission(language: str, task: Task, *, broken: bool = False) -> dict[str, Any]:
    """Returns the entry's own solution, or one that returns before it has done anything."""
    early = _returns_at_once(language, task) if broken else ""
    body = early + task["canonical_solution"]
    if language == "python":
        code, tests = task["prompt"] + body, [{"test_code": task["test"]}]
    else:
        code, tests = _program(language, task, body), [{"stdin": "", "exit_code": 0}]
    return {"language": language, "code": code, "tests": tests, "limits": LIMITS}


def _program(language: str, task: Task, body: str) -> str:
    whole = task["declaration"] + body + task["test"]
    if language == "javascript":  # whose own assertions print and go on
        return f"console.assert = require('assert').ok;\n{whole}"
    return whole


def _returns_at_once(language: str, task: Task) -> str:
    """Returns a first line of the body; what comes after it stays, and is never reached."""
    match language:
        case "python":
            return "    return None\n"
        case "cpp":
            return "    if (true) return {};\n"
        case "javascript":
            return "  return undefined;\n"
        case "java":
            result = _JAVA_RESULT.findall(task["declaration"])[-1]
            return f"        if (true) return {_JAVA_ZEROS.get(result, 'null')};\n"
    raise ValueError(language)
