from sandbox_service.doctor import tools
from sandbox_service.doctor.finding import State
from sandbox_service.languages import LanguageTable, load_languages
from sandbox_service.settings import Settings


def make_program(folder, name):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_locate_prefers_the_program_of_the_system(tmp_path, monkeypatch):
    path = make_program(tmp_path, "bwrap")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert tools.locate("bwrap", package="rich", inside="__init__.py") == path


def test_locate_finds_the_program_of_a_wheel(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = tools.locate("bwrap", package="rich", inside="table.py")
    assert found is not None
    assert found.parent.name == "rich"


def test_locate_absent_wheel_gives_none(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert tools.locate("bwrap", package="no_such_package", inside="bwrap") is None
    assert tools.locate("bwrap", package="rich", inside="no-such-file") is None


def test_program_absent_is_missing_with_advice():
    finding = tools.program("redis-server", None, "install it")
    assert (finding.state, finding.advice) == (State.MISSING, "install it")


def test_mmdebstrap_absent_is_only_noted(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert tools.mmdebstrap().state is State.NOTE


def test_local_languages_without_a_tool_name_the_tool():
    language = load_languages(Settings().images_dir).get("c")
    table = LanguageTable([language.model_copy(update={"tools": ("no-such-compiler",)})])
    finding = tools.local_languages(table)
    assert finding.found == "none"
    assert "no-such-compiler" in finding.advice
