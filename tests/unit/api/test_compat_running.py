"""Runs for foreign clients where the queue is full or gives no result."""

from types import SimpleNamespace

import pytest

from sandbox_service.api.compat.running import NotInTime, Program, code_of, limits_within, run
from sandbox_service.errors import QueueFull
from sandbox_service.schema.result import StepResult
from sandbox_service.schema.verdict import Verdict
from sandbox_service.settings import Settings
from tests.factories import make_languages


class FullService:
    def __init__(self):
        self.asked = 0

    async def check(self, submissions, prefixes):
        pass

    async def submit(self, request, submissions, wait):
        self.asked += 1
        raise QueueFull("full")


async def test_full_queue_is_asked_again_until_the_time_is_over():
    service = FullService()
    request = SimpleNamespace(app=SimpleNamespace(state=SimpleNamespace(service=service)))
    program = Program(make_languages().languages[0], "pass")
    with pytest.raises(NotInTime):
        await run(request, program, 0.6)
    assert service.asked > 1


def test_limits_are_held_within_the_maxima_of_the_service():
    settings = Settings(max_wall_time_s=5, max_cpu_time_s=4)
    limits = limits_within(settings, 100.0, 1)
    assert (limits.wall_time_s, limits.cpu_time_s, limits.memory_bytes) == (5, 4, 16 * 2**20)


def test_signal_is_a_negative_code():
    assert code_of(StepResult(verdict=Verdict.RUNTIME_ERROR, signal=11)) == -11
