import os
import signal
import sys

import pytest
import redis
from pydantic import SecretStr

from sandbox_service.queue import keys
from sandbox_service.settings import Settings
from sandbox_service.worker import supervisor
from sandbox_service.worker.supervisor import Crew, environment_of

_SLEEP = [sys.executable, "-I", "-c", "import time; time.sleep(600)"]

_JOB = "0" * 32 + "-train-t"


def _crew(redis_url: str, size: int = 1) -> Crew:
    return Crew(lambda _: _SLEEP, os.environ, size=size, redis_url=redis_url)


def test_crew_starts_as_many_as_asked_and_ends_them(redis_url: str) -> None:
    crew = _crew(redis_url, size=2)
    crew.tend()
    pids = crew.pids
    crew.stop(10)

    assert len(set(pids)) == 2
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_dead_worker_is_replaced_and_its_jobs_are_free_at_once(
    redis_url: str, connection: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "worker_name", lambda: "w")
    crew = _crew(redis_url)
    crew._seats[0].backoff_s = 0.0
    crew.tend()
    connection.rpush(keys.in_flight("w"), _JOB)
    (before,) = crew.pids
    os.kill(before, signal.SIGKILL)
    os.waitid(os.P_PID, before, os.WEXITED | os.WNOWAIT)
    crew.tend()
    (after,) = crew.pids
    crew.stop(10)

    assert before != after
    assert connection.lrange("rq:queue:train:t", 0, -1) == [_JOB.encode()]


def test_worker_that_dies_at_once_is_not_restarted_at_once(redis_url: str) -> None:
    crew = Crew(lambda _: [sys.executable, "-I", "-c", ""], os.environ, size=1, redis_url=redis_url)
    crew._seats[0].backoff_s = 60.0
    crew.tend()
    os.waitid(os.P_PID, crew.pids[0], os.WEXITED | os.WNOWAIT)
    crew.tend()

    assert crew.pids == []


def test_child_reads_the_same_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(engine="local", chunk_size=3, max_cpu_time_s=7.5, workers=2)
    for name, value in environment_of(settings, "unix:///s").items():
        monkeypatch.setenv(name, value)

    assert Settings() == settings.model_copy(update={"redis_url": "unix:///s"})


def test_child_gets_no_api_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_API_KEYS", '["secret"]')
    environment = environment_of(Settings(api_keys=(SecretStr("secret"),)), "unix:///s")

    assert "secret" not in str(environment)
