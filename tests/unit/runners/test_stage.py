"""The folder from which programs are taken."""

import pytest

from runners import stage, view


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(view, "PROGRAM", str(tmp_path))
    return tmp_path


@pytest.fixture
def place(folder):
    return stage.Stage()


def test_files_are_put_with_their_mode_and_folders(folder, place):
    place.put({"a/b/main.py": b"x"}, 0o555)
    assert (folder / "a/b/main.py").read_bytes() == b"x"
    assert (folder / "a/b/main.py").stat().st_mode & 0o777 == 0o555


def test_file_takes_the_place_of_another(folder, place):
    place.put({"main": b"old"}, 0o555)
    place.put({"main": b"new"}, 0o555)
    assert (folder / "main").read_bytes() == b"new"


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../up", "a/../../up", "a//b", "./a", "", "a/", "nul\0", "a/.."]
)
def test_path_that_leaves_the_stage_is_refused(folder, place, path):
    with pytest.raises(ValueError, match="bad file name"):
        place.put({path: b"x"}, 0o644)
    assert list(folder.iterdir()) == []


def test_clear_leaves_nothing(folder, place):
    place.put({"a/b/c": b"", "d": b""}, 0o444)
    place.clear()
    assert list(folder.iterdir()) == []


def test_stage_is_empty_whatever_was_there_before(folder):
    (folder / "left/over").mkdir(parents=True)
    (folder / "left/over/main.py").write_text("x")
    stage.Stage()
    assert list(folder.iterdir()) == []


def test_stage_can_be_used_again(folder, place):
    for content in (b"one", b"two"):
        place.put({"a/main.py": content, "a/b/more.py": b""}, 0o644)
        assert (folder / "a/main.py").read_bytes() == content
        place.clear()
    assert list(folder.iterdir()) == []
