"""Makes interactors ready to run beside a candidate: compiles those that need it, once a test."""

from sandbox_service.errors import InvalidSubmission
from sandbox_service.judge import programs
from sandbox_service.languages import Language, LanguageTable
from sandbox_service.sandbox.base import SandboxSource
from sandbox_service.schema.checker import InteractiveChecker
from sandbox_service.schema.limits import MIB
from sandbox_service.schema.run import InteractorRequest, RunReport
from sandbox_service.schema.testcase import StdioTest
from sandbox_service.worker.programs import Program

# An interactor prints the questions and reads the answers; neither is its own output.
_LIMITS = programs.CHECKER_LIMITS.model_copy(update={"output_bytes": 64 * MIB})
_IN_ITS_FOLDER = "/program/"


class Interactors:
    """Interactors by the language table."""

    def __init__(self, languages: LanguageTable, source: SandboxSource) -> None:
        self._languages = languages
        self._source = source

    def request(
        self, test: StdioTest, checker: InteractiveChecker, beside: Language
    ) -> InteractorRequest:
        """Returns the interactor of a test, for an image of the candidate's language.

        Raises:
            InvalidSubmission: it does not compile, or the candidate's image cannot run it.
        """
        run = programs.interactor_run(checker, test)
        language = self._languages.get(run.language)
        if language.run.kind == "python":
            return InteractorRequest(
                argv=run.arguments,
                source=language.source,
                files={**run.files, language.source: run.source.encode("utf-8", "surrogatepass")},
                limits=_LIMITS,
            )
        if language.image != beside.image:
            raise InvalidSubmission(
                f"an interactor in {language.name} cannot stand beside a program in "
                f"{beside.name}: write it in Python or in the program's language",
                field="tests.checker.language",
            )
        program = Program(language, run.source, {})
        argv = (part.replace(_IN_ITS_FOLDER, "./") for part in program.command(_LIMITS, ()))
        return InteractorRequest(
            argv=(*argv, *run.arguments),
            files={**run.files, **self._artifacts(program)},
            limits=language.run.allowance(_LIMITS),
        )

    def _artifacts(self, program: Program) -> dict[str, bytes]:
        if program.language.compile is None:
            return {program.names.source: program.code.encode("utf-8", "surrogatepass")}
        report = self._source.execute(program.execution(()), fresh=False)
        if not report.artifacts:
            raise InvalidSubmission(_why(report.compile), field="tests.checker.code")
        return report.artifacts


def _why(report: RunReport | None) -> str:
    text = report.stderr.decode("utf-8", "replace").strip() if report is not None else ""
    return f"the interactor does not compile: {text[:500]}"
