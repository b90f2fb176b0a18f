from dataclasses import dataclass

import pytest

from sandbox_service.errors import EngineUnavailable
from sandbox_service.settings import Settings
from sandbox_service.worker import boot


@dataclass
class FakeEngine:
    name: str


class FakeDaemon:
    def close(self):
        pass


def no_daemon(settings):
    raise EngineUnavailable("no daemon")


@pytest.fixture(autouse=True)
def engines(monkeypatch):
    monkeypatch.setattr(boot, "DockerEngine", lambda settings: FakeEngine("docker"))
    monkeypatch.setattr(boot, "LocalEngine", lambda settings: FakeEngine("local"))
    monkeypatch.setattr(boot, "connect", lambda settings: FakeDaemon())
    monkeypatch.setattr(boot, "missing", lambda client, settings: ())


def test_auto_takes_docker_when_the_daemon_has_the_images():
    assert boot.find_engine(Settings(engine="auto")).name == "docker"


def test_auto_without_images_takes_local(monkeypatch):
    monkeypatch.setattr(boot, "missing", lambda client, settings: ("native",))
    assert boot.find_engine(Settings(engine="auto")).name == "local"


def test_auto_without_a_daemon_takes_local(monkeypatch):
    monkeypatch.setattr(boot, "connect", no_daemon)
    assert boot.find_engine(Settings(engine="auto")).name == "local"


def test_local_is_taken_even_where_docker_works():
    assert boot.find_engine(Settings(engine="local")).name == "local"


def test_docker_that_does_not_answer_is_never_replaced(monkeypatch):
    monkeypatch.setattr(boot, "DockerEngine", no_daemon)
    with pytest.raises(EngineUnavailable):
        boot.find_engine(Settings(engine="docker"))
