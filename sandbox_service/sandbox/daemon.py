"""The connection to a Docker daemon."""

import docker
import docker.errors

from sandbox_service.errors import EngineUnavailable
from sandbox_service.settings import Settings


def connect(settings: Settings, *, timeout_s: float = 30.0) -> docker.DockerClient:
    """Returns a client of a daemon that has just answered.

    Raises:
        EngineUnavailable: no daemon answers, or this user may not talk to it.
    """
    try:
        if settings.docker_host is None:
            client = docker.from_env(timeout=int(timeout_s))
        else:
            client = docker.DockerClient(base_url=settings.docker_host, timeout=int(timeout_s))
    except docker.errors.DockerException as error:
        raise EngineUnavailable(_explain(error)) from error
    try:
        client.ping()
    except (docker.errors.DockerException, OSError) as error:
        client.close()
        raise EngineUnavailable(_explain(error)) from error
    return client


def _explain(error: Exception) -> str:
    text = str(error)
    if "Permission denied" in text:
        return "the Docker daemon refuses this user; join the docker group or run as root"
    if "No such file" in text:
        return "no Docker daemon on this machine"
    return f"no Docker daemon answers: {text}"
