"""Checkers that are programs: what to run in a sandbox of its own, and how to read the report.

Protocols:

* `function`: `check(stdin, stdout, expected)` in Python gives True, False or a score from 0 to 1.
  Output that is not UTF-8 reaches it with U+FFFD in place of the bytes. For call tests it is
  `check(args, value, expected)`.
* `testlib`: a whole program, started with the names of three files: the test's input, the output
  and the expected output (JSON for call tests). Its exit code decides: 0 right, 1 wrong, 2, 4
  and 8 badly formatted and so wrong, 7 partial (`points 0.5` on standard error), else broken.
* An interactor speaks testlib too: its files are the input, one that it may write, and the
  expected output. An exception of parsing what the program said is the program's fault.

A checker that does not compile, meets a limit, is killed, or answers with anything else is ours:
no information. So is one that raises an exception, unless the candidate's output is to blame:
`reference_run` gives the checker the expected output instead, and if that goes through, the
exception means a wrong answer. Without an expected output, the kind of the exception decides.
"""

import json
import re
from dataclasses import dataclass, field

from sandbox_service.judge.checkers import Outcome
from sandbox_service.judge.json_text import HugeInteger, NotPlainData
from sandbox_service.judge.values import contains, decode
from sandbox_service.judge.verdicts import detail_of_run, verdict_of_start
from sandbox_service.schema.checker import CustomChecker, InteractiveChecker
from sandbox_service.schema.limits import MIB, Limits
from sandbox_service.schema.run import RunReport
from sandbox_service.schema.testcase import CallTest, StdioTest

CHECKER_LIMITS = Limits(cpu_time_s=10.0, memory_bytes=512 * MIB, output_bytes=MIB)

INPUT, OUTPUT, ANSWER = "input.txt", "output.txt", "answer.txt"

_TRACEBACK = b"Traceback (most recent call last):"
_POINTS = re.compile(rb"points\s+([0-9]*\.?[0-9]+)")

# What parsing an unexpected text raises, as opposed to a mistake in the checker's own code.
_OF_BAD_OUTPUT = re.compile(
    r"exception: (?:ValueError|JSONDecodeError|UnicodeError|UnicodeDecodeError|IndexError|KeyError"
    r"|LookupError|EOFError|StopIteration|AssertionError|OverflowError|InvalidOperation"
    r"|RecursionError)\b"
)


@dataclass(frozen=True)
class ProgramRun:
    """A checker to be run: a call if `function` is set, else the whole program."""

    language: str
    source: str
    function: str = ""
    call_json: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()


def custom_run(
    checker: CustomChecker, test: StdioTest | CallTest, report: RunReport
) -> ProgramRun | Outcome:
    """Returns what to run for an answer, or the outcome if no checker needs to look at it."""
    if isinstance(test, StdioTest):
        return _run_for_text(checker, test, report.stdout)
    try:
        value = decode(report.value_json or "")
    except NotPlainData as error:
        return Outcome(0.0, f"not plain data: {error}")
    if contains(value, HugeInteger):
        return Outcome(0.0, "an integer longer than any checker takes")
    return _run_for_value(checker, test, report.value_json or "")


def reference_run(checker: CustomChecker, test: StdioTest | CallTest) -> ProgramRun | None:
    """Returns the run in which the expected answer is judged; None if the test has none."""
    if isinstance(test, CallTest):
        return _run_for_value(checker, test, json.dumps(test.expected))
    if test.expected_stdout is None:
        return None
    return _run_for_text(checker, test, test.expected_stdout.encode())


def has_raised(report: RunReport) -> bool:
    """Tells whether a checker ended with an exception, so that a reference run is called for."""
    if report.error:
        return report.error.startswith("exception:")
    return report.exit_code == 1 and _TRACEBACK in report.stderr


def outcome_of(
    checker: CustomChecker, report: RunReport, *, reference: RunReport | None = None
) -> Outcome:
    """Reads the report of a checker's run; `reference` is the one of its reference run."""
    verdict = verdict_of_start(report, limits=CHECKER_LIMITS)
    if verdict is not None:
        return _broken(detail_of_run(report, limits=CHECKER_LIMITS) or verdict)
    if has_raised(report):
        return _of_exception(report, reference)
    if checker.protocol == "testlib":
        return testlib_outcome(report)
    return _outcome_of_value(report)


