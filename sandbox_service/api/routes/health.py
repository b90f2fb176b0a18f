"""`/healthz`, `/readyz` and `/metrics`: for orchestrators and Prometheus."""

from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST

from sandbox_service.api.documents import problems
from sandbox_service.api.service import service_of
from sandbox_service.errors import NoWorkers
from sandbox_service.schema.base import Model

router = APIRouter(tags=["health"])


class Health(Model):
    """The process answers."""

    status: Literal["ok"] = "ok"
    """Always `ok`."""


class Readiness(Model):
    """Submissions are taken and worked on."""

    status: Literal["ready"] = "ready"
    """Always `ready`."""

    workers: int
    """Workers alive."""


@router.get("/healthz")
async def healthz() -> Health:
    """Tell that this process answers."""
    return Health()


@router.get("/readyz", responses=problems(503))
async def readyz(request: Request) -> Readiness:
    """Tell that Redis answers and at least one worker is alive."""
    broker = service_of(request).broker
    workers = max(queue.workers for queue in await broker.queue_states())
    if workers == 0:
        reason = await broker.unready_reason()
        raise NoWorkers(f"no worker can run anything: {reason}" if reason else "no worker is alive")
    return Readiness(workers=workers)


@router.get("/metrics", response_class=Response, responses=problems(503))
async def metrics(request: Request) -> Response:
    """Give every metric in the text format of Prometheus."""
    service = service_of(request)
    counters = await service.broker.counters()
    queues = await service.broker.queue_states()
    text = service.metrics.render(counters, queues, await service.broker.sandboxes())
    return Response(text, media_type=CONTENT_TYPE_LATEST)
