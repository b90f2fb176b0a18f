"""Answers and labels of remote rewards; rewards that are not known are told as such."""

from types import SimpleNamespace

import pytest

from sandbox_service.api.compat import labels
from sandbox_service.api.compat.labels import NoInformation, reward_of, submission_of
from sandbox_service.api.compat.openrlhf import answer_of
from sandbox_service.api.compat.running import NotInTime
from sandbox_service.schema.result import Result
from sandbox_service.schema.verdict import Verdict

_TESTS = [{"stdin": "", "expected_stdout": "1"}]


@pytest.mark.parametrize(
    ("query", "prompt", "answer"),
    [
        ("<|u|>Q<|a|>text<|im_end|></s>", "<|u|>Q<|a|>", "text"),
        ("text <|eot_id|>\n", "another prompt", "text"),
        ("if a <s> b", "", "if a <s> b"),
        ("", "", ""),
    ],
)
def test_answer_is_without_prompt_and_special_tokens(query, prompt, answer):
    assert answer_of(query, prompt) == answer


def test_label_cannot_bring_its_own_answer():
    asked = submission_of("mine", {"tests": _TESTS, "completion": "another"}, 5.0)
    told = (asked.completion, asked.language, asked.deadline_s)
    assert told == ("mine", "python", 5.0)


async def test_failure_of_ours_is_no_number(monkeypatch):
    result = Result(
        id="a", verdict=Verdict.INTERNAL_ERROR, score=None, reward=None, passed=0, total=1
    )

    async def broken(request, submission, hold_s):
        return result

    monkeypatch.setattr(labels, "judged", broken)
    with pytest.raises(NoInformation):
        await reward_of(SimpleNamespace(), "x", _TESTS, 1.0)


async def test_no_result_in_time_is_no_number(monkeypatch):
    async def late(request, submission, hold_s):
        raise NotInTime

    monkeypatch.setattr(labels, "judged", late)
    with pytest.raises(NoInformation):
        await reward_of(SimpleNamespace(), "x", _TESTS, 1.0)
