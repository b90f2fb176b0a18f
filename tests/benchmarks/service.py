"""The whole service over HTTP against bare subprocesses, turn by turn on the same machine."""

import asyncio
import json
import os
import statistics
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import httpx

from sandbox_service.demo.server import running_service
from tests.benchmarks.works import ECHO, PYTHON

MANY = 512
CLIENTS = 64


class Figure(NamedTuple):
    """One measured ratio, ours to the baseline's."""

    work: str
    target: str
    ratio: float
    ours: float
    baseline: float


def _submission(n: int) -> dict:
    # Each one is another program: nothing is answered out of a memory of an earlier one.
    return {
        "language": "python",
        "code": f"{ECHO}\n# {time.time_ns()} {n}",
        "tests": [{"stdin": f"{n}\n", "expected_stdout": f"{n}\n"}],
    }


def _bare(n: int) -> None:
    subprocess.run(
        [PYTHON, "-I", "-c", ECHO], input=f"{n}\n", capture_output=True, text=True, check=True
    )


def _bare_rate(count: int) -> float:
    with ThreadPoolExecutor(2) as threads:
        began = time.perf_counter()
        list(threads.map(_bare, range(count)))
    return count / (time.perf_counter() - began)


def _rewards_rate(client: httpx.Client) -> float:
    body = {"submissions": [_submission(n) for n in range(MANY)]}
    began = time.perf_counter()
    answer = client.post("/v1/rewards", json=body)
    took = time.perf_counter() - began
    assert answer.json()["rewards"] == [1.0] * MANY, answer.text[:500]
    return MANY / took


async def _singles(address: str) -> float:
    """Clients that each wait for one reward before they ask for the next.

    They speak plain HTTP/1.1 over sockets of their own: a client library would take more of the
    processor than the service does, and be what is measured.
    """

    async def client(number: int) -> None:
        reader, writer = await asyncio.open_connection(host, int(port))
        for n in range(number, MANY, CLIENTS):
            body = json.dumps(_submission(n)).encode()
            head = (
                f"POST /v1/submissions?wait=60 HTTP/1.1\r\nhost: {host}\r\n"
                f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
            )
            writer.write(head.encode() + body)
            answer = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(answer.partition(b"content-length:")[2].split()[0])
            assert json.loads(await reader.readexactly(length))["reward"] == 1.0
        writer.close()

    host, _, port = address.removeprefix("http://").partition(":")
    began = time.perf_counter()
    await asyncio.gather(*(client(number) for number in range(CLIENTS)))
    return MANY / (time.perf_counter() - began)


def _p50(client: httpx.Client, times: int) -> tuple[float, float]:
    ours, bare = [], []
    for n in range(times):
        began = time.perf_counter()
        client.post("/v1/submissions?wait=60", json=_submission(n))
        ours.append(time.perf_counter() - began)
        began = time.perf_counter()
        _bare(n)
        bare.append(time.perf_counter() - began)
    return statistics.median(ours), statistics.median(bare)


def _ratio(work: str, target: str, pairs: list[tuple[float, float]]) -> Figure:
    ours, bare = (statistics.median(side) for side in zip(*pairs, strict=True))
    return Figure(work, target, statistics.median(a / b for a, b in pairs), ours, bare)


def measure(rounds: int) -> list[Figure]:
    """Starts the service and returns its figures."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        arguments = ("--workers", "2")
        with running_service(Path(folder), os.environ, arguments) as address:
            client = httpx.Client(base_url=address, timeout=120)
            _rewards_rate(client)  # not measured: connections open, sandboxes start
            many = [(_rewards_rate(client), _bare_rate(150)) for _ in range(rounds)]
            singles = [(asyncio.run(_singles(address)), _bare_rate(150)) for _ in range(rounds)]
            latency = _p50(client, 40)
    ours, bare = latency
    return [
        _ratio(f"{MANY} by /v1/rewards, per second", "≥ 2.5", many),
        _ratio(f"single submissions, {CLIENTS} clients, per second", "≥ 1.5", singles),
        Figure("one submission, idle service, p50 seconds", "≤ 1.2", ours / bare, ours, bare),
    ]
