"""Assert, unittest and pytest tests against a candidate in another process."""

from textwrap import dedent

import pytest

from tests.correctness.judged import judge, verdict

LIBRARY = """
import functools, math
from collections import namedtuple

Point = namedtuple("Point", "x y")

class CodeError(ValueError):
    def __init__(self, code):
        super().__init__(f"code {code}")
        self.code = code

class Stack:
    def __init__(self, items=()): self.items = list(items)
    def push(self, item): self.items.append(item)
    def pop(self):
        if not self.items: raise IndexError("empty")
        return self.items.pop()
    def __len__(self): return len(self.items)
    def __iter__(self): return iter(self.items)
    def __eq__(self, other): return isinstance(other, Stack) and self.items == other.items

class Vector:
    def __init__(self, x, y): self.x, self.y = x, y
    def __add__(self, other): return Vector(self.x + other.x, self.y + other.y)
    def __mul__(self, k): return Vector(self.x * k, self.y * k)
    __rmul__ = __mul__
    def __eq__(self, other):
        return (self.x, self.y) == ((other.x, other.y) if isinstance(other, Vector) else other)
    def __abs__(self): return math.hypot(self.x, self.y)

class Single:
    _one = None
    def __new__(cls):
        cls._one = cls._one or object.__new__(cls)
        return cls._one

def add(a, b): return a + b
def div(a, b): return a / b
def fail(code): raise CodeError(code)
def squares(n):
    for i in range(n): yield i * i
def sort(items): items.sort()
def appended(items):
    items.append(1)
    return items
def apply(function, items): return [function(item) for item in items]
def compose(f, g): return lambda x: f(g(x))
def greet(name): print("Hello,", name)
def point(): return Point(1, 2)
def counted(function):
    @functools.wraps(function)
    def wrapper(*args):
        wrapper.calls += 1
        return function(*args)
    wrapper.calls = 0
    return wrapper
def retry(times, exceptions=(Exception,)):
    def decorate(function):
        def wrapper(*args):
            for _ in range(times):
                try: return function(*args)
                except exceptions as error: last = error
            raise last
        return wrapper
    return decorate
"""

