"""The folder from which programs are taken."""

import pytest

from runners import stage, view


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(view, "PROGRAM", str(tmp_path))
    return tmp_path


def test_files_are_put_with_their_mode_and_folders(folder):
    stage.put({"a/b/main.py": b"x"}, 0o555)
    assert (folder / "a/b/main.py").read_bytes() == b"x"
    assert (folder / "a/b/main.py").stat().st_mode & 0o777 == 0o555


def test_file_takes_the_place_of_another(folder):
    stage.put({"main": b"old"}, 0o555)
    stage.put({"main": b"new"}, 0o555)
    assert (folder / "main").read_bytes() == b"new"


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../up", "a/../../up", "a//b", "./a", "", "a/", "nul\0", "a/.."]
)
def test_path_that_leaves_the_stage_is_refused(folder, path):
    with pytest.raises(ValueError, match="bad file name"):
        stage.put({path: b"x"}, 0o644)
    assert list(folder.iterdir()) == []


def test_clear_leaves_nothing(folder):
    stage.put({"a/b/c": b"", "d": b""}, 0o444)
    stage.clear()
    assert list(folder.iterdir()) == []
