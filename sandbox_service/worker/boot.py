"""Puts a worker's stages together: the engine that the settings ask for, the pool, the pipeline."""

import structlog

from sandbox_service.errors import EngineUnavailable
from sandbox_service.languages import load_languages
from sandbox_service.sandbox.base import Engine
from sandbox_service.sandbox.daemon import connect
from sandbox_service.sandbox.docker import DockerEngine
from sandbox_service.sandbox.images import missing
from sandbox_service.sandbox.local import LocalEngine
from sandbox_service.sandbox.pool import Pool
from sandbox_service.sandbox.selftest import WITH_LIMITS, Breach, breaches, require_walls
from sandbox_service.schema.limits import Limits
from sandbox_service.settings import Settings
from sandbox_service.worker.pipeline import Pipeline

_log = structlog.get_logger(__name__)
_FIRST_LANGUAGE = "python"


def find_engine(settings: Settings) -> Engine:
    """Returns the engine asked for; `auto` takes Docker if it can, else the local one.

    Raises:
        EngineUnavailable: the engine asked for, or every engine, cannot start sandboxes here.
    """
    if settings.engine == "local":
        return LocalEngine(settings)
    if settings.engine == "docker":
        return DockerEngine(settings)
    try:
        _check_images(settings)
        return DockerEngine(settings)
    except EngineUnavailable:
        return LocalEngine(settings)


def _check_images(settings: Settings) -> None:
    """Makes sure that a daemon could run every language.

    Raises:
        EngineUnavailable: no daemon answers, or images are not built.
    """
    client = connect(settings)
    try:
        absent = missing(client, settings)
    finally:
        client.close()
    if absent:
        raise EngineUnavailable(f"images not built: {', '.join(absent)}")


def build_pipeline(settings: Settings) -> Pipeline:
    """Returns a pipeline whose first sandbox is warm.

    Raises:
        EngineUnavailable: no sandbox can be started here.
        WallBroken: an attack of the self-test was not held.
    """
    languages = load_languages(settings.images_dir)
    engine = find_engine(settings)
    engine.reap()
    pool = Pool(engine, settings)
    image = languages.get(_FIRST_LANGUAGE).image
    try:
        pool.warm_up(image, Limits().memory_bytes)
        if settings.self_test:
            require_walls(pool, image)
    except BaseException:
        pool.close()
        engine.close()
        raise
    _log.info("pipeline_built", engine=engine.name)
    return Pipeline(
        languages,
        pool,
        allow_shared_process=settings.allow_shared_process,
        allow_exit_code_tests=settings.allow_exit_code_tests,
    )


def attack(settings: Settings) -> list[Breach]:
    """Attacks a sandbox of the engine that the settings ask for; returns what was not held.

    Raises:
        SandboxError: no sandbox could run the attacks.
    """
    engine = find_engine(settings)
    pool = Pool(engine, settings)
    try:
        image = load_languages(settings.images_dir).get(_FIRST_LANGUAGE).image
        return breaches(pool, image, WITH_LIMITS)
    finally:
        pool.close()
        engine.close()
