"""`python -m sandbox_service.worker [NAME]`: one worker, as the supervisor starts it."""

import os
import signal
import sys
import threading
import time

from sandbox_service.errors import SettingsError
from sandbox_service.settings import Settings
from sandbox_service.telemetry.logging import configure_logging
from sandbox_service.worker.boot import build_pipeline
from sandbox_service.worker.process import run_worker

_PARENT_POLL_S = 1.0


def _end_with_parent() -> None:
    """Drains when the supervisor is gone, however it went."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PARENT_POLL_S)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def main() -> None:
    """Runs until told to stop."""
    settings = Settings()
    configure_logging(settings.log_format, settings.log_level)
    if settings.redis_url is None:
        raise SettingsError("SANDBOX_REDIS_URL is not set")
    _end_with_parent()
    name = sys.argv[1] if len(sys.argv) > 1 else None
    run_worker(settings, settings.redis_url, build_pipeline, name=name)


if __name__ == "__main__":
    main()
