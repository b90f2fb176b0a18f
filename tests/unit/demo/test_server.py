import os

import httpx
import pytest

from sandbox_service.demo import server
from sandbox_service.errors import ServiceError

HTTP_SERVER = """
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
class Ready(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *_):
        pass
HTTPServer(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])), Ready).serve_forever()
"""


def serve_by(monkeypatch, source):
    monkeypatch.setattr(server, "_SERVE", (server.sys.executable, "-c", source))


def test_running_service_gives_its_address_and_ends_it(monkeypatch, tmp_path):
    serve_by(monkeypatch, HTTP_SERVER)
    with server.running_service(tmp_path, os.environ) as address:
        assert httpx.get(f"{address}/readyz", trust_env=False).is_success
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{address}/readyz", trust_env=False)


def test_running_service_that_ends_at_start_raises_with_its_log(monkeypatch, tmp_path):
    serve_by(monkeypatch, "import sys; sys.exit('no engine works here')")
    with (
        pytest.raises(ServiceError, match=r"(?s)ended at start.*no engine works here"),
        server.running_service(tmp_path, os.environ),
    ):
        pass


def test_running_service_that_is_never_ready_raises_and_is_ended(monkeypatch, tmp_path):
    serve_by(monkeypatch, "import time; time.sleep(600)")
    monkeypatch.setattr(server, "_START_TIMEOUT_S", 0.0)
    with (
        pytest.raises(ServiceError, match="not ready in time"),
        server.running_service(tmp_path, os.environ),
    ):
        pass
