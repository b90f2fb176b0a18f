"""Runs checkers that are programs, each in a sandbox that never sees the candidate's."""

from collections.abc import Sequence

from sandbox_service.judge import programs
from sandbox_service.judge.checkers import Outcome
from sandbox_service.judge.judging import judge_interactive, judge_test, program_checker_of
from sandbox_service.judge.verdicts import verdict_of_run
from sandbox_service.languages import LanguageTable
from sandbox_service.sandbox.base import SandboxSource
from sandbox_service.schema.checker import CustomChecker
from sandbox_service.schema.limits import Limits
from sandbox_service.schema.result import TestResult
from sandbox_service.schema.run import Ending, RunKind, RunReport, RunRequest
from sandbox_service.schema.testcase import CallTest, StdioTest, TestCase
from sandbox_service.worker.programs import Program


class Checking:
    """Judges tests, with the help of checker programs where they have some."""

    def __init__(self, languages: LanguageTable, source: SandboxSource) -> None:
        self._languages = languages
        self._source = source

    def judge(
        self, tests: Sequence[TestCase], reports: Sequence[RunReport], limits: Limits
    ) -> list[TestResult]:
        """Returns one result for each test.

        Raises:
            SandboxError: no sandbox could run a checker.
        """
        return [
            self._judge_one(test, report, limits)
            for test, report in zip(tests, reports, strict=True)
        ]

    def _judge_one(self, test: TestCase, report: RunReport, limits: Limits) -> TestResult:
        if report.interactor is not None and isinstance(test, StdioTest):
            return judge_interactive(test, report, report.interactor, limits=limits)
        return judge_test(test, report, limits=limits, outcome=self._outcome(test, report, limits))

    def _outcome(self, test: TestCase, report: RunReport, limits: Limits) -> Outcome | None:
        checker = program_checker_of(test)
        if not isinstance(checker, CustomChecker) or not isinstance(test, StdioTest | CallTest):
            return None
        has_no_answer = isinstance(test, CallTest) and report.value_json is None
        if has_no_answer or verdict_of_run(report, limits=limits) is not None:
            return None  # judged by how it ended
        run = programs.custom_run(checker, test, report)
        if isinstance(run, Outcome):
            return run
        found = self._run(run)
        reference = None
        if programs.has_raised(found):
            again = programs.reference_run(checker, test)
            reference = self._run(again) if again is not None else None
        return programs.outcome_of(checker, found, reference=reference)

    def _run(self, run: programs.ProgramRun) -> RunReport:
        language = self._languages.get(run.language)
        program = Program(language, run.source, run.files)
        is_warm = language.run.kind == "python"
        if run.function:
            request = RunRequest(
                kind=RunKind.CALL,
                function=run.function,
                call_json=run.call_json,
                limits=programs.CHECKER_LIMITS,
            )
        else:
            request = RunRequest(
                kind=RunKind.PYTHON if is_warm else RunKind.EXEC,
                argv=program.command(programs.CHECKER_LIMITS, run.arguments),
                limits=language.run.allowance(programs.CHECKER_LIMITS),
            )
        report = self._source.execute(program.execution((request,)), fresh=False)
        if report.runs:
            return report.runs[0]
        # It did not compile; the run that never was did not end well.
        return report.compile or RunReport(ending=Ending.SIGNALED)
