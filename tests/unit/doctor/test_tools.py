from sandbox_service.doctor import tools
from sandbox_service.doctor.finding import State
from sandbox_service.languages import LanguageTable, load_languages
from sandbox_service.settings import Settings


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
