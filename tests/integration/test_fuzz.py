"""Whatever is sent, the service neither fails nor breaks its own description."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import httpx
import pytest
import redis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

_ROOT = Path(__file__).parents[2]
_SERVED = Path(__file__).parent / "served.py"
_WORKER = Path(__file__).parent / "fake_worker.py"
_EXAMPLES = 40
_RAW_TRIES = 150
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def address(redis_server: str) -> Iterator[str]:
    """Address of a service with a port of its own and a worker that accepts everything."""
    with redis.Redis.from_url(redis_server) as connection:
        connection.flushall()
        worker = _start(_WORKER, redis_server, "worker")
        process = _start(_SERVED, redis_server)
        assert connection.blpop("test:ready", 20)
    assert process.stdout is not None
    yield process.stdout.readline().strip()
    for each in (process, worker):
        each.terminate()
        each.wait(20)
        assert each.stdout is not None
        each.stdout.close()


def _start(program: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, str(program), *arguments],
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_every_answer_is_as_described(address: str) -> None:
    schemathesis = pytest.importorskip("schemathesis", reason="the extra `dev` is not installed")
    schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
    operations = [result.ok() for result in schema.get_all_operations()]
    assert len(operations) > 10

    for operation in operations:

        @given(case=st.one_of(operation.as_strategy(), _negative(schemathesis, operation)))
        @settings(
            max_examples=_EXAMPLES,
            deadline=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
            derandomize=True,
        )
        def check(case: object) -> None:
            query = case.query  # type: ignore[attr-defined]
            if isinstance(query, dict) and "wait" in query:
                query["wait"] = 0
            case.call_and_validate(  # type: ignore[attr-defined]
                base_url=address,
                excluded_checks=[
                    schemathesis.checks.negative_data_rejection,
                    schemathesis.checks.positive_data_acceptance,
                ],
                timeout=30,
            )

        check()


def _negative(schemathesis: object, operation: object) -> object:
    mode = schemathesis.GenerationMode.NEGATIVE  # type: ignore[attr-defined]
    return operation.as_strategy(generation_mode=mode)  # type: ignore[attr-defined]


def test_service_answers_after_any_bytes(address: str) -> None:
    random = Random(20)
    target = httpx.URL(address)
    for _ in range(_RAW_TRIES):
        _send(target, _bytes(random))

    answer = httpx.get(f"{address}/healthz", timeout=20)

    assert answer.json() == {"status": "ok"}


def test_no_bytes_are_answered_with_a_server_error(address: str) -> None:
    random = Random(21)
    target = httpx.URL(address)
    answers = [_send(target, _bytes(random)) for _ in range(_RAW_TRIES)]

    assert any(answer.startswith(b"HTTP/1.1 4") for answer in answers)
    assert not any(answer.startswith(b"HTTP/1.1 5") for answer in answers)


def _bytes(random: Random) -> bytes:
    """A request with something wrong in it, or none at all."""
    body = bytes(random.randrange(256) for _ in range(random.randrange(200)))
    lengths = [str(len(body)), "-1", "9" * 30, "0", "x"]
    heads = [
        b"",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /v1/submissions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: "
        + random.choice(lengths).encode()
        + b"\r\n\r\n",
        b"POST /v1/batches HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        + random.choice([b"5\r\n", b"zz\r\n", b"-1\r\n", b"ffffffffffffffff\r\n"]),
        b"POST /v1/batches HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        b"Content-Type: application/x-ndjson\r\nContent-Length: "
        + str(len(body)).encode()
        + b"\r\n\r\n",
        b"GET /v1/submissions/" + body[:20] + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /v1/submissions/%00%ff HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer "
        + body[:20]
        + b"\r\n\r\n",
    ]
    return random.choice(heads) + body


def _send(target: httpx.URL, data: bytes) -> bytes:
    with socket.create_connection((target.host, target.port), timeout=10) as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            return connection.recv(1000)
        except OSError:
            # The service has hung up in the middle, which is its right.
            return b""
