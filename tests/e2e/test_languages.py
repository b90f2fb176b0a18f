"""Every language's own examples, through HTTP, on every engine."""

import pytest

from sandbox_service.languages import Language, load_languages
from sandbox_service.settings import Settings

IMAGES = Settings().images_dir
LANGUAGES = load_languages(IMAGES).languages
OUTCOMES = [("accepted", "accepted"), ("wrong", "wrong_answer"), ("compile_error", "compile_error")]

pytestmark = pytest.mark.timeout(120)


@pytest.mark.parametrize(("example", "verdict"), OUTCOMES)
@pytest.mark.parametrize("language", LANGUAGES, ids=lambda each: each.name)
def test_example_gets_its_verdict(client, engine, language: Language, example, verdict):
    if engine == "local" and not language.is_on_this_host():
        needed = " ".join((*language.tools, *language.modules))
        pytest.skip(f"this host lacks some of {needed}, which the local engine needs")
    examples = language.examples
    submission = {
        "language": language.name,
        "code": (IMAGES / language.name / getattr(examples, example)).read_text(),
        "tests": [{"stdin": examples.stdin, "expected_stdout": examples.expected_stdout}],
    }
    result = client.post("/v1/submissions", params={"wait": 100}, json=submission).json()
    assert (result["verdict"], result["sandbox"]["engine"]) == (verdict, engine)
    assert result["reward"] == (1.0 if verdict == "accepted" else 0.0)
