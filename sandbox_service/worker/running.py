"""Runs a program's tests in a sandbox, some of them a second time with less between them."""

from collections.abc import Sequence

from sandbox_service.errors import InvalidSubmission
from sandbox_service.judge.judging import program_checker_of
from sandbox_service.languages import LanguageTable
from sandbox_service.sandbox.base import SandboxSource
from sandbox_service.schema.checker import InteractiveChecker
from sandbox_service.schema.run import ExecutionReport, RunKind, RunReport, RunRequest
from sandbox_service.schema.submission import Submission
from sandbox_service.schema.testcase import StdioTest, TestCase
from sandbox_service.schema.verdict import Isolation
from sandbox_service.worker.interactors import Interactors
from sandbox_service.worker.programs import Program, run_of


class Running:
    """What is asked of sandboxes for the tests of a submission."""

    def __init__(
        self, languages: LanguageTable, source: SandboxSource, *, allow_shared_process: bool
    ) -> None:
        self._source = source
        self._interactors = Interactors(languages, source)
        self._allow_shared_process = allow_shared_process

    def run(
        self, program: Program, tests: Sequence[TestCase], submission: Submission, *, first: int
    ) -> ExecutionReport:
        """Returns the report of the runs, one for each test; `first` numbers them.

        Raises:
            SandboxError: no sandbox could do it.
            InvalidSubmission: a test needs a shared process, and that is refused here.
        """
        fresh = submission.isolation is Isolation.FRESH
        runs = [self._run_of(program, test, submission) for test in tests]
        report = self._source.execute(program.execution(tuple(runs)), fresh=fresh)
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
        weaker = self._source.execute(program.execution(again), fresh=fresh)
        found: list[RunReport] = list(report.runs)
        for index, run in zip(shared, weaker.runs, strict=True):
            found[index] = run
        return report.model_copy(update={"runs": tuple(found)})

    def _run_of(self, program: Program, test: TestCase, submission: Submission) -> RunRequest:
        run = run_of(test, program.language, submission.limits)
        checker = program_checker_of(test)
        if not isinstance(checker, InteractiveChecker) or not isinstance(test, StdioTest):
            return run
        interactor = self._interactors.request(test, checker, program.language)
        return run.model_copy(update={"interactor": interactor})