FITTING = {
    "values": "assert add([1], [2]) == [1, 2] and add((1,), (2,)) == (1, 2)",
    "exception": """
        import pytest
        with pytest.raises(CodeError, match="code 4") as caught: fail(4)
        assert caught.value.code == 4
        """,
    "object": "s = Stack([1]); s.push(2)\nassert len(s) == 2 and s.pop() == 2 and list(s) == [1]",
    "equal objects": "assert Stack([1]) == Stack([1]) and Stack() != Stack([1])",
    "isinstance": "assert isinstance(Stack(), Stack) and not isinstance(Stack(), Vector)",
    "operators": "assert Vector(1, 2) + Vector(1, 1) == Vector(2, 3) and 2 * Vector(1, 2) == (2, 4)",
    "abs": "assert abs(Vector(3, 4)) == 5",
    "same object": "assert Single() is Single()",
    "named tuple": "assert point() == (1, 2) and point().x == 1",
    "generator": "assert list(squares(4)) == [0, 1, 4, 9] and sum(squares(3)) == 5",
    "in place": "items = [3, 1, 2]; sort(items)\nassert items == [1, 2, 3]",
    "the same list": "items = []\nassert appended(items) is items and items == [1]",
    "callback": "assert apply(lambda x: x + 1, [1, 2]) == [2, 3] and apply(str, [1]) == ['1']",
    "function of functions": "assert compose(lambda x: x + 1, lambda x: x * 2)(5) == 11",
    "iterator of the tests": "assert apply(abs, iter([-1, 2])) == [1, 2]",
    "decorator": """
        @counted
        def twice(a):
            "doc"
            return a * 2
        assert twice(4) == 8 and twice.calls == 1
        assert twice.__name__ == "twice" and twice.__doc__ == "doc"
        """,
    "exception of the tests": """
        import pytest
        class Own(Exception): pass
        tries = []
        @retry(3, (Own,))
        def late():
            tries.append(1)
            if len(tries) < 3: raise Own("not yet")
            return "done"
        assert late() == "done"
        @retry(2)
        def never(): raise Own("never")
        with pytest.raises(Own): never()
        """,
    "mock": """
        from unittest.mock import Mock
        callback = Mock(return_value=3)
        assert apply(callback, [1, 2]) == [3, 3]
        callback.assert_called_with(2)
        """,
    "output": """
        import contextlib, io
        out = io.StringIO()
        with contextlib.redirect_stdout(out): greet("Bob")
        assert out.getvalue() == "Hello, Bob\\n"
        """,
    "import": "from solution import add as plus\nimport main\nassert plus(1, 2) == main.add(0, 3)",
    "pytest": """
        import pytest
        @pytest.fixture
        def stack():
            made = Stack(); made.push(1)
            yield made
            assert len(made) == 0
        @pytest.mark.parametrize("a, b, c", [(1, 2, 3), pytest.param(2, 2, 4, id="two")])
        def test_add(a, b, c): assert add(a, b) == c
        def test_stack(stack): assert stack.pop() == 1
        def test_output(capsys):
            greet("x")
            assert capsys.readouterr().out == "Hello, x\\n"
        def test_approx(): assert div(1, 3) == pytest.approx(0.33333, abs=1e-4)
        @pytest.mark.skip
        def test_skipped(): assert False
        class TestStack:
            def setup_method(self): self.stack = Stack()
            def test_empty(self):
                with pytest.raises(IndexError): self.stack.pop()
        """,
    "unittest": """
        import unittest
        class Tests(unittest.TestCase):
            def setUp(self): self.stack = Stack()
            def test_add(self): self.assertEqual(add(1, 2), 3)
            def test_error(self):
                with self.assertRaises(CodeError) as caught: fail(2)
                self.assertEqual(caught.exception.code, 2)
            def test_parts(self):
                for i in range(3):
                    with self.subTest(i=i): self.assertAlmostEqual(div(i, 2), i / 2)
        unittest.main()
        """,
}

ALWAYS = """
class Always:
    def __eq__(self, other): return True
    def __lt__(self, other): return True
    __gt__ = __le__ = __ge__ = __contains__ = __lt__
    def __sub__(self, other): return 0.0
    def __rsub__(self, other): return 0.0
    def __abs__(self): return 0.0
    def __hash__(self): return 0
def f(*args): return Always()
"""

FORGED = {
    "equal to everything": (ALWAYS, "assert f(1) == 2"),
    "equal from the right": (ALWAYS, "assert 2 == f(1)"),
    "smaller than everything": (ALWAYS, "assert f(1) < 2"),
    "near to everything": (ALWAYS, "assert abs(f(1) - 2) < 1e-6"),
    "contains everything": (ALWAYS, "assert 3 in f(1)"),
    "in a list": (ALWAYS, "assert [f(1)] == [2] or f(1) in [2, 3]"),
    "almost equal": (ALWAYS, "import unittest\nunittest.TestCase().assertAlmostEqual(f(1), 2)"),
    "approx": (ALWAYS, "import pytest\nassert f(1) == pytest.approx(2)"),
    "text that is equal": (
        "class S(str):\n  __eq__ = lambda *_: True\n  __hash__ = str.__hash__\ndef f(x): return S()",
        "assert f(1) == 'a'",
    ),
    "abs of its own": ("def abs(x): return 0\ndef f(x): return 7", "assert abs(f(1) - 2) < 1e-6"),
    "abs beside a module": (
        "def abs(x): return 0\ndef f(x): return 7",
        "import solution\nassert abs(solution.f(1) - 2) < 1e-6",
    ),
    "math of its own": (
        "class math:\n  isclose = lambda *a, **k: True\ndef f(x): return 7",
        "assert math.isclose(f(1), 2)",
    ),
    "exit taken for an exception": (
        "import os\ndef f(x): os._exit(0)",
        "import pytest\nwith pytest.raises(Exception): f(1)",
    ),
    "exit while everything is caught": (
        "import os\ndef f(x): os._exit(0)",
        "def test_f():\n  try: f(1)\n  except BaseException: pass",
    ),
    "globals of a callback": (
        "def f(g): return g.__globals__.update(f=None)",
        "g = lambda: 1\nassert f(g) is None",
    ),
    "frame of an iterator": (
        "def f(g): return g.gi_frame.f_globals",
        "g = (i for i in [1])\nassert f(g)",
    ),
    "raw request for globals": (
        (
            "import gc\ndef f(g):\n"
            "  line = next(o for o in gc.get_objects() if type(o).__name__ == 'Line')\n"
            "  for name in ('__globals__', '__code__', '__closure__', '__init__', 'gi_frame'):\n"
            "    try: return line.ask('getattr', 0, (name,), {})\n"
            "    except AttributeError: pass"
        ),
        "g = lambda: 1\nassert f(g)",
    ),
}


