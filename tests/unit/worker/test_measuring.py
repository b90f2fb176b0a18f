"""The measuring process, in its real jail."""

import pytest

from sandbox_service.languages import load_languages
from sandbox_service.rewards.measured import Measured
from sandbox_service.sandbox import bubblewrap
from sandbox_service.settings import Settings
from sandbox_service.worker import measuring
from sandbox_service.worker.measuring import Measuring
from sandbox_service.worker.pipeline import Pipeline
from sandbox_service.worker.programs import program_of
from tests.factories import make_languages, make_submission
from tests.unit.worker.fake_source import FakeSource, make_report

STYLE = {"source": "style", "select": ["F"]}
ANSWER = {"source": "answer", "expected": "1/2"}
CODE = "```python\nimport os\nprint(1)\n```\n"


@pytest.fixture
def measure():
    made = Measuring()

    def measure(*sources, **fields):
        reward = {"policy": "fusion", "sources": sources}
        submission = make_submission(reward=reward, **fields)
        return made.measure(submission, program_of(submission, make_languages()))

    yield measure
    made.close()


@pytest.fixture(name="jail")
def _jail(measure):
    found = measure(STYLE)["style"]
    if found.score is None:
        pytest.skip(found.detail)


def test_other_rewards_are_not_measured(measure):
    assert measure({"source": "tests"}) == {}
    assert Measuring().measure(make_submission(), None) == {}


@pytest.mark.usefixtures("jail")
def test_style_is_measured_of_the_code_that_was_taken_out(measure):
    found = measure({**STYLE, "name": "neat"}, code=None, completion=CODE)
    assert found == {"neat": Measured(0.5)}


@pytest.mark.usefixtures("jail")
def test_answer_is_that_of_the_completion(measure):
    pytest.importorskip("math_verify", reason="the extra `answer` is not installed")
    texts = (f"{CODE}So it is $\\boxed{{0.5}}$.", f"{CODE}So it is $\\boxed{{2}}$.")
    found = [measure(ANSWER, code=None, completion=text)["answer"] for text in texts]
    assert found == [Measured(1.0), Measured(0.0)]


def test_code_alone_has_no_answer(measure):
    assert measure(ANSWER)["answer"].score is None


def test_style_of_another_language_is_missing():
    reward = {"policy": "fusion", "sources": [STYLE]}
    submission = make_submission(language="c", code="int main(void) { return 0; }", reward=reward)
    program = program_of(submission, load_languages(Settings().images_dir))
    found = Measuring().measure(submission, program)
    assert found == {"style": Measured(None, "no style is known for c")}


def test_where_no_jail_stands_the_score_is_missing_and_says_so(measure, monkeypatch):
    monkeypatch.setattr(bubblewrap, "find_bubblewrap", lambda: None)
    found = measure(STYLE)["style"]
    assert found.score is None
    assert "bubblewrap" in found.detail


@pytest.mark.usefixtures("jail")
def test_process_that_died_is_started_again(measure, monkeypatch):
    processes = []
    real = measuring.subprocess.Popen
    monkeypatch.setattr(
        measuring.subprocess,
        "Popen",
        lambda *a, **k: processes.append(real(*a, **k)) or processes[-1],
    )
    made = Measuring()
    submission = make_submission(reward={"policy": "fusion", "sources": [STYLE]})
    program = program_of(submission, make_languages())
    for _ in range(2):
        assert made.measure(submission, program)["style"].score is not None
        processes[-1].kill()
        processes[-1].wait()
    made.close()
    assert len(processes) == 2


@pytest.mark.usefixtures("jail")
def test_reward_has_the_parts_that_were_measured():
    reward = {"policy": "fusion", "sources": [{"source": "tests"}, STYLE, ANSWER]}
    pipeline = Pipeline(make_languages(), FakeSource(make_report(stdout=b"1\n")))
    result = pipeline.run("one", make_submission(code="import os\nprint(1)\n", reward=reward))
    pipeline.close()
    assert [(part.name, part.counted) for part in result.parts] == [
        ("tests", 1.0),
        ("style", 0.5),
        ("answer", None),
    ]
    assert result.reward == 0.75
