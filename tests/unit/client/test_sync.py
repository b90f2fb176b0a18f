"""The methods of the blocking client."""

import json

import httpx
import pytest

from sandbox_service.client.options import ClientOptions
from sandbox_service.client.sync import SandboxClient
from sandbox_service.errors import (
    InvalidSubmission,
    NotFinished,
    NotFound,
    NoWorkers,
    UnexpectedResponse,
)
from sandbox_service.schema.verdict import JobStatus
from tests.factories import make_body, make_submission
from tests.unit.client.fake_service import FakeService, problem


def test_score_of_a_model_and_of_plain_data_is_the_same(connect):
    client = connect(FakeService())
    assert client.score(make_submission()).reward == client.score(make_body()).reward == 1.0


def test_score_waits_through_several_requests(connect):
    service = FakeService(polls=4)
    assert connect(service).score(make_body()).reward == 1.0
    assert len(service.requests) == 5


def test_score_is_not_finished_when_the_time_is_over(connect):
    with pytest.raises(NotFinished) as caught:
        connect(FakeService(polls=1000)).score(make_body(id="slow"), timeout_s=0.0)
    assert caught.value.pending == ("slow",)


def test_submit_tells_where_it_is(connect):
    state = connect(FakeService(polls=9)).submit(make_body(id="a"))
    assert (state.id, state.status, state.result) == ("a", JobStatus.QUEUED, None)


def test_submit_gives_the_result_that_is_there(connect):
    state = connect(FakeService()).submit(make_body(id="a"), wait_s=5)
    assert state.result is not None
    assert state.status is JobStatus.FINISHED


def test_id_is_part_of_a_path_and_nothing_else(connect):
    service = FakeService()
    with pytest.raises(NotFound):
        connect(service).look("../queues?x=")
    assert service.requests[0].url.raw_path == b"/v1/submissions/..%2Fqueues%3Fx%3D?wait=0"


def test_rewards_come_in_the_order_sent_and_none_stays_none(connect):
    service = FakeService()
    service.rewards = {"a": 0.25, "b": None, "c": 0.0}

    rewards, results, pending = connect(service).rewards([make_body(id=name) for name in "cab"])

    assert rewards == [0.0, 0.25, None]
    assert [each.id for each in results if each] == ["c", "a", "b"]
    assert pending == []


def test_rewards_of_nothing_are_nothing(connect):
    service = FakeService()
    assert connect(service).rewards([]) == ([], [], [])
    assert service.requests == []


def test_rewards_that_take_long_are_asked_for_again(connect):
    service = FakeService(polls=3)
    rewards = connect(service).rewards([make_body(), make_body()]).rewards
    assert rewards == [1.0, 1.0]
    assert len(service.runs) == 2


def test_rewards_when_the_time_is_over_are_none_and_pending(connect):
    service = FakeService(polls=1000)
    rewards, results, pending = connect(service).rewards([make_body(id="a")], timeout_s=0.0)
    assert (rewards, results, pending) == ([None], [None], ["a"])


def test_rewards_beyond_the_size_of_a_request_are_sent_in_several(connect):
    service = FakeService(polls=2)
    client = connect(service, ClientOptions(request_bytes=500))

    rewards = client.rewards([make_body(id=f"s{n}") for n in range(20)]).rewards

    sent = [request for request in service.requests if request.method == "POST"]
    assert rewards == [1.0] * 20
    assert len(sent) > 1
    assert max(len(request.content) for request in sent) < 600


def test_submission_that_the_service_forgot_is_sent_again(connect):
    service = FakeService(polls=2)

    def forget(_):
        service.forget()

    service.faults = [lambda _: None, forget]
    assert connect(service).rewards([make_body()]).rewards == [1.0]


def test_submission_that_the_service_forgets_each_time_is_an_error(connect):
    service = FakeService(polls=9)
    gone = problem(404, "not_found")
    service.faults = [lambda request: gone if request.method == "GET" else None] * 20

    with pytest.raises(NotFound):
        connect(service).rewards([make_body()])


@pytest.mark.parametrize("value", [float("nan"), object()])
def test_plain_data_that_is_not_json_is_refused_before_it_is_sent(connect, value):
    service = FakeService()
    with pytest.raises(InvalidSubmission):
        connect(service).score(make_body(metadata={"value": value}))
    assert service.requests == []


def test_fields_of_a_newer_service_are_passed_over(connect):
    def newer(request):
        return httpx.Response(200, json={"languages": [{"name": "a", "title": "A", "colour": 1}]})

    assert connect(newer).languages()[0].name == "a"


def test_answer_of_something_else_is_unexpected(connect):
    with pytest.raises(UnexpectedResponse):
        connect(lambda _: httpx.Response(200, text="<html>")).queues()


def test_fewer_results_than_submissions_are_unexpected(connect):
    def short(request):
        return httpx.Response(200, json={"rewards": [], "results": []})

    with pytest.raises(UnexpectedResponse):
        connect(short).rewards([make_body()])


def test_suite_has_one_spelling_of_plain_and_parsed_tests(connect):
    bodies = []

    def store(request):
        bodies.append(json.loads(request.content))
        return httpx.Response(200, json={"suite": "sha256:1"})

    client = connect(store)
    assert client.put_suite(make_body()["tests"]) == "sha256:1"
    client.put_suite(make_submission().tests or ())
    assert bodies[0] == bodies[1]


def test_health_says_at_once_that_nobody_works(connect):
    service = FakeService()
    service.faults = [lambda _: problem(503, "no_workers")] * 9
    with pytest.raises(NoWorkers):
        connect(service).health()
    assert len(service.requests) == 1


def test_key_is_sent_as_a_bearer_token():
    seen = []

    def answer(request):
        seen.append(request.headers.get("Authorization"))
        return httpx.Response(200, json={"queues": []})

    transport = httpx.MockTransport(answer)
    with SandboxClient("http://sandbox.test", api_key="k", transport=transport) as client:
        client.queues()
    assert seen == ["Bearer k"]
