"""How long is waited between attempts, and when there is no other."""

import httpx
import pytest

from sandbox_service.client.options import ClientOptions
from sandbox_service.client.retry import RetryPolicy
from sandbox_service.errors import (
    NotAuthenticated,
    QueueFull,
    SandboxServiceError,
    ServiceUnavailable,
)
from tests.factories import make_body
from tests.unit.client.fake_service import FakeService, lose_the_answer, problem, refuse

ONE_ATTEMPT = ClientOptions(retry=RetryPolicy(deadline_s=0.0))


def test_wait_grows_up_to_the_longest():
    policy = RetryPolicy(first_wait_s=1.0, longest_wait_s=5.0, jitter=lambda: 1.0)
    assert [policy.wait_s(attempt, None) for attempt in (1, 2, 3, 4, 5000)] == [1, 2, 4, 5, 5]


def test_wait_has_jitter():
    draws = iter([0.0, 1.0])
    policy = RetryPolicy(first_wait_s=1.0, jitter=lambda: next(draws))
    assert policy.wait_s(1, None) == 0.5
    assert policy.wait_s(1, None) == 1.0


def test_wait_is_never_shorter_than_the_service_asks():
    policy = RetryPolicy(longest_wait_s=1.0, jitter=lambda: 0.0)
    assert policy.wait_s(1, 30.0) == 30.0


def test_retry_after_is_spread_over_clients():
    policy = RetryPolicy(jitter=lambda: 1.0)
    assert policy.wait_s(1, 8.0) == 10.0


def test_service_that_comes_back_answers(connect):
    service = FakeService()
    service.faults = [refuse] * 5
    assert connect(service).score(make_body()).reward == 1.0


def test_submission_whose_answer_was_lost_is_run_once(connect):
    service = FakeService()
    service.faults = [lose_the_answer(service)]

    result = connect(service).score(make_body())

    assert service.runs == [result.id]


@pytest.mark.parametrize("status", [408, 429, 502, 503, 504])
def test_transient_answer_is_tried_again(connect, status):
    service = FakeService()
    service.faults = [lambda _: httpx.Response(status, text="busy")]
    assert connect(service).score(make_body()).reward == 1.0


def test_full_queue_is_tried_again_when_it_says_so(connect):
    service = FakeService()
    full = problem(429, "queue_full", headers={"Retry-After": "0"})
    service.faults = [lambda _: full]
    assert connect(service).score(make_body()).reward == 1.0


def test_wait_beyond_the_deadline_is_not_begun(connect):
    service = FakeService()
    full = problem(429, "queue_full", headers={"Retry-After": "3600"})
    service.faults = [lambda _: full]

    with pytest.raises(QueueFull) as caught:
        connect(service).score(make_body())

    assert caught.value.retry_after_s == 3600.0
    assert len(service.requests) == 1


def test_service_that_is_away_is_an_error_after_the_deadline(connect):
    with pytest.raises(ServiceUnavailable, match="refused"):
        connect(refuse, ONE_ATTEMPT).score(make_body())


def test_time_of_the_caller_bounds_the_attempts(connect):
    with pytest.raises(ServiceUnavailable):
        connect(refuse).score(make_body(), timeout_s=0.0)


def test_refusal_is_not_tried_again(connect):
    service = FakeService()
    service.faults = [lambda _: problem(401, "not_authenticated")]

    with pytest.raises(NotAuthenticated):
        connect(service).score(make_body())

    assert len(service.requests) == 1


def test_service_that_crashes_each_time_is_given_up_soon(connect):
    service = FakeService()
    service.faults = [lambda _: problem(500, "error", "crashed")] * 100

    with pytest.raises(SandboxServiceError, match="crashed"):
        connect(service).score(make_body())

    assert len(service.requests) < 10
