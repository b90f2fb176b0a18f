"""From a submission to what a sandbox is asked to do. Pure."""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sandbox_service.errors import InvalidSubmission
from sandbox_service.languages import Language, LanguageTable
from sandbox_service.naming import Names
from sandbox_service.rewards.completion import extract_code
from sandbox_service.schema.checker import InteractiveChecker
from sandbox_service.schema.limits import Limits
from sandbox_service.schema.result import Extracted
from sandbox_service.schema.run import CompileRequest, Execution, RunKind, RunRequest
from sandbox_service.schema.submission import Submission
from sandbox_service.schema.testcase import (
    AssertTest,
    CallTest,
    ExitCodeTest,
    StdioTest,
    TestCase,
)

_BASE64 = "base64:"

# What every program finds in its environment. Numeric libraries would start a thread for every
# core of the host, and each counts as a process.
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/work",
    "TMPDIR": "/tmp",  # noqa: S108 - the run's own
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


@dataclass(frozen=True)
class Program:
    """A submission's program, ready to be put into executions."""

    language: Language
    code: str
    files: dict[str, bytes]
    extracted: Extracted | None = None
    candidate_files: tuple[str, ...] = ()
    """Files that came out of the completion: the candidate's work, which tests never see."""

    @cached_property
    def names(self) -> Names:
        """Names that the tool chain gives to parts of the program."""
        return self.language.names_in(self.code)

    def command(self, limits: Limits, arguments: Sequence[str]) -> tuple[str, ...]:
        """Returns the command line of a run; of a warm interpreter, the program's arguments."""
        run = self.language.run
        words = self.names.fill(run.argv, memory_bytes=limits.memory_bytes)
        return (*words, *arguments)

    def execution(self, runs: tuple[RunRequest, ...]) -> Execution:
        """Returns the execution with these runs."""
        language = self.language
        source = self.names.source
        step = language.compile
        return Execution(
            image=language.image,
            source=source,
            files={**self.files, source: self.code.encode("utf-8", "surrogatepass")},
            compile=step
            and CompileRequest(
                argv=self.names.fill(step.argv, memory_bytes=step.memory_bytes),
                artifacts=self.names.fill(step.artifacts),
                limits=step.limits,
            ),
            candidate_files=self.candidate_files,
            runs=runs,
            env={**ENVIRONMENT, **language.env},
            address_space_limit=language.run.address_space_limit,
        )


def program_of(submission: Submission, languages: LanguageTable) -> Program:
    """Returns the program of a submission; the code of a completion is taken out first.

    Raises:
        UnknownLanguage: there is no such language.
        InvalidSubmission: a file is no base64.
    """
    language = languages.get(submission.language)
    files = {path: _content(path, text) for path, text in submission.files.items()}
    if submission.code is not None:
        return Program(language, submission.code, files)
    names = (language.name, *language.aliases)
    extraction = extract_code(submission.completion or "", language_names=names)
    extracted = Extracted(code=extraction.code, rule=extraction.rule, files=extraction.files)
    named = {path: text.encode() for path, text in extraction.files.items()}
    own = tuple(name for name in named if name not in files)
    return Program(language, extraction.code, {**named, **files}, extracted, own)


def _content(path: str, text: str) -> bytes:
    if not text.startswith(_BASE64):
        return text.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(text.removeprefix(_BASE64), validate=True)
    except binascii.Error as error:
        raise InvalidSubmission(f"no base64: {error}", field=f"files.{path}") from error


def run_of(test: TestCase, program: Program, asked: Limits) -> RunRequest:
    """Returns the run that a test asks for."""
    run = program.language.run
    is_warm = run.kind == "python"
    limits = run.allowance(asked)
    match test:
        case StdioTest(checker=InteractiveChecker()):
            return RunRequest(
                kind=RunKind.INTERACT,
                argv=program.command(asked, test.args),
                is_warm=is_warm,
                limits=limits,
            )
        case StdioTest() | ExitCodeTest():
            return RunRequest(
                kind=RunKind.PYTHON if is_warm else RunKind.EXEC,
                argv=program.command(asked, test.args),
                stdin=test.stdin.encode("utf-8", "surrogatepass"),
                limits=limits,
            )
        case CallTest():
            arguments = json.dumps(_call_of(test))
            return RunRequest(
                kind=RunKind.CALL, function=test.function, call_json=arguments, limits=limits
            )
        case AssertTest():
            code = test.test_code
            if test.entry_point is not None:
                code = f"{code}\ncheck({test.entry_point})\n"
            return RunRequest(kind=RunKind.ASSERT, test_code=code, limits=limits)


def _call_of(test: CallTest) -> dict[str, Any]:
    """Returns what the runner needs to know of a call; never what is expected of it."""
    return {
        "args": test.args,
        "kwargs": test.kwargs,
        "operations": test.operations,
        "result": test.result,
        "allow": test.allow,
        "types": test.types and test.types.model_dump(),
    }
