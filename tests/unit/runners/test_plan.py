"""What the text of tests decides before they run."""

import ast

import pytest

from runners import plan


def needs(source: str) -> str | None:
    return plan.needs_shared_process(ast.parse(source))


@pytest.mark.parametrize(
    "source",
    [
        "import asyncio",
        "from unittest.mock import patch\nwith patch('x'): pass",
        "async def test_f(): pass",
        "def test_f(tmp_path): pass",
        "class Dog(Animal): pass",
        "assert type(f(1)) is Point",
        "tree.items.append(1)",
        "tree.items[0] = 1",
        "import sys\nsys.stdin = None",
        "open('x')",
    ],
)
def test_tests_that_reach_into_the_process_need_it(source):
    assert needs(source)


@pytest.mark.parametrize(
    "source",
    [
        "assert f(1) == 2",
        "import math, sys, unittest, pytest",
        "class T(unittest.TestCase): pass",
        "class Own: pass\nclass Other(Own, ValueError): pass",
        "from unittest import TestCase\nclass T(TestCase): pass",
        "assert type(f(1)) is int",
        "self.items.append(1)",
        "from unittest.mock import Mock",
    ],
)
def test_tests_of_plain_data_need_none(source):
    assert needs(source) is None


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("assert f(1)", True),
        ("def test_f(): pass", True),
        ("def check(c): assert c\ncheck(f)", True),
        ("if f(1) != 2: raise ValueError", True),
        ("f(1)", False),
        ("print(f(1))", False),
        ("def check(c): assert c", False),
    ],
)
def test_code_without_a_check_is_known(source, expected):
    assert plan.checks_something(ast.parse(source)) is expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("assert abs(f(1) - 2) < 1", ["f"]),
        ("import solution\nassert abs(solution.f(1)) < 1", ["f"]),
        ("from solution import f\nassert f(1)", ["f"]),
        ("assert abs(-1) == 1", ["abs", "math", "f"]),
    ],
)
def test_names_of_the_library_are_the_candidates_only_if_they_are_tested(source, expected):
    assert plan.names_taken(ast.parse(source), ["abs", "math", "f"]) == expected
