"""Removes containers whose worker is gone.

A worker labels its containers with the host, its process id and the time at which that process
started: another process with the same id has another start.
"""

import contextlib
import os
import socket
from pathlib import Path

import docker
import docker.errors
import requests.exceptions
import structlog

from sandbox_service.sandbox.hardening import LABEL_INSTANCE, LABEL_OWNER

_log = structlog.get_logger(__name__)
_START_TIME_FIELD = 19  # of /proc/<pid>/stat behind the command's name; proc(5), field 22


def owner_of_this_process() -> str:
    """Returns the label of what this process starts."""
    return f"{socket.gethostname()}:{os.getpid()}:{_started(os.getpid())}"


def _started(pid: int) -> str | None:
    """Returns when a process started, in clock ticks after boot; None if there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()[_START_TIME_FIELD]


def is_gone(owner: str) -> bool:
    """Tells whether an owner was a process of this host and is no more."""
    host, pid, started = owner.rsplit(":", 2) if owner.count(":") >= 2 else ("", "", "")
    if host != socket.gethostname() or not pid.isdigit():
        return False
    return _started(int(pid)) != started


def reap(client: docker.APIClient, instance: str) -> int:
    """Removes this service's containers whose owner is gone; returns how many."""
    removed = 0
    filters = {"label": f"{LABEL_INSTANCE}={instance}"}
    for container in client.containers(all=True, filters=filters):
        if is_gone(container["Labels"].get(LABEL_OWNER, "")):
            with contextlib.suppress(docker.errors.APIError, requests.exceptions.RequestException):
                client.remove_container(container["Id"], force=True, v=True)
                removed += 1
    if removed:
        _log.warning("containers_reaped", containers=removed)
    return removed