def interactor_run(checker: InteractiveChecker, test: StdioTest) -> ProgramRun:
    """Returns the interactor, to be connected with the candidate."""
    return ProgramRun(
        language=checker.language,
        source=checker.code,
        files=_files(test.stdin, b"", test.expected_stdout or ""),
        arguments=(INPUT, OUTPUT, ANSWER),
    )


def interactor_outcome(report: RunReport) -> Outcome:
    """Reads how an interactor ended that met no limit."""
    if not has_raised(report):
        return testlib_outcome(report)
    last = report.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    detail = f"exception: {last[:200]}"
    if _OF_BAD_OUTPUT.match(detail):
        return Outcome(0.0, f"interactor: {detail}")
    return Outcome(None, f"the interactor failed: {detail}")


def testlib_outcome(report: RunReport) -> Outcome:
    """Reads the exit code of a testlib program that ended within its limits."""
    lines = report.stderr.decode("utf-8", "replace").splitlines()
    detail = lines[0][:200] if lines else ""
    if report.exit_code == 0:
        return Outcome(1.0, detail)
    if report.exit_code in {1, 2, 4, 8}:
        return Outcome(0.0, detail)
    points = _POINTS.match(report.stderr) if report.exit_code == 7 else None
    if points is not None and float(points[1]) <= 1:
        return Outcome(float(points[1]), detail)
    return _broken(f"exit code {report.exit_code} {detail}".rstrip())


def _run_for_text(checker: CustomChecker, test: StdioTest, stdout: bytes) -> ProgramRun:
    expected = test.expected_stdout
    if checker.protocol == "testlib":
        return _whole_program(checker, _files(test.stdin, stdout, expected or ""))
    arguments = [test.stdin, stdout.decode("utf-8", "replace"), expected]
    return _call(checker, json.dumps({"args": arguments, "kwargs": {}}))


def _run_for_value(checker: CustomChecker, test: CallTest, value_json: str) -> ProgramRun:
    args, expected = json.dumps(test.args), json.dumps(test.expected)
    if checker.protocol == "testlib":
        return _whole_program(checker, _files(args, value_json.encode(), expected))
    # The value's own text goes on: it has been parsed strictly, and is one JSON value.
    return _call(checker, f'{{"args": [{args}, {value_json}, {expected}], "kwargs": {{}}}}')


def _call(checker: CustomChecker, call_json: str) -> ProgramRun:
    return ProgramRun(checker.language, checker.code, function="check", call_json=call_json)


def _whole_program(checker: CustomChecker, files: dict[str, bytes]) -> ProgramRun:
    return ProgramRun(
        checker.language, checker.code, files=files, arguments=(INPUT, OUTPUT, ANSWER)
    )


def _files(stdin: str, output: bytes, expected: str) -> dict[str, bytes]:
    return {INPUT: stdin.encode(), OUTPUT: output, ANSWER: expected.encode()}


def _of_exception(report: RunReport, reference: RunReport | None) -> Outcome:
    detail = report.error or "the checker raised an exception"
    if reference is None:
        is_outputs_fault = _OF_BAD_OUTPUT.match(report.error) is not None
    else:
        is_outputs_fault = verdict_of_start(
            reference, limits=CHECKER_LIMITS
        ) is None and not has_raised(reference)
    return Outcome(0.0, f"checker: {detail}") if is_outputs_fault else _broken(detail)


def _outcome_of_value(report: RunReport) -> Outcome:
    try:
        value = decode(report.value_json or "")
    except NotPlainData:
        return _broken(report.error or "its answer is not plain data")
    if isinstance(value, int | float) and 0 <= value <= 1:
        return Outcome(float(value))
    return _broken("its answer is neither a boolean nor a score from 0 to 1")


def _broken(detail: str) -> Outcome:
    return Outcome(None, f"the checker failed: {detail}")
