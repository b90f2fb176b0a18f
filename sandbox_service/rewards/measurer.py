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
import time
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
_BEGUN = b"+"  # from here on it is the completion that takes time and memory
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

    What is not the completion's doing is missing: an expected answer that cannot be read within
    the limits, and a library that breaks.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(writer, request)
    os.close(writer)
    try:
        data = _read_all(reader)
    finally:
        os.close(reader)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if not data.startswith(_BEGUN):
        return Measured(None, "what is expected could not be read within the limits")
    with contextlib.suppress(ValueError, TypeError):
        return Measured(*json.loads(data.removeprefix(_BEGUN)))
    return Measured(0.0, _OVER_A_LIMIT)


def _read_all(reader: int) -> bytes:
    """Reads to the end, or for as long as there is time."""
    data, deadline = b"", time.monotonic() + WALL_TIME_S
    while select.select([reader], [], [], max(0.0, deadline - time.monotonic()))[0]:
        part = os.read(reader, _ANSWER_BYTES)
        if not part:
            break
        data += part
    return data


def _answer(writer: int, request: dict[str, Any]) -> None:
    """Is the fork's whole life."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_TIME_S, _CPU_TIME_S))
    try:
        if "answer" in request:
            is_mathematics(request["answer"][1])
        os.write(writer, _BEGUN)
        os.write(writer, json.dumps(_measure_or_say_why_not(request)).encode())
    finally:
        os._exit(0)


def _measure_or_say_why_not(request: dict[str, Any]) -> Measured:
    try:
        return measure(request)
    except (MemoryError, RecursionError):
        return Measured(0.0, _OVER_A_LIMIT)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the library's
        return Measured(None, f"it could not be measured: {type(error).__name__}")


def serve() -> None:
    """Answers until standard input ends."""
    is_mathematics("1")  # imports the library once, for all forks
    for line in sys.stdin:
        sys.stdout.write(json.dumps(measure_apart(json.loads(line))) + "\n")
        sys.stdout.flush()
