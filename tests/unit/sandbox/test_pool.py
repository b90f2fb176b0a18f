"""Sandboxes kept warm: which one is taken, and when one is given up."""

import pytest

from sandbox_service.errors import EngineUnavailable, SandboxDied
from sandbox_service.sandbox.fake import FakeEngine, exits
from sandbox_service.sandbox.pool import Pool, memory_of
from sandbox_service.schema.limits import MIB, Limits
from sandbox_service.schema.run import (
    CompileRequest,
    Ending,
    Execution,
    RunKind,
    RunReport,
    RunRequest,
)
from sandbox_service.settings import Settings

FINE, HUNGRY, BROKEN = b"fine", b"hungry", b"broken"
PROGRAMS = {
    FINE: exits(stdout=b"fine"),
    HUNGRY: lambda _: RunReport(ending=Ending.MEMORY_LIMIT),
    BROKEN: exits(1),
}


@pytest.fixture
def make_pool():
    pools = []

    def make(engine, **settings):
        pools.append(Pool(engine, Settings(sandbox_spares=0, **settings)))
        return pools[-1]

    yield make
    for pool in pools:
        pool.close()


@pytest.fixture
def engine():
    return FakeEngine(PROGRAMS)


def execution(code=FINE, *, image="python", memory_bytes=256 * MIB, compiled=False) -> Execution:
    limits = Limits(memory_bytes=memory_bytes)
    step = CompileRequest(argv=("cc",), artifacts=("main",), limits=Limits(memory_bytes=512 * MIB))
    return Execution(
        image=image,
        source="main",
        files={"main": code},
        compile=step if compiled else None,
        runs=(RunRequest(kind=RunKind.EXEC, limits=limits),),
    )


def test_sandbox_is_used_again(make_pool, engine):
    pool = make_pool(engine)
    for _ in range(3):
        pool.execute(execution(), fresh=False)
    assert len(engine.started) == 1


def test_report_says_where_the_runs_took_place(make_pool, engine):
    report = make_pool(engine).execute(execution(), fresh=False)
    assert report.sandbox.engine == "fake"


def test_each_image_has_its_own_sandboxes(make_pool, engine):
    pool = make_pool(engine)
    for image in ("python", "native", "python"):
        pool.execute(execution(image=image), fresh=False)
    assert len(engine.started) == 2


def test_sandbox_asked_for_fresh_is_new_and_is_used_once(make_pool, engine):
    pool = make_pool(engine)
    pool.execute(execution(), fresh=False)
    pool.execute(execution(), fresh=True)
    pool.execute(execution(), fresh=False)
    pool.close()
    assert [len(sandbox.executions) for sandbox in engine.started] == [2, 1]


def test_engine_without_inner_walls_never_shares_a_sandbox(make_pool):
    engine = FakeEngine(PROGRAMS, is_single_use=True)
    pool = make_pool(engine)
    for _ in range(3):
        pool.execute(execution(), fresh=False)
    assert {len(sandbox.executions) for sandbox in engine.started} <= {0, 1}


def test_sandbox_is_given_up_after_its_number_of_executions(make_pool, engine):
    pool = make_pool(engine, sandbox_max_jobs=2)
    for _ in range(4):
        pool.execute(execution(), fresh=False)
    pool.close()
    assert sorted(len(sandbox.executions) for sandbox in engine.started)[-2:] == [2, 2]


def test_sandbox_is_given_up_after_the_kernel_ended_something_in_it(make_pool, engine):
    pool = make_pool(engine)
    pool.execute(execution(HUNGRY), fresh=False)
    pool.execute(execution(), fresh=False)
    pool.close()
    assert [len(each.executions) for each in engine.started if each.executions] == [1, 1]


def test_sandbox_that_died_is_closed_and_the_next_one_is_new(make_pool, engine):
    pool = make_pool(engine)
    pool.execute(execution(), fresh=False)
    engine.started[0].dies = True
    with pytest.raises(SandboxDied):
        pool.execute(execution(), fresh=False)
    assert pool.execute(execution(), fresh=False).runs[0].stdout == b"fine"


def test_memory_limit_follows_each_execution(make_pool, engine):
    pool = make_pool(engine)
    for megabytes in (64, 512):
        pool.execute(execution(memory_bytes=megabytes * MIB), fresh=False)
        assert engine.started[0].memory_bytes >= megabytes * MIB
    assert len(engine.started) == 1


