"""The command line: it builds the settings and wires the parts, nothing else."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, NoReturn

import structlog
import typer
from pydantic import SecretStr

from sandbox_service import administration, commands
from sandbox_service.api.app import create_app
from sandbox_service.api.server import bind, run_api, url_of
from sandbox_service.errors import SandboxServiceError, SettingsError
from sandbox_service.languages import load_languages
from sandbox_service.queue.embedded import EmbeddedRedis
from sandbox_service.queue.signing import local_key
from sandbox_service.settings import Settings
from sandbox_service.telemetry.logging import configure_logging
from sandbox_service.worker.boot import build_pipeline, find_engine
from sandbox_service.worker.process import run_worker
from sandbox_service.worker.supervisor import Crew, environment_of

_log = structlog.get_logger(__name__)
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_TEND_S = 0.1
_EXAMPLE = (
    '{"language": "python", "code": "print(sum(map(int, input().split())))", '
    '"tests": [{"stdin": "1 2", "expected_stdout": "3"}]}'
)
_WORKERS_STOP_S = 10.0
_ISOLATION = {
    "docker": "containers without network or capabilities; inside, namespaces for each run",
    "local": "bubblewrap jails without network; inside, namespaces for each run",
}

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__)
commands.register(app)
administration.register(app)

Host = Annotated[str | None, typer.Option(help="Address to listen on.")]
Port = Annotated[int | None, typer.Option(help="Port to listen on; 0 takes a free one.")]
RedisUrl = Annotated[str | None, typer.Option(help="Redis to use.")]
Engine = Annotated[str | None, typer.Option(help="auto, docker or local")]


def _settings(**options: Any) -> Settings:
    given = {name: value for name, value in options.items() if value is not None}
    settings = Settings(**given)
    configure_logging(settings.log_format, settings.log_level)
    return settings


@contextmanager
def _told_in_words() -> Iterator[None]:
    try:
        yield
    except SandboxServiceError as error:
        typer.secho(f"{error}", fg="red", err=True)
        raise typer.Exit(1) from error


def _stop(*_: object) -> NoReturn:
    raise SystemExit(0)


def _needs_redis(settings: Settings) -> str:
    if settings.redis_url is None:
        raise SettingsError("which Redis? Give --redis-url or set SANDBOX_REDIS_URL")
    return settings.redis_url


@app.command()
def serve(
    host: Host = None,
    port: Port = None,
    workers: Annotated[int | None, typer.Option(help="Worker processes; one per core.")] = None,
    engine: Engine = None,
    redis_url: RedisUrl = None,
) -> None:
    """Start everything in one command: Redis if none is given, workers, the API."""
    with _told_in_words():
        settings = _settings(
            host=host, port=port, workers=workers, engine=engine, redis_url=redis_url
        )
        settings = _with_signing_key(_with_engine(settings))
        for number in _STOP_SIGNALS:
            signal.signal(number, _stop)
        with _redis(settings) as private:
            _serve(settings, private)


def _with_engine(settings: Settings) -> Settings:
    """Chooses the engine once, so that every worker uses the same and no restart changes it."""
    engine = find_engine(settings)
    engine.close()
    typer.echo(f"engine   {engine.name}: {_ISOLATION.get(engine.name, engine.name)}")
    chosen = settings.model_copy(update={"engine": engine.name})
    if chosen.self_test:  # each worker tests its own; this is for not even listening
        build_pipeline(chosen).close()
    return chosen


def _with_signing_key(settings: Settings) -> Settings:
    """Makes sure that what this service writes into Redis is signed."""
    if settings.signing_key is not None:
        return settings
    key = SecretStr(local_key(settings.state_dir))
    return settings.model_copy(update={"signing_key": key})


@contextmanager
def _redis(settings: Settings) -> Iterator[EmbeddedRedis | None]:
    if settings.redis_url is not None:
        typer.echo(f"redis    {settings.redis_url}")
        yield None
        return
    private = EmbeddedRedis(settings.state_dir)
    try:
        private.start()
        typer.echo(f"redis    private, append-only in {settings.state_dir.absolute()}")
        yield private
    finally:
        private.stop()


def _invite(settings: Settings, url: str) -> None:
    key = "-H 'Authorization: Bearer KEY' " if settings.api_keys else ""
    typer.echo(f"ready    {url}")
    typer.echo(f"try      curl -s '{url}/v1/submissions?wait=30' {key}-d '{_EXAMPLE}'")


def _serve(settings: Settings, private: EmbeddedRedis | None) -> None:
    url = private.url if private is not None else _needs_redis(settings)
    application = create_app(settings, load_languages(settings.images_dir), url)
    listener = bind(settings.host, settings.port)
    size = settings.workers or len(os.sched_getaffinity(0))
    crew = Crew(
        lambda name: [sys.executable, "-m", "sandbox_service.worker", name],
        environment_of(settings, url),
        size=size,
        redis_url=url,
    )
    stopping = threading.Event()

    def tend() -> None:
        while not stopping.wait(_TEND_S):
            try:
                if private is not None:
                    private.ensure_alive()
                crew.tend()
            except (SandboxServiceError, OSError) as error:
                _log.error("supervision_failed", reason=str(error))

    tending = threading.Thread(target=tend, name="supervisor", daemon=True)
    try:
        crew.tend()
        tending.start()
        typer.echo(f"workers  {size}")
        run_api(application, listener, lambda: _invite(settings, url_of(listener)))
    finally:
        for number in _STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        stopping.set()
        if tending.is_alive():
            tending.join()
        crew.stop(_WORKERS_STOP_S)
        _remove_leftovers(settings)


def _remove_leftovers(settings: Settings) -> None:
    """Removes what workers that had to be killed could not remove themselves."""
    try:
        engine = find_engine(settings)
        engine.reap()
        engine.close()
    except SandboxServiceError as error:
        _log.warning("leftovers_not_removed", reason=str(error))


@app.command()
def api(host: Host = None, port: Port = None, redis_url: RedisUrl = None) -> None:
    """Start the API alone."""
    with _told_in_words():
        settings = _settings(host=host, port=port, redis_url=redis_url)
        url = _needs_redis(settings)
        application = create_app(settings, load_languages(settings.images_dir), url)
        listener = bind(settings.host, settings.port)
        run_api(application, listener, lambda: typer.echo(f"ready    {url_of(listener)}"))


@app.command()
def worker(redis_url: RedisUrl = None, engine: Engine = None) -> None:
    """Start one worker."""
    with _told_in_words():
        settings = _settings(redis_url=redis_url, engine=engine)
        run_worker(settings, _needs_redis(settings), build_pipeline)


if __name__ == "__main__":
    app()
