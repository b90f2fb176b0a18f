import tarfile

import pytest

from sandbox_service.errors import SettingsError
from sandbox_service.sandbox import images
from sandbox_service.settings import Settings


@pytest.fixture
def settings(tmp_path):
    folder = tmp_path / "native"
    (folder / "examples").mkdir(parents=True)
    (folder / "Dockerfile").write_text("FROM scratch\n")
    (folder / "extra.sh").write_text("true\n")
    (folder / "extra.sh").chmod(0o755)
    (folder / "language.toml").write_text("name = 'native'\n")
    (folder / "examples" / "accepted.c").write_text("int main;\n")
    (tmp_path / "c").mkdir()
    return Settings(images_dir=tmp_path, image_prefix="prefix")


def test_families_are_the_folders_with_a_dockerfile(settings):
    assert images.families(settings) == ("native",)


def test_image_name_is_prefix_family_and_digest(settings):
    repository, _, tag = images.image_name(settings, "native").partition(":")
    assert repository == "prefix/native"
    assert len(tag) == 12
    assert int(tag, 16) >= 0


@pytest.mark.parametrize("name", ["Dockerfile", "extra.sh"])
def test_image_name_changes_with_what_makes_the_image(settings, name):
    before = images.image_name(settings, "native")
    (settings.images_dir / "native" / name).write_text("FROM other\n")
    assert images.image_name(settings, "native") != before


@pytest.mark.parametrize("name", ["language.toml", "examples/accepted.c"])
def test_image_name_stays_when_other_files_change(settings, name):
    before = images.image_name(settings, "native")
    (settings.images_dir / "native" / name).write_text("changed\n")
    assert images.image_name(settings, "native") == before


@pytest.mark.parametrize("family", ["c", "nothing"])
def test_image_name_of_no_family_raises(settings, family):
    with pytest.raises(SettingsError, match="not an image family"):
        images.image_name(settings, family)


def test_context_carries_content_and_executable_bits_only(settings):
    archive = images._context(settings.images_dir / "native")
    with tarfile.open(fileobj=archive) as tar:
        entries = {entry.name: entry.mode for entry in tar}
    assert entries == {"Dockerfile": 0o644, "extra.sh": 0o755}


def test_build_unknown_family_raises_before_the_daemon_is_asked(settings):
    nowhere = settings.model_copy(update={"docker_host": "unix:///nonexistent/docker.sock"})
    with pytest.raises(SettingsError, match="cobol"):
        images.build(["cobol"], nowhere)
