import typer
from typer.testing import CliRunner

from sandbox_service import commands

APP = typer.Typer()
commands.register(APP)


def run(*arguments, **environment):
    return CliRunner().invoke(APP, list(arguments), env=environment)


def test_languages_lists_names_and_aliases():
    result = run("languages")
    assert result.exit_code == 0
    assert "cpp" in result.output
    assert "c++17" in result.output


def test_images_build_without_daemon_exits_with_1_and_says_why(tmp_path):
    result = run("images", "build", SANDBOX_DOCKER_HOST=f"unix://{tmp_path}/docker.sock")
    assert result.exit_code == 1
    assert "no Docker daemon on this machine" in result.output


def test_images_build_unknown_family_exits_with_1_and_names_it(tmp_path):
    result = run("images", "build", "cobol")
    assert result.exit_code == 1
    assert "cobol" in result.output


def test_doctor_hands_on_the_exit_code(monkeypatch):
    monkeypatch.setattr(commands, "run_doctor", lambda settings, console: 1)
    assert run("doctor").exit_code == 1


def test_demo_hands_the_engine_to_the_service(monkeypatch):
    seen = []
    monkeypatch.setattr(commands, "run_demo", lambda *arguments: seen.append(arguments[-1]) or 0)
    assert run("demo", "--engine", "local").exit_code == 0
    assert seen == [("--engine", "local")]
