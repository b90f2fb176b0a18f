"""The application: routes, errors, and the layers that every request passes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI

from sandbox_service.api.auth import Authentication, check_binding
from sandbox_service.api.documents import install_documents
from sandbox_service.api.errors import install_error_handlers
from sandbox_service.api.instrumentation import Instrumentation
from sandbox_service.api.limits import BodyLimits
from sandbox_service.api.routes import health, languages, queues, rewards, submissions, suites
from sandbox_service.api.service import Service
from sandbox_service.languages import LanguageTable
from sandbox_service.queue.broker import Broker
from sandbox_service.settings import Settings
from sandbox_service.telemetry.metrics import HttpMetrics

_ROUTERS = (
    submissions.router,
    rewards.router,
    suites.router,
    languages.router,
    queues.router,
    health.router,
)


def create_app(settings: Settings, languages: LanguageTable, redis_url: str) -> FastAPI:
    """Makes the application; its lifespan opens and closes the connections to Redis.

    Raises:
        SettingsError: it would listen on a public address without an API key.
    """
    check_binding(settings)
    service = Service(settings, languages, Broker(settings, redis_url), HttpMetrics())

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
    for router in _ROUTERS:
        app.include_router(router)
    install_error_handlers(app)
    install_documents(app)
    # The last one added is the first that a request meets.
    app.add_middleware(BodyLimits, max_body_bytes=settings.max_body_bytes)
    app.add_middleware(Authentication, settings=settings)
    app.add_middleware(Instrumentation, metrics=service.metrics)
    return app
