"""What every engine keeps to: the fake one that tests use, containers, and local jails."""

import os

import pytest

from sandbox_service.doctor.engines import examine_docker, try_engine
from sandbox_service.doctor.finding import State
from sandbox_service.errors import SandboxDied
from sandbox_service.sandbox.fake import FakeEngine, exits
from sandbox_service.sandbox.local import LocalEngine
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
from sandbox_service.worker.boot import find_engine

pytestmark = pytest.mark.timeout(120)

ECHO, FAIL, CRASH = b"print(input())", b"raise SystemExit(7)", b"import os; os.kill(os.getpid(), 9)"
FLOOD, SLEEP = b"while True: print('x' * 1000)", b"import time; time.sleep(60)"
PROGRAMS = {
    ECHO: lambda run: RunReport(ending=Ending.EXITED, exit_code=0, stdout=run.stdin),
    FAIL: exits(7),
    CRASH: lambda _: RunReport(ending=Ending.SIGNALED, signal=9),
    FLOOD: exits(stdout=b"x" * 2 * MIB),
    SLEEP: lambda _: RunReport(ending=Ending.WALL_LIMIT),
}
ENGINES = ["fake", "local", pytest.param("docker", marks=pytest.mark.docker)]


@pytest.fixture(scope="module", params=ENGINES)
def engine(request):
    if request.param == "fake":
        yield FakeEngine(PROGRAMS)
        return
    settings = Settings(engine=request.param)
    findings = (
        examine_docker(settings)
        if request.param == "docker"
        else [try_engine("local engine", LocalEngine, settings, advice="see the doctor")]
    )
    missing = [each for each in findings if each.state is State.MISSING]
    if missing:
        reason = "; ".join(f"{each.topic}: {each.found}" for each in missing)
        if request.param in os.environ.get("SANDBOX_TEST_REQUIRE", "").split():
            pytest.fail(f"{request.param} is required: {reason}")
        pytest.skip(reason)
    engine = find_engine(settings)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def sandbox(engine):
    sandbox = engine.start("python", memory_bytes=256 * MIB)
    yield sandbox
    sandbox.close()


def execution(code: bytes, *inputs: bytes, **fields) -> Execution:
    limits = fields.pop("limits", Limits())
    runs = tuple(RunRequest(kind=RunKind.PYTHON, stdin=data, limits=limits) for data in inputs)
    body = {"image": "python", "source": "main.py", "files": {"main.py": code}, "runs": runs}
    return Execution(**body | fields)


def compiling(code: bytes, *inputs: bytes) -> Execution:
    argv = ("python3", "-c", "exec(open('main.py').read())")
    step = CompileRequest(argv=argv, artifacts=("main.py",), limits=Limits())
    return execution(code, *inputs, compile=step, env={"PATH": "/usr/bin:/bin"})


def test_sandbox_says_which_engine_started_it(engine, sandbox):
    assert sandbox.info.engine == engine.name


def test_every_run_has_a_report_in_the_order_asked(sandbox):
    runs = sandbox.execute(execution(ECHO, b"a\n", b"b\n", b"c\n")).runs
    assert [run.stdout for run in runs] == [b"a\n", b"b\n", b"c\n"]


def test_execution_without_runs_has_no_reports(sandbox):
    assert sandbox.execute(execution(ECHO)).runs == ()


def test_exit_code_of_the_program_is_reported(sandbox):
    (run,) = sandbox.execute(execution(FAIL, b"")).runs
    assert (run.ending, run.exit_code, run.signal) == (Ending.EXITED, 7, None)


def test_signal_of_the_program_is_reported(sandbox):
    (run,) = sandbox.execute(execution(CRASH, b"")).runs
    assert (run.ending, run.exit_code, run.signal) == (Ending.SIGNALED, None, 9)


def test_output_over_its_limit_ends_the_run_and_is_cut(sandbox):
    (run,) = sandbox.execute(execution(FLOOD, b"", limits=Limits(output_bytes=1000))).runs
    assert (run.ending, len(run.stdout)) == (Ending.OUTPUT_LIMIT, 1000)


