"""Everything is killed again and again; nothing is lost, changed or scored zero for it."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest

from sandbox_service.client.options import ClientOptions
from sandbox_service.client.retry import RetryPolicy
from sandbox_service.client.sync import SandboxClient
from sandbox_service.demo.server import running_service
from sandbox_service.doctor.engines import examine_docker, try_engine
from sandbox_service.doctor.finding import State
from sandbox_service.queue.embedded import find_redis_server
from sandbox_service.sandbox.daemon import connect
from sandbox_service.sandbox.docker import DockerEngine
from sandbox_service.sandbox.hardening import LABEL_INSTANCE
from sandbox_service.sandbox.images import image_name
from sandbox_service.sandbox.local import LocalEngine
from sandbox_service.schema.result import Result
from sandbox_service.settings import Settings
from tests.factories import make_body
from tests.integration import own_docker
from tests.integration.chaos import Village

_OPTIONS = ClientOptions(retry=RetryPolicy(deadline_s=200.0, longest_wait_s=1.0), wait_slice_s=5.0)
MakeBody = Callable[[int], dict[str, object]]
_COUNT = 2000
_IN_A_REQUEST = 100
_REAL_COUNT = 60
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(580),
    pytest.mark.skipif(find_redis_server() is None, reason="no redis-server"),
]


def _body(number: int) -> dict[str, object]:
    """Every third submission is wrong, and none equals another."""
    word = "wrong" if number % 3 == 0 else "sleep 0.004"
    return make_body(id=f"n{number}", code=word, metadata={"n": number}, cache=False)


def _real_body(number: int) -> dict[str, object]:
    """As above, for a real interpreter."""
    code = f"print({number if number % 3 else None})"
    return make_body(id=f"n{number}", code=code, tests=_tests(number), metadata={"n": number})


def _send(address: str, first: int, make: MakeBody) -> list[Result]:
    bodies = [make(number) for number in range(first, first + _IN_A_REQUEST)]
    with SandboxClient(address, options=_OPTIONS) as client:
        answer = client.rewards(bodies)
    return [result for result in answer.results if result is not None]


def _send_all(village: Village, make: MakeBody) -> list[Result]:
    with ThreadPoolExecutor(4) as threads:
        parts = threads.map(
            lambda first: _send(village.addresses[first // _IN_A_REQUEST % 2], first, make),
            range(0, _COUNT, _IN_A_REQUEST),
        )
        return [result for part in parts for result in part]


def _outlive(village: Village, make: MakeBody, *, times: int, every_s: float) -> None:
    """Sends two thousand while everything dies; none is lost, changed, or zero for it."""
    village.attack(seed=5, times=times, every_s=every_s)
    results = _send_all(village, make)
    village.wait_for_attack()
    again = _send_all(village, make)  # the same ids, so the same answers
    with SandboxClient(village.addresses[0], options=_OPTIONS) as client:
        queues = client.queues()

    assert [result.metadata["n"] for result in results] == list(range(_COUNT))
    wrong = [
        result
        for number, result in enumerate(results)
        if result.reward != (0.0 if number % 3 == 0 else 1.0)
    ]
    assert [(result.verdict, result.detail) for result in wrong] == []
    assert again == results
    assert [(queue.depth, queue.started) for queue in queues] == [(0, 0)] * 3


def test_two_thousand_submissions_outlive_the_death_of_everything(tmp_path: Path) -> None:
    with Village(tmp_path, workers=3) as village:
        _outlive(village, _body, times=24, every_s=0.6)
    assert {"worker", "api", "redis"} <= set(village.killed)


@pytest.mark.docker
@pytest.mark.skipif(own_docker.why_not() is not None, reason=str(own_docker.why_not()))
def test_two_thousand_programs_outlive_the_death_of_the_docker_daemon_too(tmp_path: Path) -> None:
    settings = Settings()
    source = connect(settings)
    daemon = own_docker.OwnDocker(tmp_path)
    try:
        daemon.take_image(source, image_name(settings, "python"))
        with Village(tmp_path, workers=2, docker=daemon) as village:
            _outlive(village, _real_body, times=20, every_s=1.6)
        assert {"worker", "api", "redis", "docker", "container"} <= set(village.killed)
        # What killed workers left, the next one to start removes.
        DockerEngine(Settings(docker_host=daemon.address)).reap()
        assert daemon.containers() == []
    finally:
        source.close()
        daemon.close()


@pytest.fixture(params=[pytest.param("docker", marks=pytest.mark.docker), "local"])
def engine(request: pytest.FixtureRequest) -> str:
    """An engine that works on this machine."""
    settings = Settings()
    findings = (
        examine_docker(settings)
        if request.param == "docker"
        else [try_engine("local engine", LocalEngine, settings, advice="see the doctor")]
    )
    missing = [finding.found for finding in findings if finding.state is State.MISSING]
    if missing:
        pytest.skip("; ".join(missing))
    return str(request.param)


@pytest.fixture
def prefix(engine: str) -> Iterator[str]:
    """Image names of this test's own, by which its containers can be told from others."""
    if engine == "local":
        yield Settings().image_prefix
        return
    own = f"sandbox-faults-{os.getpid()}"
    settings = Settings()
    client = connect(settings)
    repository, _, tag = image_name(settings, "python").rpartition(":")
    client.images.get(f"{repository}:{tag}").tag(f"{own}/python", tag)
    yield own
    left = client.api.containers(all=True, filters={"label": f"{LABEL_INSTANCE}={own}"})
    client.images.remove(f"{own}/python:{tag}", force=True)
    client.close()
    assert left == []


def test_real_submissions_outlive_the_death_of_workers_and_redis(
    engine: str, prefix: str, tmp_path: Path
) -> None:
    environment = {**os.environ, "SANDBOX_IMAGE_PREFIX": prefix}
    arguments = ("--engine", engine, "--workers", "2")
    bodies = [
        make_body(id=f"n{n}", code=f"print({n if n % 3 else None})", tests=_tests(n))
        for n in range(_REAL_COUNT)
    ]
    stopped = threading.Event()
    killer = threading.Thread(target=_kill_children, args=(os.getpid(), stopped))
    with running_service(tmp_path, environment, arguments) as address:
        killer.start()
        try:
            with SandboxClient(address, options=_OPTIONS) as client:
                rewards = [client.score(body).reward for body in bodies]
        finally:
            stopped.set()
            killer.join()

    assert rewards == [1.0 if n % 3 else 0.0 for n in range(_REAL_COUNT)]


def _tests(number: int) -> list[dict[str, str]]:
    return [{"stdin": "", "expected_stdout": f"{number}\n"}]


def _kill_children(ancestor: int, stopped: threading.Event) -> None:
    """Kills workers and the Redis of the service that this process started."""
    random = Random(7)
    while not stopped.wait(random.uniform(1.0, 2.5)):
        targets = [
            pid
            for pid, command in _descendants(ancestor).items()
            if "sandbox_service.worker" in command or "redis-server" in command
        ]
        if targets:
            os.kill(random.choice(targets), signal.SIGKILL)


def _descendants(ancestor: int) -> dict[int, str]:
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
    family = {ancestor}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return {pid: _command(pid) for pid in family - {ancestor}}


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except (FileNotFoundError, ProcessLookupError):
        return ""
