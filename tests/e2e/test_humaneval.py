"""HumanEval-X through HTTP: what is right is accepted, what is broken is not."""

import os
from pathlib import Path

import httpx
import pytest

from sandbox_service.languages import load_languages
from sandbox_service.settings import Settings
from tests.e2e import humaneval
from tests.e2e.humaneval import load, submission

# The first two whole; of the others, which take longer to compile, some unless all are asked for.
LANGUAGES = ["python", "cpp", "go", "java", "javascript", "rust"]
EVERY = 1 if os.environ.get("SANDBOX_TEST_THOROUGH") else 4
STEPS = {"python": 1, "cpp": 1}
TABLE = load_languages(Settings().images_dir)
BOOST = Path("/usr/include/boost/any.hpp")
NEEDS_BOOST = frozenset({"CPP/22"})
DOES_NOT_COMPILE = {
    "CPP/38": "the loop of decode_cyclic is opened twice and closed once",
    "Rust/32": "all of its tests stand in a comment",
    "Rust/38": "its tests need the crate rand, which is not in the image",
    "Rust/50": "its tests need the crate rand, which is not in the image",
    "Rust/53": "its tests need the crate rand, which is not in the image",
}
TESTS_TOO_LITTLE = {
    "Rust/4": "its tests forgive every result that is too small",
}

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
    return task_id not in DOES_NOT_COMPILE


def entries(language: str, engine: str, step: int) -> list[humaneval.Task]:
    """Every so manieth entry, without those that cannot be accepted."""
    if engine == "local" and not TABLE.get(language).is_on_this_host():
        pytest.skip(f"this host lacks tools for {language}")
    fit = [each for each in load(language) if is_to_be_accepted(each["task_id"], engine)]
    return fit[:: step * step] if engine == "local" else fit[::step]


@pytest.mark.parametrize("language", LANGUAGES)
def test_canonical_solution_is_accepted(client, engine, language):
    tasks = entries(language, engine, STEPS.get(language, EVERY))
    found = verdicts(client, [submission(language, task) for task in tasks])
    assert _unlike(tasks, found, {"accepted"}) == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_solution_with_a_body_that_returns_at_once_is_not_accepted(client, engine, language):
    tasks = entries(language, engine, STEPS.get(language, EVERY * EVERY))
    broken = [submission(language, task, broken=True) for task in tasks]
    rejections = {"wrong_answer", "runtime_error", "time_limit_exceeded"}
    found = _unlike(tasks, verdicts(client, broken), rejections)
    assert found.keys() <= TESTS_TOO_LITTLE.keys()


def test_entry_wrong_in_the_data_does_not_compile(client, engine):
    for language in ("cpp", "rust"):
        if engine == "docker" or TABLE.get(language).is_on_this_host():
            tasks = [each for each in load(language) if each["task_id"] in DOES_NOT_COMPILE]
            found = verdicts(client, [submission(language, task) for task in tasks])
            assert _unlike(tasks, found, {"compile_error"}) == {}


def _unlike(tasks: list[dict[str, str]], found: list[str], wanted: set[str]) -> dict[str, str]:
    pairs = zip(tasks, found, strict=True)
    return {task["task_id"]: verdict for task, verdict in pairs if verdict not in wanted}
