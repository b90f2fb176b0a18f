import docker.errors
import pytest

from sandbox_service.errors import EngineUnavailable
from sandbox_service.sandbox import base_image
from sandbox_service.settings import Settings


class FakeImages:
    def __init__(self, present=(), pullable=()):
        self.present = set(present)
        self.pullable = set(pullable)

    def get(self, name):
        if name not in self.present:
            raise docker.errors.ImageNotFound(name)

    def pull(self, name):
        if name not in self.pullable:
            raise docker.errors.APIError("no such host")


class FakeClient:
    def __init__(self, **kwargs):
        self.images = FakeImages(**kwargs)


SETTINGS = Settings(base_image="debian:12-slim", image_prefix="prefix")


@pytest.mark.parametrize("name", ["debian:12-slim", "prefix/base:bookworm"])
def test_ensure_base_present_image_is_taken_without_a_pull(name):
    client = FakeClient(present=[name])
    assert base_image.ensure_base(client, SETTINGS, print) == name


def test_ensure_base_absent_image_is_pulled():
    client = FakeClient(pullable=["debian:12-slim"])
    assert base_image.ensure_base(client, SETTINGS, print) == "debian:12-slim"


def test_ensure_base_without_registry_and_mmdebstrap_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    said = []
    with pytest.raises(EngineUnavailable, match="mmdebstrap"):
        base_image.ensure_base(FakeClient(), SETTINGS, said.append)
    assert "no such host" in said[-1]


def test_bootstrap_argv_names_suite_then_target(tmp_path):
    argv = base_image.bootstrap_argv(tmp_path / "base.tar")
    assert argv[argv.index("bookworm") + 1] == str(tmp_path / "base.tar")
