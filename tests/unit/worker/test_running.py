from collections.abc import Iterator

import pytest

from sandbox_service.languages import LanguageTable, RunStep, load_languages
from sandbox_service.sandbox.fake import FakeEngine
from sandbox_service.sandbox.pool import Pool
from sandbox_service.schema.run import Ending, RunReport, RunRequest
from sandbox_service.settings import Settings
from sandbox_service.worker.programs import program_of
from sandbox_service.worker.running import Running
from tests.factories import make_language, make_submission

CODE = "print(1)"


def make_running(reports: Iterator[RunReport], *, overloaded: bool) -> Running:
    def program(_: RunRequest) -> RunReport:
        return next(reports)

    settings = Settings()
    languages = load_languages(settings.images_dir)
    pool = Pool(FakeEngine({CODE.encode(): program}), settings)
    return Running(languages, pool, allow_shared_process=True, is_overloaded=lambda: overloaded)


def endings(*, overloaded: bool) -> list[Ending]:
    late = RunReport(ending=Ending.WALL_LIMIT)
    fine = RunReport(ending=Ending.EXITED, exit_code=0)
    running = make_running(iter([late, fine, fine]), overloaded=overloaded)
    tests = [{"stdin": "", "expected_stdout": "1\n"}, {"stdin": "", "expected_stdout": "1\n"}]
    submission = make_submission(code=CODE, tests=tests)
    program = program_of(submission, load_languages(Settings().images_dir))
    report = running.run(program, submission.tests, submission, first=0)
    return [run.ending for run in report.runs]


def test_time_limit_on_an_overloaded_machine_is_looked_at_again():
    assert endings(overloaded=True) == [Ending.EXITED, Ending.EXITED]


def test_time_limit_on_an_idle_machine_is_believed():
    assert endings(overloaded=False) == [Ending.WALL_LIMIT, Ending.EXITED]


@pytest.mark.parametrize(
    ("report", "ending"),
    [
        ({"ending": "exited", "exit_code": 1, "stderr": b"x\nout of it\n"}, Ending.MEMORY_LIMIT),
        ({"ending": "signaled", "signal": 6, "stderr": b"out of it"}, Ending.MEMORY_LIMIT),
        ({"ending": "exited", "exit_code": 0, "stderr": b"out of it"}, Ending.EXITED),
        ({"ending": "exited", "exit_code": 1, "stderr": b"another"}, Ending.EXITED),
        ({"ending": "exited", "exit_code": 1, "stdout": b"out of it"}, Ending.EXITED),
        ({"ending": "wall_limit", "stderr": b"out of it"}, Ending.WALL_LIMIT),
    ],
)
def test_run_that_its_run_time_ended_for_memory_met_a_memory_limit(report, ending):
    step = RunStep(argv=("run",), out_of_memory=("out of it",))
    languages = LanguageTable([make_language(run=step)])
    program = {CODE.encode(): lambda _: RunReport.model_validate(report)}
    running = Running(
        languages,
        Pool(FakeEngine(program), Settings()),
        allow_shared_process=True,
        is_overloaded=lambda: False,
    )
    submission = make_submission(code=CODE)
    found = running.run(program_of(submission, languages), submission.tests, submission, first=0)
    assert [run.ending for run in found.runs] == [ending]
