"""The client for an event loop does what the blocking one does."""

import inspect

import httpx
import pytest

from sandbox_service.client.async_ import AsyncSandboxClient
from sandbox_service.client.sync import SandboxClient
from sandbox_service.errors import NotAuthenticated
from tests.factories import make_body
from tests.unit.client.fake_service import (
    NO_WAITS,
    FakeService,
    lose_the_answer,
    problem,
    refuse,
)


def connect(handler):
    return AsyncSandboxClient(
        "http://sandbox.test", options=NO_WAITS, transport=httpx.MockTransport(handler)
    )


def methods(client):
    found = inspect.getmembers(client, inspect.isfunction)
    return {
        name: list(inspect.signature(method).parameters.values())
        for name, method in found
        if not name.startswith("_")
    }


def test_both_clients_have_the_same_methods_and_parameters():
    blocking = methods(SandboxClient)
    blocking["aclose"] = blocking.pop("close")
    assert methods(AsyncSandboxClient) == blocking


async def test_score_outlives_faults_and_runs_once():
    service = FakeService(polls=2)
    service.faults = [refuse, lose_the_answer(service), refuse]
    async with connect(service) as client:
        result = await client.score(make_body())
    assert service.runs == [result.id]


async def test_rewards_come_in_the_order_sent():
    service = FakeService(polls=2)
    service.rewards = {"a": 0.25, "b": None}
    async with connect(service) as client:
        rewards = (await client.rewards([make_body(id=name) for name in "ba"])).rewards
    assert rewards == [None, 0.25]


async def test_refusal_has_the_services_class():
    service = FakeService()
    service.faults = [lambda _: problem(401, "not_authenticated")]
    async with connect(service) as client:
        with pytest.raises(NotAuthenticated):
            await client.queues()
