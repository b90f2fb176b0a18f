"""The program that measures completions, behind walls of its own: a request and an answer a line.

    {"answer": [completion, expected]}   or   {"style": [code, [rule, ...]]}
    -> [score or null, detail]

Both libraries read hostile text, so each request has a process of its own, with a limit on its
memory and time; what is imported is imported once, before.
"""

import contextlib
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sandbox_service.rewards.answers import answer_score, is_mathematics
from sandbox_service.rewards.measured import Measured
from sandbox_service.rewards.style import style_argv, style_score

WALL_TIME_S = 10.0
_CPU_TIME_S = 8
_MEMORY_BYTES = 1 << 30
_ANSWER_BYTES = 64 * 1024
_OVER_A_LIMIT = "it could not be read within the limits"


def measure(request: dict[str, Any]) -> Measured:
    """Measures here, without limits."""
    if "answer" in request:
        completion, expected = request["answer"]
        return answer_score(completion, expected)
    code, select_rules = request["style"]
    return _style(code, select_rules)


def _style(code: str, rules: Sequence[str]) -> Measured:
    name, *arguments = style_argv(rules)
    beside = Path(sys.executable).parent
    ruff = shutil.which(name, path=f"{beside}{os.pathsep}{os.environ.get('PATH', os.defpath)}")
    if ruff is None:
        return Measured(None, "ruff is not installed")
    data = code.encode("utf-8", "replace")
    done = subprocess.run([ruff, *arguments], input=data, capture_output=True, check=False)
    if done.returncode < 0:  # ended by a signal: the code is more than it can take
        return Measured(0.0, _OVER_A_LIMIT)
    score = style_score(done.stdout, code)
    return Measured(score, "" if score is not None else "there is nothing to find fault with")


def measure_apart(request: dict[str, Any]) -> Measured:
    """Measures in a fork, within limits; a completion that goes over them is worth zero.

    If it is the expected answer that nobody can read, the score is missing.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(writer, request)
    os.close(writer)
    try:
        has_come = select.select([reader], [], [], WALL_TIME_S)[0]
        data = os.read(reader, _ANSWER_BYTES) if has_come else b""
    finally:
        os.close(reader)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    with contextlib.suppress(ValueError, TypeError):
        return Measured(*json.loads(data))
    return Measured(0.0, _OVER_A_LIMIT)


def _answer(writer: int, request: dict[str, Any]) -> None:
    """Is the fork's whole life."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_TIME_S, _CPU_TIME_S))
    try:
        os.write(writer, json.dumps(measure(request)).encode())
    finally:
        os._exit(0)


def serve() -> None:
    """Answers until standard input ends."""
    is_mathematics("1")  # imports the library once, for all forks
    for line in sys.stdin:
        sys.stdout.write(json.dumps(measure_apart(json.loads(line))) + "\n")
        sys.stdout.flush()
