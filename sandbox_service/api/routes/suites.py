"""`/v1/suites`: tests that are sent once and referred to by their digest."""

from fastapi import APIRouter, Request

from sandbox_service.api.bodies import read_model
from sandbox_service.api.documents import problems, takes
from sandbox_service.api.service import service_of
from sandbox_service.queue.connection import redis_errors
from sandbox_service.queue.suites import Suite, SuiteRef, store_suite

router = APIRouter(prefix="/v1/suites", tags=["suites"])


@router.put("", responses=problems(400, 413, 415, 422, 503), openapi_extra=takes(Suite))
async def put_suite(request: Request) -> SuiteRef:
    """Store tests; the same tests have the same digest.

    A suite is kept for a week after it was last stored or used.
    """
    service = service_of(request)
    suite = await read_model(request, Suite)
    service.check_kinds(suite.tests)
    with redis_errors():
        return await store_suite(service.broker.redis, suite)
