"""HumanEval-X through HTTP: what is right is accepted, what is broken is not."""

import gzip
import json
from pathlib import Path

import httpx
import pytest

DATA = Path(__file__).parents[3] / "shared" / "data" / "humaneval-x"
BOOST = Path("/usr/include/boost/any.hpp")
# What an entry's own function is replaced by: it returns at once.
BROKEN_BODY = {"python": "    return None\n", "cpp": "    return {};\n}\n"}
WRONG_IN_THE_DATA = {
    "CPP/38": "the loop of decode_cyclic is opened twice and closed once: it does not compile",
}
NEEDS_BOOST = frozenset({"CPP/22"})
LIMITS = {"cpu_time_s": 5.0, "memory_bytes": 512 * 1024 * 1024}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not DATA.is_dir(), reason=f"no HumanEval-X data in {DATA}"),
]


def load(language: str) -> list[dict[str, str]]:
    with gzip.open(DATA / f"{language}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def submission(language: str, task: dict[str, str], body: str) -> dict[str, object]:
    if language == "python":
        code, tests = task["prompt"] + body, [{"test_code": task["test"]}]
    else:
        code, tests = task["declaration"] + body + task["test"], [{"stdin": "", "exit_code": 0}]
    return {"language": language, "code": code, "tests": tests, "limits": LIMITS}


def verdicts(client: httpx.Client, submissions: list[dict[str, object]]) -> list[str]:
    answer = client.post("/v1/rewards", json={"submissions": submissions})
    assert answer.status_code == 200, answer.text
    return [result["verdict"] for result in answer.json()["results"]]


def is_to_be_accepted(task_id: str, engine: str) -> bool:
    if task_id in NEEDS_BOOST:
        return engine == "docker" or BOOST.is_file()
    return task_id not in WRONG_IN_THE_DATA


@pytest.mark.parametrize("language", ["python", "cpp"])
def test_canonical_solution_is_accepted(client, engine, language):
    tasks = [each for each in load(language) if is_to_be_accepted(each["task_id"], engine)]
    found = verdicts(client, [submission(language, t, t["canonical_solution"]) for t in tasks])
    assert len(tasks) > 75
    assert _unlike(tasks, found, {"accepted"}) == {}


@pytest.mark.parametrize("language", ["python", "cpp"])
def test_solution_with_a_body_that_returns_at_once_is_not_accepted(client, language):
    tasks = load(language)
    broken = [submission(language, task, BROKEN_BODY[language]) for task in tasks]
    rejections = {"wrong_answer", "runtime_error", "compile_error", "time_limit_exceeded"}
    assert _unlike(tasks, verdicts(client, broken), rejections) == {}


def test_entry_wrong_in_the_data_does_not_compile(client):
    tasks = [each for each in load("cpp") if each["task_id"] in WRONG_IN_THE_DATA]
    found = verdicts(client, [submission("cpp", t, t["canonical_solution"]) for t in tasks])
    assert found == ["compile_error"] * len(WRONG_IN_THE_DATA)


def _unlike(tasks: list[dict[str, str]], found: list[str], wanted: set[str]) -> dict[str, str]:
    pairs = zip(tasks, found, strict=True)
    return {task["task_id"]: verdict for task, verdict in pairs if verdict not in wanted}
