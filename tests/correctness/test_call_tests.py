"""Call tests: what goes in, which value counts, and what is compared."""

from typing import Any

import pytest

from tests.correctness.judged import judge, verdict

LISTS = """
class Solution:
    def reverse(self, head):
        last = None
        while head: head.next, last, head = last, head, head.next
        return last
    def mirror(self, root: TreeNode):
        if root: root.left, root.right = self.mirror(root.right), self.mirror(root.left)
        return root
    def merge(self, lists):
        values = []
        for node in lists:
            while node: values.append(node.val); node = node.next
        first = last = ListNode()
        for value in sorted(values): last.next = ListNode(value); last = last.next
        return first.next
    def ring(self, head):
        head.next = head
        return head
"""
CACHE = """
class Cache:
    def __init__(self, size): self.size, self.items = size, {}
    def put(self, key, value):
        self.items.pop(key, None); self.items[key] = value
        if len(self.items) > self.size: del self.items[next(iter(self.items))]
    def get(self, key):
        if key not in self.items: return -1
        self.items[key] = self.items.pop(key)
        return self.items[key]
    def keys(self): return list(self.items)
    def raw(self): return self.items
"""
SMALL = """
def sort(items): items.sort()
def minus(a, *, b=2): return a - b
def power(n): return 10 ** n
def negative(x): return -x
def not_a_number(): return float("nan")
def unique(items): return set(items)
def nested(items): return {"k": [set(items)]}
def collect(x, found=[]):
    found.append(x)
    return found
def late():
    raise SystemExit(0)
"""


def test_methods_of_an_instance_are_called_in_turn(pipeline):
    test = {
        "function": "Cache",
        "args": [2],
        "operations": [
            ["put", [1, 1]],
            ["put", [2, 2]],
            ["get", [1]],
            ["put", [3, 3]],
            ["get", [2]],
        ],
        "expected": [None, None, 1, None, -1],
    }
    assert verdict(pipeline, CACHE, test) == "accepted"


def test_first_operation_that_names_the_class_makes_the_instance(pipeline):
    operations = [["Cache", [1]], ["put", [1, 1]], ["get", [1]]]
    test = {"function": "Cache", "operations": operations, "expected": [None, None, 1]}
    assert verdict(pipeline, CACHE, test) == "accepted"


def test_value_returned_counts_as_it_was_then(pipeline):
    operations = [["raw", []], ["put", [1, 2]], ["raw", []]]
    test = {"function": "Cache", "args": [3], "operations": operations}
    test["expected"] = [{}, None, {"1": 2}]
    assert verdict(pipeline, CACHE, test) == "accepted"


def test_missing_method_is_a_runtime_error(pipeline):
    test = {"function": "Cache", "args": [2], "operations": [["nope", []]], "expected": [None]}
    assert verdict(pipeline, CACHE, test) == "runtime_error"


@pytest.mark.parametrize(
    ("function", "args", "expected", "types"),
    [
        ("reverse", [[1, 2, 3]], [3, 2, 1], {"args": ["ListNode"], "returns": "ListNode"}),
        ("reverse", [[]], [], {"args": ["ListNode"], "returns": "ListNode"}),
        (
            "mirror",
            [[1, 2, 3, None, 4]],
            [1, 3, 2, None, None, 4],
            {"args": ["TreeNode"], "returns": "TreeNode"},
        ),
        ("mirror", [[]], [], {"args": ["TreeNode"], "returns": "TreeNode"}),
        ("merge", [[[1, 4], [2]]], [1, 2, 4], {"args": ["list[ListNode]"], "returns": "ListNode"}),
    ],
)
def test_lists_and_trees_are_built_and_taken_apart(pipeline, function, args, expected, types):
    test = {"function": function, "args": args, "expected": expected, "types": types}
    assert verdict(pipeline, LISTS, test) == "accepted"


def test_linked_list_without_an_end_is_a_wrong_answer(pipeline):
    types = {"args": ["ListNode"], "returns": "ListNode"}
    test = {"function": "ring", "args": [[1]], "expected": [1], "types": types}
    assert verdict(pipeline, LISTS, test) == "wrong_answer"


def test_classes_of_nodes_may_be_the_programs_own(pipeline):
    own = (
        "class ListNode:\n  def __init__(self, val=0, next=None): self.val, self.next = val, next\n"
    )
    types = {"args": ["ListNode"], "returns": "ListNode"}
    test = {"function": "f", "args": [[1]], "expected": [1], "types": types}
    code = own + "def f(head): return head if type(head) is ListNode else None"
    assert verdict(pipeline, code, test) == "accepted"


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ({"function": "sort", "args": [[3, 1]], "expected": [1, 3], "result": "argument:0"}, True),
        ({"function": "sort", "args": [[3, 1]], "expected": [1, 3]}, False),
        ({"function": "minus", "args": [5], "kwargs": {"b": 1}, "expected": 4}, True),
        ({"function": "power", "args": [100], "expected": 10**100}, True),
        ({"function": "power", "args": [5000], "expected": {"$int": "1" + "0" * 5000}}, True),
        (
            {"function": "power", "args": [5000], "expected": {"$int": "1" + "0" * 4999 + "1"}},
            False,
        ),
        (
            {
                "function": "negative",
                "args": [{"$int": "9" * 6000}],
                "expected": {"$int": "-" + "9" * 6000},
            },
            True,
        ),
        ({"function": "not_a_number", "expected": {"$float": "nan"}}, True),
        ({"function": "not_a_number", "expected": 0.0}, False),
        ({"function": "unique", "args": [[1, 2, 2]], "expected": [2, 1], "allow": ["set"]}, True),
        ({"function": "unique", "args": [[1, 2, 2]], "expected": [2, 1]}, False),
        ({"function": "unique", "args": [[1, 2, 2]], "expected": {"$set": [2, 1]}}, True),
        ({"function": "nested", "args": [[1]], "expected": {"k": [[1]]}, "allow": ["set"]}, True),
        ({"function": "collect", "args": [1], "expected": [1]}, True),
    ],
)
def test_value_that_counts_is_compared(pipeline, test: dict[str, Any], expected):
    assert (verdict(pipeline, SMALL, test) == "accepted") is expected


def test_each_test_is_a_process_of_its_own(pipeline):
    tests = [{"function": "collect", "args": [x], "expected": [x]} for x in (1, 2)]
    assert judge(pipeline, SMALL, *tests).passed == 2


def test_function_that_exits_is_a_runtime_error(pipeline):
    assert verdict(pipeline, SMALL, {"function": "late", "expected": None}) == "runtime_error"


def test_numpy_values_are_taken_where_the_test_says_so(pipeline):
    # A stand-in for the library: what counts is the exact type of that name.
    library = (
        "class generic:\n  def __init__(self, v): self.v = v\n  def item(self): return self.v\n"
        "  tolist = item\nclass float64(generic): pass\nclass ndarray(generic): pass\n"
    )
    code = "import numpy\ndef f(x): return numpy.ndarray([1, 2]) if x else numpy.float64(0.5)"
    test = {"function": "f", "args": [1], "expected": [1, 2]}
    files = {"numpy.py": library}
    assert verdict(pipeline, code, test, files=files) == "wrong_answer"
    allowing = [test | {"allow": ["numpy"]}, {**test, "args": [0], "expected": 0.5}]
    allowing[1]["allow"] = ["numpy"]
    assert verdict(pipeline, code, *allowing, files=files) == "accepted"
