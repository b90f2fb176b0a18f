from typing import Any

import pytest

from sandbox_service.queue.payload import Payload
from sandbox_service.schema.verdict import Lane
from tests.factories import make_submission


def _digest(**overrides: Any) -> str:
    submission = make_submission(**overrides)
    return Payload.of(submission).digest(submission.lane, submission.deadline_s)


@pytest.mark.parametrize(
    "overrides", [{}, {"metadata": {"k": [1, "é\n"]}}, {"cache": True}, {"metadata": {"a": 1}}]
)
def test_payload_is_read_as_it_was_written(overrides: dict[str, Any]) -> None:
    payload = Payload.of(make_submission(**overrides), {"traceparent": "x"})

    assert Payload.from_bytes(payload.to_bytes()) == payload
    assert payload.submission().metadata == overrides.get("metadata", {})


@pytest.mark.parametrize(
    "overrides",
    [{"id": "a"}, {"metadata": {"k": 1}}, {"lane": "eval"}, {"deadline_s": 5}, {"cache": True}],
)
def test_what_stands_apart_does_not_make_submissions_differ(overrides: dict[str, Any]) -> None:
    plain, other = make_submission(), make_submission(**overrides)

    assert Payload.of(plain).content_digest == Payload.of(other).content_digest


@pytest.mark.parametrize(
    "overrides", [{"code": "x"}, {"limits": {"processes": 3}}, {"isolation": "fresh"}]
)
def test_what_is_run_makes_submissions_differ(overrides: dict[str, Any]) -> None:
    plain, other = make_submission(), make_submission(**overrides)

    assert Payload.of(plain).content_digest != Payload.of(other).content_digest


@pytest.mark.parametrize(
    "overrides",
    [{"metadata": {"k": 1}}, {"lane": "eval"}, {"deadline_s": 5}, {"cache": True}, {"code": "x"}],
)
def test_everything_but_the_id_counts_for_the_same_id(overrides: dict[str, Any]) -> None:
    assert _digest(id="a") != _digest(id="a", **overrides)
    assert _digest(id="a") == _digest(id="a", lane=Lane.TRAIN.value)


@pytest.mark.parametrize("data", [b"", b"x", b"[]\n{}", b"null\n{}"])
def test_bytes_that_are_no_payload_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        Payload.from_bytes(data)
