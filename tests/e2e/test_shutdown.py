"""What is left when a service has ended: nothing."""

import os

import docker
import httpx
import pytest

from sandbox_service.demo.server import running_service
from sandbox_service.sandbox.daemon import connect
from sandbox_service.sandbox.hardening import LABEL_INSTANCE
from sandbox_service.sandbox.images import image_name
from sandbox_service.settings import Settings

# Jails of the local engine die with their workers; only containers could stay.
pytestmark = [
    pytest.mark.docker,
    pytest.mark.timeout(120),
    pytest.mark.parametrize("engine", ["docker"], indirect=True),
]
SUBMISSION = {
    "language": "python",
    "code": "print(1)",
    "tests": [{"stdin": "", "expected_stdout": "1\n"}],
}


@pytest.fixture
def own_prefix(engine) -> str:
    return f"sandbox-test-{os.getpid()}"


@pytest.fixture
def daemon(own_prefix):
    settings = Settings()
    client = connect(settings)
    repository, _, tag = image_name(settings, "python").rpartition(":")
    client.images.get(f"{repository}:{tag}").tag(f"{own_prefix}/python", tag)
    yield client
    client.images.remove(f"{own_prefix}/python:{tag}")
    client.close()


def test_service_that_is_stopped_leaves_no_container(daemon, own_prefix, tmp_path):
    environment = {**os.environ, "SANDBOX_IMAGE_PREFIX": own_prefix}
    with running_service(tmp_path, environment, ("--engine", "docker")) as address:
        answer = httpx.post(f"{address}/v1/rewards", json={"submissions": [SUBMISSION]}, timeout=60)
        assert answer.json()["rewards"] == [1.0]
        assert _containers(daemon, own_prefix) != []
    assert _containers(daemon, own_prefix) == []


def _containers(client: docker.DockerClient, prefix: str) -> list[str]:
    found = client.api.containers(all=True, filters={"label": f"{LABEL_INSTANCE}={prefix}"})
    return [each["Id"] for each in found]
