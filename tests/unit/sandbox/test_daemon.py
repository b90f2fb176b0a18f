import socket

import pytest

from sandbox_service.errors import EngineUnavailable
from sandbox_service.sandbox.daemon import connect
from sandbox_service.settings import Settings


def test_connect_without_daemon_raises_and_says_so(tmp_path):
    settings = Settings(docker_host=f"unix://{tmp_path}/docker.sock")
    with pytest.raises(EngineUnavailable, match="no Docker daemon on this machine"):
        connect(settings)


def test_connect_unusable_address_raises():
    with pytest.raises(EngineUnavailable, match="no Docker daemon answers"):
        connect(Settings(docker_host="tcp://127.0.0.1:1"))


def test_connect_socket_that_nobody_serves_raises(tmp_path):
    path = tmp_path / "docker.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
    with pytest.raises(EngineUnavailable, match="no Docker daemon answers"):
        connect(Settings(docker_host=f"unix://{path}"))
