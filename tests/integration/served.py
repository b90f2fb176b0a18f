"""An API on a free port, or on a given one: `served.py REDIS_URL [PORT]`; prints its address."""

import sys

from sandbox_service.api.app import create_app
from sandbox_service.api.server import bind, run_api, url_of
from sandbox_service.settings import Settings
from sandbox_service.telemetry.logging import configure_logging
from tests.factories import make_languages


def _tell(address: str) -> None:
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    url, port = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
    configure_logging("console", "error")
    listener = bind("127.0.0.1", port)
    app = create_app(Settings(max_wait_s=60.0), make_languages(), url)
    run_api(app, listener, lambda: _tell(url_of(listener)))
