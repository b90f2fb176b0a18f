"""What a submission costs as there are more of them, and how the service answers meanwhile.

`python -m tests.benchmarks.growth 1000 10000 50000` sends batches of these sizes, one after the
other, and prints submissions per second, the API's resident memory and the 99th percentile of
`/v1/queues` while the batch was worked off.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
from rich.console import Console
from rich.table import Table

from sandbox_service.client.sync import SandboxClient
from sandbox_service.demo.server import running_service
from tests.benchmarks.works import ECHO

_LOOK_EVERY_S = 0.05


def _submissions(size: int) -> Iterator[dict[str, object]]:
    for n in range(size):
        yield {
            "language": "python",
            "code": f"{ECHO}\n# {size} {n}",
            "tests": [{"stdin": f"{n}\n", "expected_stdout": f"{n}\n"}],
        }


def _api_kib(port: str) -> int:
    """Returns the resident memory of the process that listens there."""
    for path in Path("/proc").glob("[0-9]*"):
        try:
            command = (path / "cmdline").read_bytes().split(b"\0")
            if b"--port" in command and command[command.index(b"--port") + 1] == port.encode():
                lines = (path / "status").read_text().splitlines()
                return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return 0


def _work_off(address: str, size: int) -> tuple[float, int, float]:
    """Returns submissions per second, the API's largest memory, and the p99 of a look."""
    memory, looks = 0, []
    with SandboxClient(address) as client, httpx.Client(base_url=address, timeout=60) as http:
        began = time.perf_counter()
        batch = client.create_batch(_submissions(size)).id
        while client.batch(batch).finished < size:
            for _ in range(10):
                look = time.perf_counter()
                http.get("/v1/queues").raise_for_status()
                looks.append(time.perf_counter() - look)
                time.sleep(_LOOK_EVERY_S)
            memory = max(memory, _api_kib(address.rpartition(":")[2]))
    rate = size / (time.perf_counter() - began)
    return rate, memory, statistics.quantiles(looks, n=100)[98]


def main(sizes: list[int]) -> None:
    """Runs and reports."""
    table = Table("submissions", "per second", "API memory MiB", "/v1/queues p99 ms")
    with (
        tempfile.TemporaryDirectory(prefix="growth-") as folder,
        running_service(Path(folder), os.environ, ("--workers", "2")) as address,
    ):
        for size in sizes:
            rate, kib, p99 = _work_off(address, size)
            table.add_row(str(size), f"{rate:.0f}", f"{kib / 1024:.0f}", f"{p99 * 1000:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [1_000, 10_000, 50_000])
