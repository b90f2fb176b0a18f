"""Removes containers whose worker is gone."""

import contextlib

import docker
import docker.errors
import requests.exceptions
import structlog

from sandbox_service.sandbox.hardening import LABEL_INSTANCE, LABEL_OWNER
from sandbox_service.sandbox.owner import is_gone

_log = structlog.get_logger(__name__)


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
