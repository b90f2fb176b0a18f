"""An application on a port of this machine, in a thread; it can be stopped and started again."""

import socket
import threading
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI


class Served:
    """Keeps its port over restarts, as a service behind a fixed address does."""

    def __init__(self, make_app: Callable[[], FastAPI]) -> None:
        self._make_app = make_app
        self._port = 0
        self._server: uvicorn.Server | None = None
        self._thread = threading.Thread()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def is_stopping(self) -> bool:
        return self._server is None or self._server.should_exit

    def start(self) -> None:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self._port))
        # Whoever comes before the server is up waits for it.
        listener.listen()
        self._port = listener.getsockname()[1]
        config = uvicorn.Config(self._make_app(), log_config=None, timeout_graceful_shutdown=0)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([listener],))
        self._thread.start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.should_exit = True
            self._thread.join()
            self._server = None
