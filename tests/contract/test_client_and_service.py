"""The client against the real API over real HTTP and Redis; only what runs code is a fake."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import redis

from sandbox_service.api.app import create_app
from sandbox_service.client.async_ import AsyncSandboxClient
from sandbox_service.client.options import ClientOptions
from sandbox_service.client.retry import RetryPolicy
from sandbox_service.client.sync import SandboxClient
from sandbox_service.errors import (
    Conflict,
    InvalidSubmission,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    QueueFull,
    UnknownLanguage,
)
from sandbox_service.settings import Settings
from tests.factories import make_body, make_languages
from tests.served import Served

_ROOT = Path(__file__).parents[2]
QUICK = ClientOptions(retry=RetryPolicy(longest_wait_s=0.1))


@pytest.fixture
def service(redis_url: str) -> Iterator[Served]:
    settings = Settings(max_queue_depth=50)
    service = Served(lambda: create_app(settings, make_languages(), redis_url))
    service.start()
    yield service
    service.stop()


@pytest.fixture
def worker(redis_url: str, connection: redis.Redis) -> Iterator[None]:
    """One worker, ready; it sleeps, dies or passes as the code of a submission says."""
    program = _ROOT / "tests" / "integration" / "fake_worker.py"
    process = subprocess.Popen(
        [sys.executable, str(program), redis_url, "w"],
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
    )
    assert connection.blpop(["test:ready"], timeout=30) is not None
    yield
    process.kill()
    process.wait()


@pytest.fixture
def client(service: Served) -> Iterator[SandboxClient]:
    with SandboxClient(service.address, options=QUICK) as client:
        yield client


@pytest.mark.usefixtures("worker")
def test_submission_is_scored(client):
    result = client.score(make_body(metadata={"step": 7}))
    assert (result.reward, result.metadata) == (1.0, {"step": 7})
    assert client.result(result.id) == result
    assert client.health().workers == 1


@pytest.mark.usefixtures("worker")
def test_rewards_come_in_the_order_sent(client):
    bodies = [make_body(metadata={"at": at}) for at in range(40)]
    rewards, results, pending = client.rewards(bodies)
    assert rewards == [1.0] * 40
    assert [each.metadata["at"] for each in results] == list(range(40))
    assert pending == []


@pytest.mark.usefixtures("worker")
def test_batch_is_run_and_its_results_can_be_read_again(client):
    told = []
    bodies = [{"metadata": {"at": at}} for at in range(30)]
    defaults = make_body(lane="eval")

    batch = client.create_batch(bodies, defaults=defaults)
    lines = list(client.batch_results(batch.id))
    rest = list(client.batch_results(batch.id, after=lines[9].cursor))
    results = client.run_batch(bodies, defaults=defaults, progress=lambda *at: told.append(at))

    assert sorted(line.index for line in lines) == list(range(30))
    assert rest == lines[10:]
    assert [each.metadata["at"] for each in results] == list(range(30))
    assert told[-1] == (30, 30)
    assert client.batch(batch.id).finished == 30


@pytest.mark.usefixtures("worker")
def test_suite_stands_for_its_tests(client):
    suite = client.put_suite(make_body()["tests"])
    assert client.score({"language": "py", "code": "pass", "suite": suite}).reward == 1.0


@pytest.mark.usefixtures("worker")
def test_caller_waits_through_a_restart_of_the_api_and_nothing_runs_twice(
    client, service, connection
):
    def restart():
        # It has begun, so the client waits for its answer by now.
        connection.blpop(["test:begun"], timeout=30)
        service.stop()
        service.start()

    restarting = threading.Thread(target=restart)
    restarting.start()
    rewards = client.rewards([make_body(code="sleep 1", id="slow"), make_body()]).rewards
    restarting.join()

    assert rewards == [1.0, 1.0]
    assert b"slow" not in connection.lrange("test:begun", 0, -1)


@pytest.mark.usefixtures("worker")
async def test_client_on_an_event_loop_does_the_same(service):
    async with AsyncSandboxClient(service.address, options=QUICK) as client:
        assert (await client.rewards([make_body()] * 3)).rewards == [1.0] * 3
        assert len(await client.run_batch([make_body()] * 3)) == 3


def test_refusals_come_as_the_classes_that_they_are(client):
    with pytest.raises(UnknownLanguage) as unknown:
        client.submit(make_body(language="cobol"))
    assert unknown.value.field == "language"
    with pytest.raises(InvalidSubmission) as invalid:
        client.rewards([make_body(), make_body(limits={"cpu_time_s": -1})])
    assert invalid.value.field == "submissions[1].limits.cpu_time_s"
    with pytest.raises(NotFound):
        client.look("nobody")


def test_id_with_other_content_is_a_conflict(client):
    client.submit(make_body(id="a"))
    with pytest.raises(Conflict):
        client.submit(make_body(id="a", code="other"))


def test_full_queue_says_when_to_come_back(service):
    options = ClientOptions(retry=RetryPolicy(deadline_s=0.0))
    with SandboxClient(service.address, options=options) as client:
        with pytest.raises(QueueFull) as full:
            client.rewards([make_body() for _ in range(51)])
        assert full.value.retry_after_s >= 1.0


def test_canceled_submission_has_no_reward(client):
    name = client.submit(make_body()).id
    state = client.cancel(name)
    assert state.status == "canceled"
    assert client.result(name).reward is None


def test_key_is_needed_where_keys_are_set(redis_url):
    settings = Settings(api_keys=("secret",))
    served = Served(lambda: create_app(settings, make_languages(), redis_url))
    served.start()
    try:
        with SandboxClient(served.address) as client, pytest.raises(NotAuthenticated):
            client.queues()
        with SandboxClient(served.address, api_key="secret") as client:
            assert client.queues()
    finally:
        served.stop()


def test_web_page_of_another_site_is_refused(service):
    answer = httpx.get(f"{service.address}/v1/events", headers={"Origin": "http://evil.test"})
    assert answer.json()["code"] == NotAllowed.code


def test_events_tell_the_past_and_then_what_is(service, client):
    client.submit(make_body())
    told = {}
    with httpx.stream("GET", f"{service.address}/v1/events") as answer:
        name = ""
        for line in answer.iter_lines():
            field, _, value = line.partition(": ")
            if field == "event":
                name = value
            if field == "data":
                told[name] = json.loads(value)
            if "snapshot" in told:
                break
    assert "samples" in told["past"]
    assert {lane["name"]: lane["depth"] for lane in told["snapshot"]["lanes"]}["train"] == 1


@pytest.mark.usefixtures("worker")
def test_dashboard_opens_any_tenants_submission(service, client):
    name = client.score(make_body()).id
    opened = httpx.get(f"{service.address}/v1/recent/default/{name}").json()
    assert opened["result"]["reward"] == 1.0
    assert httpx.get(f"{service.address}/v1/recent/other/{name}").status_code == 404
