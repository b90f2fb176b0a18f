"""The commands of operators: API keys, dead letters, the record of who did what."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import Annotated, NamedTuple

import redis
import typer
from rich.console import Console
from rich.table import Table

from sandbox_service.errors import SandboxServiceError, SettingsError
from sandbox_service.queue import api_keys, audit
from sandbox_service.queue.connection import connect
from sandbox_service.queue.dead_letters import DeadLetters
from sandbox_service.queue.embedded import EmbeddedRedis
from sandbox_service.queue.keys import DEFAULT_TENANT, is_tenant
from sandbox_service.queue.signing import Signer, local_key
from sandbox_service.queue.submissions import SubmissionStore
from sandbox_service.schema.access import Scope
from sandbox_service.settings import Settings

_MOST_LISTED = 100

keys_app = typer.Typer(no_args_is_help=True, help="API keys: who may do what.")
dead_letters_app = typer.Typer(
    no_args_is_help=True, help="Submissions that ended as internal errors."
)
RedisUrl = Annotated[str | None, typer.Option(help="Redis to use; the private one if none.")]


class _Desk(NamedTuple):
    """What an operator's command works with."""

    connection: redis.Redis
    signer: Signer


def register(app: typer.Typer) -> None:
    """Adds `keys`, `dead-letters` and `audit`."""
    app.add_typer(keys_app, name="keys")
    app.add_typer(dead_letters_app, name="dead-letters")
    app.command("audit")(_audit)


@keys_app.command("create")
def _create_key(
    tenant: Annotated[str, typer.Option(help="Whose submissions it sends.")] = DEFAULT_TENANT,
    scope: Annotated[list[Scope] | None, typer.Option(help="What it allows.")] = None,
    note: Annotated[str, typer.Option(help="What it is for.")] = "",
    redis_url: RedisUrl = None,
) -> None:
    """Make a key and print it; it is shown this once."""
    with _desk(redis_url) as desk:
        if not is_tenant(tenant):
            raise SettingsError(f"{tenant!r} is no tenant: small letters, digits, - and _")
        scopes = scope or [Scope.SUBMIT, Scope.READ]
        made = api_keys.create_key(
            desk.connection, desk.signer, tenant=tenant, scopes=scopes, note=note
        )
        audit.record(desk.connection, "key_created", f"{made.key.id} {tenant}")
        typer.echo(made.text)


@keys_app.command("list")
def _list_keys(redis_url: RedisUrl = None) -> None:
    """List the keys, without their secrets."""
    table = Table("id", "tenant", "scopes", "made", "note")
    with _desk(redis_url) as desk:
        for key in api_keys.list_keys(desk.connection, desk.signer):
            table.add_row(
                key.id, key.tenant, ", ".join(key.scopes), _when(key.created_at), key.note
            )
    _print(table)


@keys_app.command("revoke")
def _revoke_key(key_id: str, redis_url: RedisUrl = None) -> None:
    """End a key; within seconds nobody takes it any more."""
    with _desk(redis_url) as desk:
        api_keys.revoke_key(desk.connection, key_id)
        audit.record(desk.connection, "key_revoked", key_id)


@dead_letters_app.command("list")
def _list_dead_letters(redis_url: RedisUrl = None) -> None:
    """List the latest ones and why they have no information."""
    table = Table("submission", "when", "reason")
    with _desk(redis_url) as desk:
        store = SubmissionStore(desk.connection, desk.signer)
        for letter in DeadLetters(store).list(_MOST_LISTED):
            table.add_row(letter.ref, _when(letter.at), letter.reason)
    _print(table)


@dead_letters_app.command("retry")
def _retry_dead_letters(
    submissions: Annotated[list[str] | None, typer.Argument(help="As listed.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="All that are listed.")] = False,
    redis_url: RedisUrl = None,
) -> None:
    """Queue submissions again."""
    with _desk(redis_url) as desk:
        letters = DeadLetters(SubmissionStore(desk.connection, desk.signer))
        listed = [letter.ref for letter in letters.list(_MOST_LISTED)] if everything else []
        count = letters.retry([*(submissions or ()), *listed])
        audit.record(desk.connection, "dead_letters_retried", str(count))
        typer.echo(f"{count} queued again")


def _audit(redis_url: RedisUrl = None) -> None:
    """List what operators did last."""
    table = Table("when", "who", "what", "with")
    with _desk(redis_url) as desk:
        for entry in audit.latest(desk.connection, _MOST_LISTED):
            table.add_row(_when(entry.at), entry.actor, entry.action, entry.subject)
    _print(table)


@contextmanager
def _desk(redis_url: str | None) -> Iterator[_Desk]:
    """Connects to the Redis asked for, or to the private one, running or not."""
    settings = Settings() if redis_url is None else Settings(redis_url=redis_url)
    try:
        with ExitStack() as stack:
            url = settings.redis_url or _private(settings, stack)
            if settings.signing_key is None and (settings.state_dir / "signing-key").exists():
                signer = Signer(local_key(settings.state_dir).encode())
            else:
                signer = Signer.of(settings)
            yield _Desk(stack.enter_context(connect(url, retries=0)), signer)
    except SandboxServiceError as error:
        typer.secho(f"{error}", fg="red", err=True)
        raise typer.Exit(1) from error


def _private(settings: Settings, stack: ExitStack) -> str:
    """Returns the address of the service's own Redis, which is started where none is running."""
    private = EmbeddedRedis(settings.state_dir)
    if not private.is_in_use():
        private.start()
        stack.callback(private.stop)
        local_key(settings.state_dir)
    return private.url


def _when(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _print(table: Table) -> None:
    console = Console()
    (console if console.is_terminal else Console(width=140)).print(table)
