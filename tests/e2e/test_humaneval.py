"""HumanEval-X through HTTP: what is right is accepted, what is broken is not."""

from pathlib import Path

import httpx
import pytest

from sandbox_service.languages import load_languages
from sandbox_service.settings import Settings
from tests.e2e import humaneval
from tests.e2e.humaneval import load, submission

LANGUAGES = ["python", "cpp", "go", "java", "javascript", "rust"]
TABLE = load_languages(Settings().images_dir)
BOOST = Path("/usr/include/boost/any.hpp")
WRONG_IN_THE_DATA = {
    "CPP/38": "the loop of decode_cyclic is opened twice and closed once: it does not compile",
}
NEEDS_BOOST = frozenset({"CPP/22"})

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not humaneval.DATA.is_dir(), reason=f"no data in {humaneval.DATA}"),
]


def verdicts(client: httpx.Client, submissions: list[dict[str, object]]) -> list[str]:
    answer = client.post("/v1/rewards", json={"submissions": submissions})
    assert answer.status_code == 200, answer.text
    return [result["verdict"] for result in answer.json()["results"]]


def is_to_be_accepted(task_id: str, engine: str) -> bool:
    if task_id in NEEDS_BOOST:
        return engine == "docker" or BOOST.is_file()
    return task_id not in WRONG_IN_THE_DATA


def require(language: str, engine: str) -> None:
    if engine == "local" and not TABLE.get(language).is_on_this_host():
        pytest.skip(f"this host lacks tools for {language}")


@pytest.mark.parametrize("language", LANGUAGES)
def test_canonical_solution_is_accepted(client, engine, language):
    require(language, engine)
    tasks = [each for each in load(language) if is_to_be_accepted(each["task_id"], engine)]
    found = verdicts(client, [submission(language, task) for task in tasks])
    assert len(tasks) > 75
    assert _unlike(tasks, found, {"accepted"}) == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_solution_with_a_body_that_returns_at_once_is_not_accepted(client, engine, language):
    require(language, engine)
    tasks = [each for each in load(language) if is_to_be_accepted(each["task_id"], engine)]
    broken = [submission(language, task, broken=True) for task in tasks]
    rejections = {"wrong_answer", "runtime_error", "time_limit_exceeded"}
    assert _unlike(tasks, verdicts(client, broken), rejections) == {}


def test_entry_wrong_in_the_data_does_not_compile(client):
    tasks = [each for each in load("cpp") if each["task_id"] in WRONG_IN_THE_DATA]
    found = verdicts(client, [submission("cpp", task) for task in tasks])
    assert found == ["compile_error"] * len(WRONG_IN_THE_DATA)


def _unlike(tasks: list[dict[str, str]], found: list[str], wanted: set[str]) -> dict[str, str]:
    pairs = zip(tasks, found, strict=True)
    return {task["task_id"]: verdict for task, verdict in pairs if verdict not in wanted}
