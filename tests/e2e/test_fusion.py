"""Fusions of several sources, by a real worker: the breakdown comes back with the reward."""

from typing import Any

import httpx
import pytest

COMPLETION = """It is easy.
```python
import os
print(int(input()) + 1)
```
The final answer is $\\boxed{\\frac{1}{2}}$.
"""
TESTS = [{"stdin": "1\n", "expected_stdout": "2\n"}, {"stdin": "2\n", "expected_stdout": "4\n"}]
SOURCES = [
    {"source": "tests"},
    {"source": "style", "select": ["F"], "weight": 2.0},
    {"source": "answer", "expected": "0.5"},
    {"source": "external", "name": "model"},
]


def scored(client: httpx.Client, **fields: Any) -> dict[str, Any]:
    body = {
        "language": "python",
        "tests": TESTS,
        "reward": {"policy": "fusion", "sources": SOURCES},
        **fields,
    }
    answer = client.post("/v1/submissions", params={"wait": 60}, json=body)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def scores(result: dict[str, Any]) -> dict[str, float | None]:
    return {part["name"]: part["score"] for part in result["parts"]}


def test_style_and_answer_are_measured_and_the_missing_source_is_left_out(client):
    pytest.importorskip("ruff", reason="ruff is not installed")
    pytest.importorskip("math_verify", reason="the extra `answer` is not installed")
    result = scored(client, completion=COMPLETION)
    assert scores(result) == {"tests": 0.5, "style": 0.5, "answer": 1.0, "model": None}
    assert result["parts"][-1]["detail"] == "missing"
    assert result["reward"] == pytest.approx((0.5 + 2 * 0.5 + 1.0) / 4)


def test_sources_that_do_not_fit_the_submission_are_missing_never_zero(client):
    result = scored(client, language="bash", code="read n; echo $((n + 1))")
    assert scores(result) == {"tests": 0.5, "style": None, "answer": None, "model": None}
    assert result["reward"] == 0.5
