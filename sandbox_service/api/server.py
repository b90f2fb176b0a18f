"""Serves the application with uvicorn on a socket that is bound before anything else."""

import socket
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from sandbox_service.api.routes.events import end_streams
from sandbox_service.errors import SettingsError

_BACKLOG = 2048
_KEEP_ALIVE_S = 75
_DRAIN_S = 5


def bind(host: str, port: int) -> socket.socket:
    """Returns a bound socket; port 0 takes a free one.

    Raises:
        SettingsError: the address cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise SettingsError(f"cannot listen on {host}:{port}: {error.strerror}") from error
    return listener


def url_of(listener: socket.socket) -> str:
    """Returns the address that a client on this machine can use."""
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"


class _Server(uvicorn.Server):
    def __init__(
        self,
        config: uvicorn.Config,
        on_ready: Callable[[], None],
        on_stopping: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._on_ready = on_ready
        self._on_stopping = on_stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_stopping()
        await super().shutdown(sockets)


def run_api(app: FastAPI, listener: socket.socket, on_ready: Callable[[], None]) -> None:
    """Serves until SIGINT or SIGTERM, and lets requests end that are nearly done."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="on",
        backlog=_BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_DRAIN_S,
    )
    _Server(config, on_ready, lambda: end_streams(app)).run(sockets=[listener])
