"""`/v1/queues`: what waits, what runs, who works."""

from fastapi import APIRouter, Request

from sandbox_service.api.documents import problems
from sandbox_service.api.service import service_of
from sandbox_service.schema.base import Model
from sandbox_service.schema.job import QueueState

router = APIRouter(prefix="/v1/queues", tags=["queues"])


class QueueList(Model):
    """Every queue."""

    queues: tuple[QueueState, ...]
    """In order of priority."""


@router.get("", responses=problems(503))
async def queues(request: Request) -> QueueList:
    """Count submissions and workers."""
    return QueueList(queues=tuple(await service_of(request).broker.queue_states()))
