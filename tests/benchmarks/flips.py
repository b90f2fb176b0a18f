"""Programs near their limits, one at a time and many at once: how many verdicts change.

`python -m tests.benchmarks.flips --count 500 --workers 8` sends as many again with 64 under way.
Half of them use 0.5 s of the processor with a limit of 2 s, half sleep 0.5 s with a wall limit of
2 s. More workers than cores make the machine busier than a service should ever be.
"""

import argparse
import os
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console

from sandbox_service.demo.server import running_service

_AT_ONCE = 64
_ALONE = 20
_BUSY = """import time
while time.process_time() < 0.5:
    pass
print({n})
"""
_ASLEEP = "import time\ntime.sleep(0.5)\nprint({n})\n"


def _submission(n: int) -> dict[str, Any]:
    code, limit = (_BUSY, "cpu_time_s") if n % 2 else (_ASLEEP, "wall_time_s")
    return {
        "language": "python",
        "code": code.format(n=n),
        "tests": [{"stdin": "", "expected_stdout": f"{n}\n"}],
        "limits": {limit: 2.0},
        "cache": False,
    }


def _verdicts(address: str, numbers: range, at_once: int) -> "Counter[str]":
    with httpx.Client(base_url=address, timeout=300) as client:

        def one(n: int) -> str:
            url = "/v1/submissions?wait=240"
            return str(client.post(url, json=_submission(n)).json().get("verdict", "no answer"))

        with ThreadPoolExecutor(at_once) as threads:
            return Counter(threads.map(one, numbers))


def main() -> None:
    """Runs and reports."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    arguments = ("--workers", str(options.workers))
    with (
        tempfile.TemporaryDirectory(prefix="flips-") as folder,
        running_service(Path(folder), os.environ, arguments) as address,
    ):
        alone = _verdicts(address, range(_ALONE), 1)
        many = _verdicts(address, range(options.count), _AT_ONCE)
    Console().print(f"alone {dict(alone)}; {_AT_ONCE} at once {dict(many)}")


if __name__ == "__main__":
    main()
