"""Commands of operators, with the private Redis of a service that is not running."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from sandbox_service.cli import app
from sandbox_service.queue.embedded import find_redis_server

pytestmark = pytest.mark.skipif(find_redis_server() is None, reason="no redis-server")


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_STATE_DIR", str(tmp_path))


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def test_key_that_was_made_is_listed_without_its_secret_and_can_be_revoked() -> None:
    text = _run("keys", "create", "--tenant", "team-a", "--scope", "read").output.strip()
    _, name, secret = text.split("_")
    listed = _run("keys", "list").output
    revoked = _run("keys", "revoke", name)

    assert name in listed
    assert "team-a" in listed
    assert secret not in listed
    assert revoked.exit_code == 0
    assert name not in _run("keys", "list").output


def test_what_operators_do_is_recorded() -> None:
    _run("keys", "create", "--tenant", "team-a")

    assert "key_created" in _run("audit").output


@pytest.mark.parametrize(
    "arguments",
    [
        ("keys", "create", "--tenant", "Not A Tenant"),
        ("keys", "revoke", "nothing"),
        ("dead-letters", "retry", "default/nothing"),
        ("keys", "list", "--redis-url", "unix:///no/such/socket"),
    ],
)
def test_what_cannot_be_done_is_told_in_words(arguments: tuple[str, ...]) -> None:
    result = _run(*arguments)

    assert result.exit_code == 1
    assert "Traceback" not in result.output
    assert result.output.strip()


def test_no_dead_letters_are_an_empty_list() -> None:
    assert _run("dead-letters", "list").exit_code == 0
    assert "0 queued again" in _run("dead-letters", "retry", "--all").output
