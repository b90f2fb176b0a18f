"""Measures what a reward wants besides tests: style, and final mathematical answers.

The libraries for it read hostile text, so they run in a jail of their own, kept for the worker's
life. Where no such jail stands, or a library is missing, the score is missing and says why.
"""

import contextlib
import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import structlog

import sandbox_service
from sandbox_service.rewards.fusion import name_of
from sandbox_service.rewards.measured import Measured
from sandbox_service.rewards.measurer import WALL_TIME_S
from sandbox_service.sandbox import bubblewrap
from sandbox_service.schema.reward import AnswerSource, Fusion, StyleSource
from sandbox_service.schema.submission import Submission
from sandbox_service.worker.programs import Program

_log = structlog.get_logger(__name__)
_PACKAGE = "/measurer"
_SERVE = (
    f"import sys; sys.path.insert(0, {_PACKAGE!r}); "
    "from sandbox_service.rewards.measurer import serve; serve()"
)
_START_S = 30.0  # the library for mathematics is large
_READ_BYTES = 65536
_NO_JAIL = "no jail to measure in: bubblewrap does not start here"


class Measuring:
    """The measuring process of one worker; it is started when first needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def measure(self, submission: Submission, program: Program) -> dict[str, Measured]:
        """Returns what was found, by the name of the source; empty when nothing was asked for."""
        if not isinstance(submission.reward, Fusion):
            return {}
        found = {}
        for source in submission.reward.sources:
            if isinstance(source, StyleSource):
                found[name_of(source)] = self._style(source, program)
            elif isinstance(source, AnswerSource):
                found[name_of(source)] = self._answer(source, submission.completion)
        return found

    def _style(self, source: StyleSource, program: Program) -> Measured:
        if program.language.run.kind != "python":
            return Measured(None, f"no style is known for {program.language.name}")
        return self._ask({"style": [program.code, list(source.select)]})

    def _answer(self, source: AnswerSource, completion: str | None) -> Measured:
        if completion is None:
            return Measured(None, "there is code and no completion")
        return self._ask({"answer": [completion, source.expected]})

    def _ask(self, request: dict[str, Any]) -> Measured:
        try:
            process = self._running()
            assert process.stdin is not None
            process.stdin.write(json.dumps(request).encode() + b"\n")
            return Measured(*json.loads(_read_line(process)))
        except (OSError, ValueError, TypeError) as error:
            _log.warning("measuring_failed", reason=type(error).__name__)
            self.close()
            return Measured(None, _NO_JAIL)

    def _running(self) -> "subprocess.Popen[bytes]":
        """Returns the process, a new one if there is none.

        Raises:
            OSError: it does not start.
        """
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = subprocess.Popen(
                _argv(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env={}, cwd="/"
            )
        return self._process

    def close(self) -> None:
        """Ends the process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                with contextlib.suppress(OSError):
                    pipe.close()


def _argv() -> list[str]:
    bwrap = bubblewrap.find_bubblewrap()
    if bwrap is None:
        raise FileNotFoundError("bwrap")
    package = Path(sandbox_service.__file__).parent
    python = {Path(sys.prefix), Path(sys.base_prefix)}
    binds = [(path, str(path)) for path in sorted(python) if not path.is_relative_to("/usr")]
    binds.append((package, f"{_PACKAGE}/{package.name}"))
    return bubblewrap.tool_argv(bwrap, [sys.executable, "-I", "-c", _SERVE], binds=binds)


def _read_line(process: "subprocess.Popen[bytes]") -> bytes:
    assert process.stdout is not None
    line = b""
    while not line.endswith(b"\n"):
        if not select.select([process.stdout], [], [], _START_S + WALL_TIME_S)[0]:
            raise TimeoutError("no answer")
        part = os.read(process.stdout.fileno(), _READ_BYTES)
        if not part:
            raise BrokenPipeError("it ended")
        line += part
    return line