def test_compile_step_has_its_own_memory_limit():
    assert memory_of(execution(compiled=True)) == 512 * MIB
    assert memory_of(execution(memory_bytes=64 * MIB)) == 64 * MIB


def test_same_code_is_compiled_once(make_pool, engine):
    pool = make_pool(engine)
    reports = [pool.execute(execution(compiled=True), fresh=False) for _ in range(3)]
    compiled = [each for each in engine.started[0].executions if each.compile is not None]
    assert len(compiled) == 1
    assert all(report.compile is not None and report.runs for report in reports)


def test_code_that_does_not_compile_is_not_run_and_not_remembered(make_pool, engine):
    pool = make_pool(engine)
    for _ in range(2):
        report = pool.execute(execution(BROKEN, compiled=True), fresh=False)
        assert (report.compile.exit_code, report.runs) == (1, ())
    assert len(engine.started[0].executions) == 2


def test_only_so_many_idle_sandboxes_are_kept(make_pool, engine):
    pool = make_pool(engine, sandbox_max_idle=1)
    for _ in range(3):
        pool.warm_up("python", 256 * MIB)
    pool.execute(execution(), fresh=False)
    pool.close()
    assert all(sandbox.is_closed for sandbox in engine.started)


def test_closing_the_pool_closes_every_sandbox(make_pool, engine):
    pool = make_pool(engine, sandbox_max_jobs=1)
    pool.execute(execution(), fresh=False)
    pool.execute(execution(image="native"), fresh=True)
    pool.close()
    assert engine.started
    assert all(sandbox.is_closed for sandbox in engine.started)


def test_image_that_is_not_there_is_an_error_of_ours(make_pool):
    pool = make_pool(FakeEngine(images=frozenset({"python"})))
    with pytest.raises(EngineUnavailable):
        pool.execute(execution(image="other"), fresh=False)


def test_looking_ahead_runs_in_one_sandbox_what_it_can_run_as_it_is(make_pool, engine):
    asked = [
        execution(),
        execution(compiled=True),
        execution(memory_bytes=512 * MIB),
        execution(image="native"),
        execution(BROKEN),
    ]
    found = make_pool(engine).look_ahead(asked)()
    assert [report and report.runs[0].exit_code for report in found] == [0, None, None, None, 1]
    assert len(engine.started) == 1


def test_looking_ahead_ends_where_the_sandbox_is_in_doubt(make_pool, engine):
    found = make_pool(engine).look_ahead([execution(HUNGRY), execution()])()
    assert found[0].runs[0].ending is Ending.MEMORY_LIMIT
    assert found[1] is None
    assert engine.started[0].is_closed


def test_nothing_is_looked_at_ahead_where_each_needs_a_sandbox_of_its_own(make_pool):
    engine = FakeEngine(PROGRAMS, is_single_use=True)
    assert make_pool(engine).look_ahead([execution()] * 2)() == [None, None]
    assert engine.started == []


def test_what_was_begun_is_waited_for_before_anything_else_is_run(make_pool, engine):
    pool = make_pool(engine)
    first = pool.look_ahead([execution()] * 2)
    second = pool.look_ahead([execution(BROKEN)] * 2)
    pool.execute(execution(), fresh=False)
    assert [report.runs[0].exit_code for report in first() + second()] == [0, 0, 1, 1]
    assert len(engine.started) == 1


def test_sandbox_that_dies_while_others_wait_is_no_loss_and_replaced(make_pool, engine):
    pool = make_pool(engine)
    gather = pool.look_ahead([execution()] * 2)
    engine.started[0].dies = True
    assert pool.execute(execution(), fresh=False).runs[0].exit_code == 0
    assert gather() == [None, None]
    assert engine.started[0].is_closed


def test_closing_the_pool_does_not_wait_for_what_was_begun(make_pool, engine):
    pool = make_pool(engine)
    pool.look_ahead([execution()] * 2)
    pool.close()
    assert engine.started[0].is_closed
    assert engine.started[0].executions == []


def test_figures_count_what_is_open_started_and_lost(make_pool, engine):
    pool = make_pool(engine)
    pool.execute(execution(), fresh=False)
    pool.execute(execution(image="native"), fresh=False)
    engine.started[0].dies = True
    with pytest.raises(SandboxDied):
        pool.execute(execution(), fresh=False)
    assert pool.figures() == (1, 2, 1)
    pool.close()
    assert pool.figures().open == 0
