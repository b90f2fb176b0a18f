"""One submission from its code to its reward: compile, run, judge, score, price."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import structlog

from sandbox_service.errors import InvalidSubmission, RequestError, SandboxError
from sandbox_service.judge.judging import judge_skipped, program_checker_of
from sandbox_service.judge.review import review
from sandbox_service.judge.scoring import summarise
from sandbox_service.judge.verdicts import detail_of_run, verdict_of_run
from sandbox_service.languages import LanguageTable
from sandbox_service.rewards.measured import Measured
from sandbox_service.rewards.policies import explained_reward_of
from sandbox_service.sandbox.base import Gather, PoolFigures, SandboxSource
from sandbox_service.schema.checker import InteractiveChecker
from sandbox_service.schema.result import Result, SandboxInfo, StepResult, TestResult
from sandbox_service.schema.run import Execution, ExecutionReport, RunReport
from sandbox_service.schema.submission import Submission
from sandbox_service.schema.testcase import ExitCodeTest, TestCase
from sandbox_service.schema.verdict import Isolation, Verdict
from sandbox_service.worker.checking import Checking
from sandbox_service.worker.measuring import Measuring
from sandbox_service.worker.programs import Program, program_of
from sandbox_service.worker.running import Running

_log = structlog.get_logger(__name__)


class Pipeline:
    """The stages in order; each knows nothing of the others."""

    def __init__(
        self,
        languages: LanguageTable,
        source: SandboxSource,
        *,
        allow_shared_process: bool = True,
        allow_exit_code_tests: bool = True,
    ) -> None:
        self._languages = languages
        self._source = source
        self._running = Running(languages, source, allow_shared_process=allow_shared_process)
        self._checking = Checking(languages, source)
        self._measuring = Measuring()
        self._allow_exit_code_tests = allow_exit_code_tests

    def look_ahead(self, submissions: Sequence[Submission]) -> "Callable[[], list[Ahead | None]]":
        """Begins to run what can be run without a pause between, and returns what waits for it.

        Whatever goes wrong, or cannot be run so, is None and no loss: it is found again, and told,
        when the submission is run.
        """
        programs: dict[int, Program] = {}
        for index, submission in enumerate(submissions):
            with contextlib.suppress(RequestError):
                if _may_be_run_ahead(submission):
                    programs[index] = program_of(submission, self._languages)
        gather = self._begin(
            [
                (program, _first_batch(submissions[index]), submissions[index])
                for index, program in programs.items()
            ]
        )

        def aheads() -> list[Ahead | None]:
            found: list[Ahead | None] = [None] * len(submissions)
            for (index, program), report in zip(programs.items(), gather(), strict=False):
                found[index] = Ahead(program, report) if report is not None else None
            return found

        return aheads

    def _begin(self, wanted: Sequence[tuple[Program, Sequence[TestCase], Submission]]) -> Gather:
        if len(wanted) > 1:
            try:
                return self._running.look_ahead(wanted)
            except SandboxError as error:
                _log.warning("look_ahead_failed", reason=str(error))
        return list

    def run(
        self, submission_id: str, submission: Submission, ahead: "Ahead | None" = None
    ) -> Result:
        """Compiles, runs, judges and scores; what was run `ahead` is not run again.

        Raises:
            SandboxError: no sandbox could do it; another try may succeed.
            InvalidSubmission: it cannot be run as it is, or it holds tests of a refused kind.
        """
        if submission.tests is None:
            raise InvalidSubmission("tests are required", field="tests")
        self._refuse_weak(submission.tests)
        program = ahead.program if ahead else program_of(submission, self._languages)
        known = ahead.report if ahead else None
        judged = self._judged(program, submission, submission.tests, known)
        measured = self._measuring.measure(submission, program)
        return _result(submission_id, submission, program, judged, measured)

    def figures(self) -> PoolFigures:
        """Counts the sandboxes."""
        return self._source.figures()

    def tidy(self) -> None:
        """Removes what is not needed any more; called when there is no work."""
        self._source.tidy()

    def close(self) -> None:
        """Closes every sandbox."""
        self._measuring.close()
        self._source.close()

    def _refuse_weak(self, tests: Sequence[TestCase]) -> None:
        for index, test in enumerate(tests):
            if isinstance(test, ExitCodeTest) and not self._allow_exit_code_tests:
                reason = "tests by exit code are refused here"
                raise InvalidSubmission(reason, field=f"tests.{index}.exit_code")

    def _judged(
        self,
        program: Program,
        submission: Submission,
        tests: Sequence[TestCase],
        known: ExecutionReport | None,
    ) -> "_Judged":
        limits = submission.limits
        judged = _Judged()
        for batch in _batches(tests, one_by_one=submission.stop_at_first_failure):
            first = len(judged.tests)
            report = self._running.run(
                program, batch, submission, first=first, known=None if first else known
            )
            judged.sandbox = report.sandbox
            judged.compile = _compile_result(program.execution(()), report)
            if not report.runs:
                return judged
            judged.tests += self._checking.judge(batch, report.runs, limits)
            if judged.tests[-1].verdict is not Verdict.ACCEPTED and len(batch) < len(tests):
                judged.tests += [judge_skipped(test) for test in tests[len(judged.tests) :]]
                return judged
        return judged


class Ahead(NamedTuple):
    """A program that was run before its turn, and what it did."""

    program: Program
    report: ExecutionReport


class _Judged:
    """What was found out so far."""

    def __init__(self) -> None:
        self.compile: StepResult | None = None
        self.tests: list[TestResult] = []
        self.sandbox: SandboxInfo | None = None


def _may_be_run_ahead(submission: Submission) -> bool:
    """Whether it needs nothing but a run: no sandbox of its own, and no interactor's program."""
    tests = submission.tests
    return (
        bool(tests)
        and submission.isolation is not Isolation.FRESH
        and not any(
            isinstance(program_checker_of(test), InteractiveChecker) for test in tests or ()
        )
    )


