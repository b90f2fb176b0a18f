"""What every language does at its limits and with large and foreign input, on Docker."""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sandbox_service.languages import Language, load_languages
from sandbox_service.settings import Settings

IMAGES = Settings().images_dir
LANGUAGES = load_languages(IMAGES).languages
AT_ONCE = 3
MIB = 1024 * 1024
LONG_MIB = 10 if os.environ.get("SANDBOX_TEST_THOROUGH") else 1
LINE = "žluťoučký кит 鯨 🐋 " * 20 + "\n"
SHORT = LINE * 3
LONG = LINE * (LONG_MIB * MIB // len(LINE.encode()) + 1)
VERDICTS = {
    "fail": "runtime_error",
    "flood": "output_limit_exceeded",
    "hoard": "memory_limit_exceeded",
    "loop": "time_limit_exceeded",
}
LIMITS = {"cpu_time_s": 10.0, "memory_bytes": 256 * MIB, "output_bytes": (LONG_MIB + 1) * MIB}

pytestmark = [
    pytest.mark.docker,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.parametrize("engine", ["docker"], indirect=True),
]


def order_for(language: Language, order: str) -> str:
    """SQL is told by a table."""
    if language.name == "sql":
        return f"CREATE TABLE orders (what); INSERT INTO orders VALUES ('{order}');\n"
    return f"{order}\n"


def submission(language: Language, orders: list[str], **limits: float) -> dict[str, Any]:
    tests = [
        {"stdin": order_for(language, order), "expected_stdout": "never", "name": order}
        for order in orders
    ]
    if "echo" in orders:
        tests = [test for test in tests if test["name"] != "echo"]
        for name, text in (("unicode", SHORT), ("long", LONG)):
            stdin = order_for(language, "echo") + text
            tests.append({"stdin": stdin, "expected_stdout": text, "name": name})
    code = (IMAGES / language.name / language.examples.probe).read_text()
    bodies = [{key: test[key] for key in ("stdin", "expected_stdout")} for test in tests]
    return {
        "language": language.name,
        "code": code,
        "tests": bodies,
        "limits": LIMITS | limits,
        "metadata": {"orders": [test["name"] for test in tests]},
    }


@pytest.fixture(scope="module")
def found(client) -> dict[str, dict[str, str]]:
    """Verdicts by language and order; several are asked for at once, which uses every worker."""

    def ask(language: Language) -> dict[str, str]:
        quick = [order for order in language.examples.probes if order != "loop"]
        endless = submission(language, ["loop"], cpu_time_s=1.0)
        return verdicts(submission(language, quick)) | verdicts(endless)

    def verdicts(sent: dict[str, Any]) -> dict[str, str]:
        answer = client.post("/v1/rewards", json={"submissions": [sent]})
        assert answer.status_code == 200, answer.text
        (result,) = answer.json()["results"]
        orders = sent["metadata"]["orders"]
        got = [test["verdict"] for test in result["tests"]] or [result["verdict"]] * len(orders)
        return dict(zip(orders, got, strict=True))

    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        answers = pool.map(ask, LANGUAGES)
    return {each.name: answer for each, answer in zip(LANGUAGES, answers, strict=True)}


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda each: each.name)
def test_probe_gets_the_verdict_of_what_it_does(found, language: Language):
    wanted = {order: VERDICTS[order] for order in language.examples.probes if order in VERDICTS}
    if "echo" in language.examples.probes:
        wanted |= {"unicode": "accepted", "long": "accepted"}
    assert found[language.name] == wanted
