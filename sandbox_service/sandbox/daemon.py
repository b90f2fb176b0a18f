"""The connection to a Docker daemon."""

import socket

import docker
import docker.errors
from docker.utils import kwargs_from_env

from sandbox_service.errors import EngineUnavailable
from sandbox_service.settings import Settings

_DEFAULT_ADDRESS = "unix:///var/run/docker.sock"


def connect(settings: Settings, *, timeout_s: float = 30.0) -> docker.DockerClient:
    """Returns a client of a daemon that has just answered.

    Raises:
        EngineUnavailable: no daemon answers, or this user may not talk to it.
    """
    from_env = kwargs_from_env()
    address = settings.docker_host or from_env.get("base_url") or _DEFAULT_ADDRESS
    try:
        _knock(address, timeout_s)
        tls = from_env.get("tls", False)
        client = docker.DockerClient(base_url=address, timeout=int(timeout_s), tls=tls)
        client.ping()
    except FileNotFoundError as error:
        raise EngineUnavailable(f"no Docker daemon on this machine ({address})") from error
    except PermissionError as error:
        raise EngineUnavailable(
            f"the Docker daemon at {address} refuses this user; join the docker group"
        ) from error
    except (docker.errors.DockerException, OSError, ValueError) as error:
        raise EngineUnavailable(f"no Docker daemon answers at {address}: {error}") from error
    return client


def _knock(address: str, timeout_s: float) -> None:
    """Raises the plain OSError of a socket that nobody serves.

    The Docker library wraps that error in text, and leaves its own socket open.
    """
    if not address.startswith("unix://"):
        return
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(timeout_s)
        probe.connect(address.removeprefix("unix://"))