def _first_batch(submission: Submission) -> Sequence[TestCase]:
    return next(_batches(submission.tests or (), one_by_one=submission.stop_at_first_failure), ())


def _batches(tests: Sequence[TestCase], *, one_by_one: bool) -> Iterator[Sequence[TestCase]]:
    if not one_by_one:
        yield tests
        return
    for index in range(len(tests)):
        yield tests[index : index + 1]


def _compile_result(execution: Execution, report: ExecutionReport) -> StepResult | None:
    """Returns the compile step; for interpreted languages, only what kept it from loading."""
    if report.compile is not None and execution.compile is not None:
        verdict = verdict_of_run(report.compile, limits=execution.compile.limits)
        is_ours = verdict is Verdict.INTERNAL_ERROR
        failed = Verdict.INTERNAL_ERROR if is_ours else Verdict.COMPILE_ERROR
        detail = detail_of_run(report.compile, limits=execution.compile.limits) if verdict else ""
        return _step(report.compile, failed if verdict else Verdict.ACCEPTED, detail)
    broken = next((run for run in report.runs if run.syntax_error), None)
    return _step(broken, Verdict.COMPILE_ERROR, broken.syntax_error) if broken else None


def _step(report: RunReport, verdict: Verdict, detail: str) -> StepResult:
    return StepResult(
        verdict=verdict,
        stdout=report.stdout.decode("utf-8", "replace"),
        stderr=report.stderr.decode("utf-8", "replace"),
        exit_code=report.exit_code,
        signal=report.signal,
        detail=detail,
        usage=report.usage,
    )


def _result(
    submission_id: str,
    submission: Submission,
    program: Program,
    judged: _Judged,
    measured: Mapping[str, Measured],
) -> Result:
    tests = submission.tests or ()
    summary = summarise(tests, judged.tests, compile_result=judged.compile)
    flags = review(program.code, language=program.language.name, tests=tests, results=judged.tests)
    result = Result(
        id=submission_id,
        verdict=summary.verdict,
        score=summary.score,
        reward=None,
        passed=summary.passed,
        total=summary.total,
        trust=summary.trust,
        compile=judged.compile,
        tests=tuple(judged.tests),
        flags=flags,
        extracted=program.extracted,
        sandbox=judged.sandbox,
        metadata=submission.metadata,
    )
    kinds = [flag.kind for flag in flags]
    reward = explained_reward_of(submission.reward, result, flags=kinds, measured=measured)
    return result.model_copy(update={"reward": reward.value, "parts": reward.parts})