def test_wall_limit_ends_a_run_that_sleeps(sandbox):
    (run,) = sandbox.execute(execution(SLEEP, b"", limits=Limits(wall_time_s=0.2))).runs
    assert run.ending is Ending.WALL_LIMIT


def test_run_that_ends_badly_leaves_the_sandbox_usable(sandbox):
    runs = sandbox.execute(execution(CRASH, b"", b"")).runs
    assert len(runs) == 2
    assert sandbox.execute(execution(ECHO, b"on\n")).runs[0].stdout == b"on\n"


def test_executions_one_after_the_other_are_each_reported(sandbox):
    asked = [execution(ECHO, b"a\n"), execution(FAIL, b"", b""), execution(ECHO, b"b\n")]
    reports = sandbox.begin_all(asked, patience_s=60.0)()
    assert [[run.stdout for run in report.runs] for report in reports] == [
        [b"a\n"],
        [b"", b""],
        [b"b\n"],
    ]


def test_execution_that_does_not_fit_does_not_lose_the_others(sandbox):
    large = execution(ECHO, b"x" * 100_000 + b"\n")
    asked = [large, execution(ECHO, b"b\n"), large]
    reports = sandbox.begin_all(asked, patience_s=60.0)()
    assert [len(report.runs[0].stdout) for report in reports] == [100_001, 2, 100_001]


def test_what_waits_too_long_for_one_before_it_is_skipped(engine, sandbox):
    slow = execution(SLEEP, b"", limits=Limits(wall_time_s=0.3))
    first, second = sandbox.begin_all([slow, execution(ECHO, b"a\n")], patience_s=0.1)()
    assert first.runs[0].ending is Ending.WALL_LIMIT
    assert second is None or engine.name == "fake"


def test_compile_step_that_fails_keeps_the_runs_from_taking_place(sandbox):
    report = sandbox.execute(compiling(FAIL, b"", b""))
    assert (report.compile.exit_code, report.runs, report.artifacts) == (7, (), {})


def test_compile_step_that_succeeds_hands_out_its_artifacts(sandbox):
    report = sandbox.execute(compiling(b"pass", b""))
    assert (report.compile.ending, report.compile.exit_code) == (Ending.EXITED, 0)
    assert list(report.artifacts) == ["main.py"]
    assert len(report.runs) == 1


def test_memory_limit_can_be_changed_between_runs(sandbox):
    sandbox.set_memory(512 * MIB)
    sandbox.set_memory(128 * MIB)
    assert sandbox.execute(execution(ECHO, b"still\n")).runs[0].stdout == b"still\n"


def test_closed_sandbox_runs_nothing(engine):
    sandbox = engine.start("python", memory_bytes=256 * MIB)
    sandbox.close()
    with pytest.raises(SandboxDied):
        sandbox.execute(execution(ECHO, b"x\n"))


def test_closing_twice_does_no_harm(engine):
    sandbox = engine.start("python", memory_bytes=256 * MIB)
    sandbox.close()
    sandbox.close()


def test_nothing_is_left_to_reap_of_a_worker_that_is_alive(engine, sandbox):
    engine.reap()
    assert sandbox.execute(execution(ECHO, b"here\n")).runs[0].stdout == b"here\n"


def test_artifacts_named_by_their_ending_are_all_kept_and_links_are_not(sandbox, engine):
    if engine.name == "fake":
        pytest.skip("the fake engine compiles nothing")
    code = """
import os
os.makedirs("a/b")
for path in ("x.class", "a/b/y.class", "z.java"):
    open(path, "w").write(path)
os.symlink("/etc", "c")
os.symlink("x.class", "link.class")
"""
    step = CompileRequest(
        argv=("python3", "make.py"), artifacts=("*.class", "z.java"), limits=Limits()
    )
    fields = {"compile": step, "env": {"PATH": "/usr/bin:/bin"}, "source": "make.py"}
    report = sandbox.execute(execution(b"", files={"make.py": code.encode()}, **fields))
    assert report.artifacts == {
        path: path.encode() for path in ("x.class", "a/b/y.class", "z.java")
    }
