"""The application: routes, errors, and the layers that every request passes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI

from sandbox_service.api.auth import Authentication, check_binding, is_loopback
from sandbox_service.api.compat import routing
from sandbox_service.api.documents import install_documents
from sandbox_service.api.errors import install_error_handlers
from sandbox_service.api.instrumentation import Instrumentation
from sandbox_service.api.limits import BodyLimits
from sandbox_service.api.routes import (
    batches,
    dashboard,
    events,
    health,
    languages,
    queues,
    rewards,
    submissions,
    suites,
)
from sandbox_service.api.service import Service
from sandbox_service.languages import LanguageTable
from sandbox_service.queue.api_keys import ApiKeyReader, has_keys
from sandbox_service.queue.batches import Batches
from sandbox_service.queue.broker import Broker
from sandbox_service.queue.connection import connect
from sandbox_service.queue.signing import Signer
from sandbox_service.settings import Settings
from sandbox_service.telemetry.metrics import HttpMetrics
from sandbox_service.telemetry.tracing import tracing_to

_ROUTERS = (
    submissions.router,
    rewards.router,
    batches.router,
    suites.router,
    languages.router,
    queues.router,
    health.router,
    events.router,
    dashboard.router,
    routing.router,
)


def create_app(settings: Settings, languages: LanguageTable, redis_url: str) -> FastAPI:
    """Makes the application; its lifespan opens and closes the connections to Redis.

    Raises:
        SettingsError: it would listen on a public address without an API key.
    """
    check_binding(settings, has_stored_keys=_has_stored_keys(settings, redis_url))
    signer = Signer.of(settings)
    broker = Broker(settings, redis_url, signer)
    tracing = tracing_to(settings.otlp_endpoint, "api")
    service = Service(settings, languages, broker, Batches(broker), HttpMetrics(), tracing)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.broker.start()
        yield
        await service.broker.stop()

    app = FastAPI(
        title="sandbox-service",
        summary="Code and tests in, a reward out.",
        version=version("sandbox-service"),
        lifespan=lifespan,
        redoc_url=None,
    )
    app.state.service = service
    for router in (*_ROUTERS, *routing.routers_on(settings)):
        app.include_router(router)
    install_error_handlers(app)
    install_documents(app)
    # The last one added is the first that a request meets.
    app.add_middleware(BodyLimits, settings=settings)
    app.add_middleware(Authentication, settings=settings, stored=ApiKeyReader(broker.redis, signer))
    app.add_middleware(Instrumentation, metrics=service.metrics)
    return app


def _has_stored_keys(settings: Settings, redis_url: str) -> bool:
    """Tells whether keys were made by command, where the answer decides about starting."""
    if is_loopback(settings.host) or settings.api_keys:
        return False
    with connect(redis_url, retries=0) as connection:
        return has_keys(connection)
