"""The self-test's attacks: every wall holds, and without the wall its attack says so."""

import pytest

from sandbox_service.errors import WallBroken
from sandbox_service.sandbox.pool import Pool
from sandbox_service.sandbox.selftest import WITH_LIMITS, breaches, require_walls
from sandbox_service.settings import Settings
from sandbox_service.worker.boot import build_pipeline, find_engine
from tests.security import weakened as holes

IMAGE = "python"
BY_NAME = {attack.name: attack for attack in WITH_LIMITS}
# Each wall, and what has to be taken out before its attack gets through. Several stand behind
# one another: the first that is left holds.
HOLES = {
    "posture": [holes.KEPT_RIGHTS],
    "environment": [holes.KEPT_STATUS],
    "init": [holes.LATE_INIT, holes.DUMPABLE],
    "files": [holes.WRITABLE_ROOT],
    "namespaces": [holes.NO_FILTER, holes.NO_LANDLOCK],
    "kernel": [holes.NO_FILTER],
    "proc": [holes.OPEN_PROC],
    "leftovers": [holes.SHARED_IPC],
    "forks": [holes.NO_PROCESS_LIMIT],
    "disk": [holes.BIG_DISK],
    "output": [holes.ENDLESS_OUTPUT],
}

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def pool(settings, canaries):
    engine = find_engine(settings)
    pool = Pool(engine, settings)
    yield pool
    pool.close()
    engine.close()


@pytest.fixture
def weak(settings: Settings, tmp_path):
    """Settings of the same engine with a runner that has holes."""

    def make(*replacements: holes.Replacement) -> Settings:
        runners = holes.weakened(tmp_path, *replacements)
        return settings.model_copy(update={"runners_dir": runners})

    return make


def attacks_through(settings: Settings, name: str) -> list[str]:
    engine = find_engine(settings)
    pool = Pool(engine, settings)
    try:
        return [breach.detail for breach in breaches(pool, IMAGE, [BY_NAME[name]])]
    finally:
        pool.close()
        engine.close()


@pytest.mark.parametrize("name", BY_NAME)
def test_wall_holds(pool, name):
    assert breaches(pool, IMAGE, [BY_NAME[name]]) == []


@pytest.mark.parametrize("name", HOLES)
def test_attack_gets_through_where_its_wall_is_missing(weak, name):
    (detail,) = attacks_through(weak(*HOLES[name]), name)
    assert "LEAK:" in detail or "instead of" in detail


def test_attack_on_ports_gets_through_where_the_kernel_remembers_them(weak):
    (detail,) = attacks_through(weak(holes.REMEMBERED_PORTS), "leftovers")
    assert "Address already in use" in detail


def test_init_is_closed_already_while_it_is_still_being_made(weak):
    assert attacks_through(weak(holes.LATE_INIT), "init") == []


def test_copy_without_holes_holds(weak):
    assert attacks_through(weak(), "posture") == []


def test_worker_refuses_to_start_where_a_wall_is_missing(weak):
    with pytest.raises(WallBroken, match=r"kernel \(programs do not reach"):
        build_pipeline(weak(holes.NO_FILTER, holes.NO_LANDLOCK))


def test_worker_starts_with_a_hole_only_where_the_self_test_is_off(weak):
    settings = weak(holes.OPEN_PROC).model_copy(update={"self_test": False})
    build_pipeline(settings).close()


def test_message_names_every_wall_that_does_not_hold(weak):
    engine = find_engine(settings := weak(holes.OPEN_PROC, holes.KEPT_RIGHTS))
    pool = Pool(engine, settings)
    try:
        with pytest.raises(WallBroken, match=r"posture .*; .*proc "):
            require_walls(pool, IMAGE)
    finally:
        pool.close()
        engine.close()
