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
_GO_RESULT = re.compile(r"\) *([^()]+|\([^()]*\)) *\{\s*\Z")
_GO_IMPORTS = re.compile(r"^import \(([^)]*)\)", re.MULTILINE)
_GO_UNNAMED_IMPORTS = {"math", "sort", "strings"}  # which some entries use without naming them
_GO_TEST = re.compile(r"^func (Test\w+)\(", re.MULTILINE)
_GO_MAIN = """
func main() {
\tall := func(string, string) (bool, error) { return true, nil }
\ttesting.Main(all, []testing.InternalTest{TESTS}, nil, nil)
}
"""
_RUST_RESULT = re.compile(r"-> *([^{]+?) *\{\s*\Z")
_RUST_TEST = re.compile(r"#\[test\]\s*(?://[^\n]*\n\s*)*fn +(\w+)")
# Every entry names these crates; none of the solutions needs them, and the image does not have them.
_RUST_CRATES = re.compile(r"^use (?:rand::Rng|regex::Regex|md5);\n", re.MULTILINE)

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
    if language == "go":
        return _go_program(task["prompt"] + body + task["test"], task)
    if language == "rust":
        found = _RUST_TEST.findall(task["test"])
        assert found, task["task_id"]
        calls = " ".join(f"tests::{name}();" for name in found)
        tests = _RUST_TEST.sub(r"pub fn \1", task["test"].replace("#[cfg(test)]", ""))
        own = _RUST_CRATES.sub("", task["declaration"]) + body
        return f"{own}\n{tests}\nfn main() {{ {calls} }}\n"
    return whole


def _go_program(whole: str, task: Task) -> str:
    """Returns the program with one list of the imports that it uses: others do not compile."""
    tests = ", ".join(f'{{"{name}", {name}}}' for name in _GO_TEST.findall(task["test"]))
    blocks = _GO_IMPORTS.findall(task["test_setup"] + task["import"])
    named = {path for block in blocks for path in re.findall(r'"([^"]+)"', block)}
    paths = (named | _GO_UNNAMED_IMPORTS) - {"testing"}
    text = _GO_IMPORTS.sub("", whole)
    used = sorted(path for path in paths if f"{path.rpartition('/')[2]}." in text)
    imports = "".join(f'import "{path}"\n' for path in ["testing", *used])
    return f"package main\n{imports}{text}{_GO_MAIN.replace('TESTS', tests)}"


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
        case "go":
            (result,) = _GO_RESULT.findall(task["declaration"])
            return f"    if true {{ return *new({result}) }}\n"
        case "rust":
            return "    if true { return Default::default(); }\n"
    raise ValueError(language)
