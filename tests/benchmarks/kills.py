"""Many runs while sandboxes are killed at random: every verdict right, and nothing left behind.

`python -m tests.benchmarks.kills --engine docker --runs 20000` prints what was killed, what came
out, and what there is on the host that was not there before.
"""

import argparse
import contextlib
import os
import random
import signal
import subprocess
import tempfile
import threading
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from sandbox_service.errors import SandboxError
from sandbox_service.languages import load_languages
from sandbox_service.sandbox.hardening import LABEL_OWNER
from sandbox_service.sandbox.owner import owner_of_this_process
from sandbox_service.sandbox.pool import Pool
from sandbox_service.schema.submission import Submission
from sandbox_service.settings import Settings
from sandbox_service.telemetry.logging import configure_logging
from sandbox_service.worker.boot import find_engine
from sandbox_service.worker.pipeline import Pipeline

_TESTS = 10
_AT_A_TIME = 8
_ATTEMPTS = 50
_MARK = "The first text that a sandbox's interpreter runs"


class Left(NamedTuple):
    """What is on the host of what this process started, counted."""

    processes: int
    containers: int
    mounts: int
    groups: int
    temporary: int


class Host:
    """Looks from outside at what this process's sandboxes are made of, and kills some of it."""

    def __init__(self, engine: str, folder: Path) -> None:
        self._engine = engine
        self._folder = folder
        self._seen: set[str] = set()

    def left(self) -> Left:
        """Counts what there is now."""
        paths = [path for path, _, _ in os.walk("/sys/fs/cgroup")]
        names = {*self._seen, owner_of_this_process().replace(":", "-")}
        return Left(
            processes=len(self._runners()),
            containers=len(self._containers("--all")),
            mounts=len(Path("/proc/self/mounts").read_text().splitlines()),
            groups=sum(any(name in path for name in names) for path in paths),
            temporary=sum(1 for _ in self._folder.iterdir()),
        )

    def kill_something(self, chance: random.Random) -> str | None:
        """Kills a container, a runner or a zygote; tells which."""
        containers = self._containers()
        if containers and chance.random() < 0.5:
            _docker("kill", chance.choice(containers))
            return "container"
        runners = self._runners()
        if not runners:
            return None
        with contextlib.suppress(ProcessLookupError):
            os.kill(chance.choice(runners), signal.SIGKILL)
        return "runner or zygote"

    def _containers(self, *options: str) -> list[str]:
        if self._engine != "docker":
            return []
        label = f"label={LABEL_OWNER}={owner_of_this_process()}"
        found = _docker("ps", "--quiet", "--no-trunc", "--filter", label, *options)
        self._seen.update(found)
        return found

    def _runners(self) -> list[int]:
        if self._engine == "docker":
            tops = [_docker("top", each, "-o", "pid") for each in self._containers()]
            pids = {int(word) for words in tops for word in words if word.isdigit()}
        else:
            pids = {pid for pid in _descendants(os.getpid()) if _MARK in _command(pid)}
        # A program is one pid namespace deeper; to kill it is to change what it does.
        return sorted(pid for pid in pids if _depth(pid) == 2)


def _docker(*arguments: str) -> list[str]:
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, check=False)
    return done.stdout.split()


def _descendants(ancestor: int) -> set[int]:
    """Returns the process ids below one."""
    found, waiting = set[int](), [ancestor]
    while waiting:
        with contextlib.suppress(OSError):
            for path in Path(f"/proc/{waiting.pop()}/task").glob("*/children"):
                children = {int(word) for word in path.read_text().split()}
                waiting += children - found
                found |= children
    return found


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace")
    return ""


def _depth(pid: int) -> int:
    """Returns how many pid namespaces a process is in."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("NSpid:"):
                return len(line.split()) - 1
    return 0


def _kill_some(host: Host, stopped: threading.Event, killed: "Counter[str]") -> None:
    chance = random.Random(3)
    while not stopped.wait(chance.uniform(0.2, 0.8)):
        what = host.kill_something(chance)
        if what is not None:
            killed[what] += 1


def _submission(n: int) -> Submission:
    """Every third is wrong in its last test."""
    tests = [{"stdin": f"{n} {k}\n", "expected_stdout": f"{n} {k}\n"} for k in range(_TESTS)]
    if n % 3 == 0:
        tests[-1]["expected_stdout"] = "something else"
    return Submission(language="python", code=f"print(input())\n# {n}", tests=tests)


def _work(settings: Settings, share: range, outcomes: "Counter[str]") -> None:
    pool = Pool(find_engine(settings), settings)
    pipeline = Pipeline(load_languages(settings.images_dir), pool)
    try:
        for at in range(0, len(share), _AT_A_TIME):
            numbers = share[at : at + _AT_A_TIME]
            submissions = [_submission(n) for n in numbers]
            aheads = pipeline.look_ahead(submissions)()
            for n, submission, ahead in zip(numbers, submissions, aheads, strict=True):
                for _ in range(_ATTEMPTS):
                    try:
                        result = pipeline.run("kills", submission, ahead)
                    except SandboxError:
                        outcomes["tried again"] += 1
                        continue
                    passed = _TESTS - (n % 3 == 0)
                    outcomes["right" if result.passed == passed else "WRONG"] += 1
                    break
                else:
                    outcomes["NEVER RAN"] += 1
    finally:
        pipeline.close()


def main() -> None:
    """Runs and reports."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", choices=("docker", "local"), default="docker")
    parser.add_argument("--runs", type=int, default=20_000)
    options = parser.parse_args()
    configure_logging("console", "critical")
    settings = Settings(engine=options.engine)
    outcomes, killed, stopped = Counter[str](), Counter[str](), threading.Event()
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        tempfile.tempdir = folder
        host = Host(options.engine, Path(folder))
        before = host.left()
        numbers = range(options.runs // _TESTS)
        workers = [
            threading.Thread(target=_work, args=(settings, numbers[part::2], outcomes))
            for part in range(2)
        ]
        killer = threading.Thread(target=_kill_some, args=(host, stopped, killed))
        for thread in (*workers, killer):
            thread.start()
        for worker in workers:
            worker.join()
        stopped.set()
        killer.join()
        console = Console()
        console.print(f"{options.runs} runs, killed: {dict(killed)}, outcomes: {dict(outcomes)}")
        console.print(f"before {before}\nafter  {host.left()}")


if __name__ == "__main__":
    main()
