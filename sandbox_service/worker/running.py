"""Runs a program's tests in a sandbox, some of them a second time with less between them."""

import os
from collections.abc import Callable, Sequence

from sandbox_service.errors import InvalidSubmission
from sandbox_service.judge.judging import program_checker_of
from sandbox_service.languages import LanguageTable
from sandbox_service.sandbox.base import Gather, SandboxSource
from sandbox_service.schema.checker import InteractiveChecker
from sandbox_service.schema.run import (
    Ending,
    ExecutionReport,
    RunKind,
    RunReport,
    RunRequest,
)
from sandbox_service.schema.submission import Submission
from sandbox_service.schema.testcase import StdioTest, TestCase
from sandbox_service.schema.verdict import Isolation
from sandbox_service.worker.interactors import Interactors
from sandbox_service.worker.programs import Program, run_of

_TIME_LIMITS = (Ending.CPU_LIMIT, Ending.WALL_LIMIT)
_BY_ITSELF = (Ending.EXITED, Ending.SIGNALED)
# Runs are admitted one for each core; more than that is somebody else's work.
_OVERLOAD = 1.5


def is_overloaded() -> bool:
    """Tells whether more processes want to run than the machine has cores for."""
    return os.getloadavg()[0] > _OVERLOAD * len(os.sched_getaffinity(0))


class Running:
    """What is asked of sandboxes for the tests of a submission."""

    def __init__(
        self,
        languages: LanguageTable,
        source: SandboxSource,
        *,
        allow_shared_process: bool,
        is_overloaded: Callable[[], bool] = is_overloaded,
    ) -> None:
        self._source = source
        self._interactors = Interactors(languages, source)
        self._allow_shared_process = allow_shared_process
        self._is_overloaded = is_overloaded

    def look_ahead(
        self, wanted: Sequence[tuple[Program, Sequence[TestCase], Submission]]
    ) -> Gather:
        """Begins to run programs one right after the other.

        Raises:
            SandboxError: no sandbox could begin.
        """
        return self._source.look_ahead(
            [
                program.execution(tuple(self._run_of(program, test, submission) for test in tests))
                for program, tests, submission in wanted
            ]
        )

    def run(
        self,
        program: Program,
        tests: Sequence[TestCase],
        submission: Submission,
        *,
        first: int,
        known: ExecutionReport | None = None,
    ) -> ExecutionReport:
        """Returns the report of the runs, one for each test; `first` numbers them.

        What is `known` already is not run, unless it has to be looked at again.

        Raises:
            SandboxError: no sandbox could do it.
            InvalidSubmission: a test needs a shared process, and that is refused here.
        """
        runs = tuple(self._run_of(program, test, submission) for test in tests)
        report = known or self._execute(program, runs, submission)
        report = self._with_shared_process(program, runs, submission, report, first)
        report = self._with_second_looks(program, runs, submission, report)
        return _with_memory_limits(report, program.language.run.out_of_memory)

    def _execute(
        self, program: Program, runs: tuple[RunRequest, ...], submission: Submission
    ) -> ExecutionReport:
        fresh = submission.isolation is Isolation.FRESH
        return self._source.execute(program.execution(runs), fresh=fresh)

    def _with_shared_process(
        self,
        program: Program,
        runs: tuple[RunRequest, ...],
        submission: Submission,
        report: ExecutionReport,
        first: int,
    ) -> ExecutionReport:
        """Runs in one process what needs it."""
        shared = [index for index, run in enumerate(report.runs) if run.needs_shared_process]
        if not shared:
            return report
        if not self._allow_shared_process:
            reason = report.runs[shared[0]].needs_shared_process
            raise InvalidSubmission(
                f"the test needs the candidate's own process, which is refused here: {reason}",
                field=f"tests.{first + shared[0]}.test_code",
            )
        again = tuple(
            runs[index].model_copy(update={"kind": RunKind.ASSERT_SHARED}) for index in shared
        )
        return _replaced(report, shared, self._execute(program, again, submission))

    def _with_second_looks(
        self,
        program: Program,
        runs: tuple[RunRequest, ...],
        submission: Submission,
        report: ExecutionReport,
    ) -> ExecutionReport:
        """Runs again what met a time limit while others kept the machine from it."""
        late = [index for index, run in enumerate(report.runs) if run.ending in _TIME_LIMITS]
        if not late or not self._is_overloaded():
            return report
        again = tuple(
            runs[index].model_copy(update={"kind": RunKind.ASSERT_SHARED})
            if report.runs[index].trust == "shared_process"
            else runs[index]
            for index in late
        )
        return _replaced(report, late, self._execute(program, again, submission))

    def _run_of(self, program: Program, test: TestCase, submission: Submission) -> RunRequest:
        run = run_of(test, program, submission.limits)
        checker = program_checker_of(test)
        if not isinstance(checker, InteractiveChecker) or not isinstance(test, StdioTest):
            return run
        interactor = self._interactors.request(test, checker, program.language)
        return run.model_copy(update={"interactor": interactor})


def _replaced(
    report: ExecutionReport, indices: Sequence[int], again: ExecutionReport
) -> ExecutionReport:
    found: list[RunReport] = list(report.runs)
    for index, run in zip(indices, again.runs, strict=True):
        found[index] = run
    return report.model_copy(update={"runs": tuple(found)})


def _with_memory_limits(report: ExecutionReport, marks: Sequence[str]) -> ExecutionReport:
    """Returns the report with runs that their run time ended for memory told as such.

    A program can print the same and exit; it gains nothing but another name for its failure.
    """
    if not marks:
        return report
    printed = [mark.encode() for mark in marks]
    runs = tuple(
        run.model_copy(update={"ending": Ending.MEMORY_LIMIT})
        if run.ending in _BY_ITSELF and run.exit_code != 0 and _has_any(run.stderr, printed)
        else run
        for run in report.runs
    )
    return report.model_copy(update={"runs": runs})


def _has_any(text: bytes, parts: Sequence[bytes]) -> bool:
    return any(part in text for part in parts)
