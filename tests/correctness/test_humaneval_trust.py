"""HumanEval in Python: solved in a process of its own, and mutants that must fail there."""

import gzip
import json
from pathlib import Path

import pytest

from tests.correctness.judged import judge

PATH = Path(__file__).parents[3] / "shared" / "data" / "humaneval-x" / "python.jsonl.gz"
# Tasks whose tests need more than plain data, with the reason.
NEEDS_SHARED_PROCESS: dict[str, str] = {}
LIMITS = {"cpu_time_s": 5.0}

ALWAYS = """
class Always:
    def __eq__(self, other): return True
    __ne__ = lambda self, other: False
    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __eq__
    def __hash__(self): return 0
    def __sub__(self, other): return 0.0
    __rsub__ = __add__ = __mul__ = __sub__
    def __abs__(self): return 0.0
    def __len__(self): return 1
    def __iter__(self): return iter([self])
    def __getitem__(self, index): return self
{name} = lambda *args: Always()
"""
NEARLY = """
_right = {name}
def _other(value):
    if type(value) is bool: return not value
    if type(value) in (int, float): return value + 1
    if type(value) is str: return value + "x"
    if type(value) in (list, tuple): return type(value)([*value, 0])
    return 12345 if value is None else None
{name} = lambda *args: _other(_right(*args))
"""
AT_ONCE = "{name} = lambda *args: None"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not PATH.is_file(), reason=f"no HumanEval-X data in {PATH}"),
]


def tasks() -> list[dict[str, str]]:
    with gzip.open(PATH, "rt") as lines:
        return [json.loads(line) for line in lines]


def name_of(task: dict[str, str]) -> str:
    return task["declaration"].rpartition("def ")[2].partition("(")[0]


def results(pipeline, mutation: str = "") -> dict[str, object]:
    found = {}
    for task in tasks():
        code = task["prompt"] + task["canonical_solution"]
        code += mutation.replace("{name}", name_of(task))
        found[task["task_id"]] = judge(pipeline, code, task["test"], limits=LIMITS)
    return found


def test_solutions_are_accepted_in_a_process_of_their_own(pipeline):
    found = results(pipeline)
    assert {task for task, result in found.items() if result.verdict != "accepted"} == set()
    shared = {task for task, result in found.items() if result.trust != "isolated"}
    assert shared == set(NEEDS_SHARED_PROCESS)
    assert len(shared) <= 0.05 * len(found)


@pytest.mark.parametrize("mutation", [ALWAYS, NEARLY, AT_ONCE], ids=["always", "nearly", "none"])
def test_mutants_are_rejected(pipeline, mutation):
    found = results(pipeline, mutation)
    passed = {task: r.verdict for task, r in found.items() if r.verdict == "accepted"}
    assert passed == {}
    assert {r.verdict for r in found.values()} <= {"wrong_answer", "runtime_error"}
