"""What the demo submits, and what must come of it."""

from dataclasses import dataclass
from typing import Any

_SUM_TESTS = (
    {"stdin": "1 2\n", "expected_stdout": "3\n"},
    {"stdin": "10 -4\n", "expected_stdout": "6\n"},
    {"stdin": "0 5\n", "expected_stdout": "5\n"},
)
_ADD_TESTS = (
    {"function": "add", "args": [1, 2], "expected": 3},
    {"function": "add", "args": [10, -4], "expected": 6},
)
_SUM_CPP = """\
#include <iostream>

int main() {
    long long a, b;
    std::cin >> a >> b;
    std::cout << a + b << std::endl;
}
"""
_SUM_BASH = "read -r a b\necho $((a + b))\n"
# Equal to everything it is compared with, for as long as the comparison is its own.
_LYING_EQUALITY = """\
class Anything(int):
    def __eq__(self, other):
        return True

def add(a, b):
    return Anything()
"""
_EXIT_BEFORE_THE_TESTS = """\
import os

def add(a, b):
    os._exit(0)
"""


@dataclass(frozen=True)
class Case:
    """One submission, and the outcome that shows the service to be right."""

    title: str
    submission: dict[str, Any]
    verdicts: tuple[str, ...]
    """Any of these is right."""

    reward: float


def _case(
    title: str,
    code: str,
    tests: tuple[dict[str, Any], ...],
    *verdicts: str,
    reward: float = 0.0,
    language: str = "python",
) -> Case:
    submission = {
        "language": language,
        "code": code,
        "tests": list(tests),
        "limits": {"cpu_time_s": 1.0, "memory_bytes": 128 * 1024 * 1024},
    }
    return Case(title, submission, verdicts, reward)


def python_cases() -> list[Case]:
    """Returns one case for each verdict, and attempts to get a reward without the work."""
    return [
        _case(
            "right program",
            "print(sum(map(int, input().split())))",
            _SUM_TESTS,
            "accepted",
            reward=1.0,
        ),
        _case("right function", "def add(a, b): return a + b", _ADD_TESTS, "accepted", reward=1.0),
        _case(
            "right twice out of three",
            "a, b = map(int, input().split())\nprint(a + b if b < 5 else 0)",
            _SUM_TESTS,
            "wrong_answer",
            reward=2 / 3,
        ),
        _case("syntax error", "print(sum(map(int, input().split()))", _SUM_TESTS, "compile_error"),
        _case("crash", "print(1 // 0)", _SUM_TESTS[:1], "runtime_error"),
        _case("endless loop", "while True: pass", _SUM_TESTS[:1], "time_limit_exceeded"),
        _case(
            "memory hog",
            "hog = [bytearray(2**20) for _ in range(2**14)]",
            _SUM_TESTS[:1],
            "memory_limit_exceeded",
        ),
        _case(
            "endless output",
            "while True: print('3' * 4096)",
            _SUM_TESTS[:1],
            "output_limit_exceeded",
        ),
        *_hacks(),
    ]


def _hacks() -> list[Case]:
    asserting = ({"test_code": "assert add(1, 2) == 3"},)
    return [
        _case("hack: equal to everything", _LYING_EQUALITY, _ADD_TESTS, "wrong_answer"),
        _case(
            "hack: exit before the tests",
            _EXIT_BEFORE_THE_TESTS,
            asserting,
            "wrong_answer",
            "runtime_error",
        ),
    ]


def other_cases(*, has_cpp: bool) -> list[Case]:
    """Returns cases in other languages, with or without a C++ compiler."""
    shown = [
        _case("right program", _SUM_BASH, _SUM_TESTS, "accepted", reward=1.0, language="bash"),
    ]
    if has_cpp:
        wrong_type = _SUM_CPP.replace("long long a", "long long x")
        shown += [
            _case("right program", _SUM_CPP, _SUM_TESTS, "accepted", reward=1.0, language="cpp"),
            _case("undeclared name", wrong_type, _SUM_TESTS, "compile_error", language="cpp"),
        ]
    return shown
