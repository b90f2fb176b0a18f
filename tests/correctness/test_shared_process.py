"""Tests that need the candidate's own process: what they can see, and what it cannot forge."""

import pytest

from sandbox_service.errors import InvalidSubmission
from sandbox_service.languages import load_languages
from sandbox_service.settings import Settings
from sandbox_service.worker.pipeline import Pipeline
from tests.correctness.judged import judge

# Whatever needs the loop needs the process.
TESTS = "import asyncio\nassert f(1) == 2\nassert f(2) == 3"
UNITTEST = (
    "import asyncio, unittest\nclass T(unittest.TestCase):\n"
    "  def test_f(self): self.assertEqual(f(1), 2)"
)

FITTING = {
    "coroutine": (
        "async def f(x): return x + 1",
        "import asyncio\nassert asyncio.run(f(1)) == 2",
    ),
    "derived class": (
        "class Animal:\n  def speak(self): return '?'\n  def shout(self): return self.speak() * 2",
        "class Dog(Animal):\n  def speak(self): return 'wau'\nassert Dog().shout() == 'wauwau'",
    ),
    "patched input": (
        "def f(): return int(input()) + 1",
        (
            "from unittest.mock import patch\n"
            "def test_f():\n  with patch('builtins.input', return_value='3'): assert f() == 4"
        ),
    ),
    "library that asks for frames": (
        (
            "import dataclasses, enum, logging\nfrom collections import namedtuple\n"
            "P = namedtuple('P', 'x')\nclass E(enum.Enum): A = 1\n"
            "@dataclasses.dataclass\nclass D: x: int = 1\nlogging.warning('hi')\n"
            "def f(): return P(1).x + D().x"
        ),
        "import asyncio\nassert f() == 2",
    ),
}

FORGED = {
    "sprayed reports": "import os\nfor fd in range(3, 256):\n"
    '  try: os.write(fd, b\'{"checks":[["a",true,""]]}\')\n  except OSError: pass\nos._exit(0)',
    "exit": "import sys\ndef f(x): sys.exit(0)",
    "hard exit": "import os\ndef f(x): os._exit(0)",
    "exit at the end": "import atexit, os\natexit.register(os._exit, 0)\ndef f(x): return 0",
    "frames": "import sys\ndef f(x): return sys._getframe().f_back.f_locals",
    "frames of a traceback": "def f(x):\n  try: 1 / 0\n"
    "  except ZeroDivisionError as e: return e.__traceback__.tb_frame.f_back",
    "frames of a generator": "g = (i for i in [1])\ndef f(x): return g.gi_frame",
    "frames of a signal": "import signal\ndef f(x):\n  signal.signal(14, lambda *a: a)",
    "trace": "import sys\ndef f(x): sys.settrace(lambda *a: None)",
    "other objects": "import gc\ndef f(x): return gc.get_objects()",
    "raw memory": "import ctypes\ndef f(x): return 0",
    "memory as a file": "def f(x): return open('/proc/self/mem', 'r+b')",
    "another hook": "import sys\ndef f(x): sys.addaudithook(lambda *a: None)",
    "patched built-in names": "import builtins\nbuiltins.AssertionError = ValueError\n"
    "builtins.isinstance = lambda *a: True\nbuiltins.exec = lambda *a: None\ndef f(x): return 0",
    "patched by a call": "import builtins\ndef f(x):\n  builtins.exec = lambda *a: None\n  return 0",
    "patched unittest": "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n"
    "unittest.TestCase.run = lambda self, r=None: r\ndef f(x): return 0",
    "patched json": "import json\njson.dumps = json.JSONEncoder.encode = lambda *a: ''\n"
    "def f(x): return 0",
}


@pytest.mark.parametrize(("code", "tests"), FITTING.values(), ids=list(FITTING))
def test_candidate_that_fits_is_accepted_with_lower_trust(pipeline, code, tests):
    result = judge(pipeline, code, tests)
    assert (result.verdict, result.trust) == ("accepted", "shared_process"), result.tests


@pytest.mark.parametrize("tests", [TESTS, UNITTEST], ids=["assert", "unittest"])
@pytest.mark.parametrize("code", FORGED.values(), ids=list(FORGED))
def test_candidate_that_forges_is_rejected(pipeline, code, tests):
    result = judge(pipeline, code, tests)
    assert result.verdict in {"wrong_answer", "runtime_error"}
    assert (result.score, result.trust) == (0.0, "shared_process")


def test_candidate_cannot_choose_the_shared_process(pipeline):
    result = judge(pipeline, "async def f(x): return x + 1", "assert f(1) == 2")
    assert (result.verdict, result.trust) == ("wrong_answer", "isolated")


def test_test_code_that_does_not_parse_tells_nothing(pipeline):
    result = judge(pipeline, "def f(x): return x", "import asyncio\nassert f(1")
    assert (result.verdict, result.reward) == ("internal_error", None)


def test_missing_module_of_the_tests_tells_nothing(pipeline):
    result = judge(pipeline, "def f(x): return x", "import asyncio\nimport nowhere\nassert f(1)")
    assert (result.verdict, result.reward) == ("internal_error", None)


def test_setting_refuses_tests_that_need_it(pipeline):
    languages = load_languages(Settings().images_dir)
    strict = Pipeline(languages, pipeline._source, allow_shared_process=False)
    with pytest.raises(InvalidSubmission, match="own process") as refused:
        judge(strict, "def f(x): return x", "assert f(1) == 1", TESTS)
    assert refused.value.field == "tests.1.test_code"


def test_setting_refuses_exit_code_tests(pipeline):
    languages = load_languages(Settings().images_dir)
    strict = Pipeline(languages, pipeline._source, allow_exit_code_tests=False)
    with pytest.raises(InvalidSubmission, match="exit code"):
        judge(strict, "", {"stdin": "", "exit_code": 0})
