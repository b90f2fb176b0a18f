"""Many runs in one worker's sandbox: what runner, zygote and worker keep of them in memory.

`python -m tests.benchmarks.soak 20000` prints resident bytes after every tenth of the runs.
"""

import resource
import subprocess
import sys
from pathlib import Path

from rich.console import Console

from sandbox_service.languages import load_languages
from sandbox_service.sandbox.docker import DockerEngine
from sandbox_service.sandbox.pool import Pool
from sandbox_service.schema.submission import Submission
from sandbox_service.settings import Settings
from sandbox_service.telemetry.logging import configure_logging
from sandbox_service.worker.pipeline import Pipeline

_TESTS = 20


def _submission(n: int) -> Submission:
    tests = [{"stdin": f"{n} {k}\n", "expected_stdout": f"{n} {k}\n"} for k in range(_TESTS)]
    return Submission(language="python", code=f"print(input())\n# {n}", tests=tests)


def _resident_kib(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def _runner_pids(container: str) -> list[int]:
    top = subprocess.run(
        ["docker", "top", container, "-o", "pid"], capture_output=True, text=True, check=True
    )
    return [int(word) for word in top.stdout.split()[1:]]


def main(runs: int) -> None:
    """Runs and reports."""
    console = Console()
    settings = Settings(sandbox_max_jobs=10**9, sandbox_max_age_s=10**9)
    configure_logging("console", "error")
    pool = Pool(DockerEngine(settings), settings)
    pipeline = Pipeline(load_languages(settings.images_dir), pool)
    submissions = runs // _TESTS
    try:
        for n in range(submissions + 1):
            result = pipeline.run("soak", _submission(n))
            assert result.reward == 1.0, result
            if n % max(1, submissions // 10) == 0:
                sandbox = next(iter(pool._idle.values()))[0].sandbox
                kib = [_resident_kib(pid) for pid in _runner_pids(sandbox._id)]
                own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                console.print(f"{n * _TESTS:6} runs  runner and zygote {kib} KiB  worker {own} KiB")
    finally:
        pipeline.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