@pytest.mark.parametrize("tests", FITTING.values(), ids=list(FITTING))
def test_candidate_that_fits_is_accepted_in_a_process_of_its_own(pipeline, tests):
    result = judge(pipeline, LIBRARY, dedent(tests))
    assert (result.verdict, result.trust) == ("accepted", "isolated"), result.tests


@pytest.mark.parametrize(("code", "tests"), FORGED.values(), ids=list(FORGED))
def test_candidate_that_lies_is_rejected(pipeline, code, tests):
    result = judge(pipeline, code, tests)
    assert result.verdict in {"wrong_answer", "runtime_error"}
    assert (result.score, result.trust) == (0.0, "isolated")


def test_function_named_like_a_builtin_is_tested_if_it_is_all_that_is(pipeline):
    assert verdict(pipeline, "def sum(a, b): return a + b", "assert sum(1, 2) == 3") == "accepted"


def test_checks_are_counted_one_by_one(pipeline):
    tests = "def check(candidate):\n  assert candidate(1) == 1\n  assert candidate(2) == 3"
    result = judge(pipeline, "def f(x): return x", {"test_code": tests, "entry_point": "f"})
    assert [(each.name, each.passed) for each in result.tests[0].checks] == [
        ("line 2", True), ("line 3", False),
    ]  # fmt: skip
    assert (result.verdict, result.score) == ("wrong_answer", 0.5)


@pytest.mark.parametrize(
    "tests", ["assert f(1", "x = 1", "print(f(1))", "import nowhere\nassert f(1)"]
)
def test_test_code_that_cannot_judge_tells_nothing(pipeline, tests):
    result = judge(pipeline, "def f(x): return x", tests)
    assert (result.verdict, result.reward) == ("internal_error", None)
    assert result.tests[0].detail.startswith("test_code: ")


def test_files_of_a_completion_are_not_there_for_the_tests(pipeline):
    blocks = {"statistics.py": "def mean(*a): return 0", "main.py": "def f(x): return 0"}
    text = "\n".join(f"```python {path}\n{code}\n```" for path, code in blocks.items())
    tests = {"test_code": "import statistics\nassert f(1) == statistics.mean([1, 3])"}
    result = judge(pipeline, None, tests, completion=text)
    assert list(result.extracted.files) == ["statistics.py"]
    assert (result.verdict, result.trust) == ("wrong_answer", "isolated")


def test_files_that_were_sent_are_there_for_both_sides(pipeline):
    tests = {"test_code": "import numbers_sent\nassert f() == numbers_sent.N == 5"}
    code = "from numbers_sent import N\ndef f(): return N"
    result = judge(pipeline, code, tests, files={"numbers_sent.py": "N = 5"})
    assert result.verdict == "accepted", result.tests
