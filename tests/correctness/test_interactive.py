"""Programs that talk with an interactor: both bounded, and neither decides by ending first."""

import pytest

from tests.correctness.judged import judge

GAME = """
import sys
secret, asked = int(open(sys.argv[1]).read()), 0
print(100, flush=True)
for line in sys.stdin:
    guess, asked = int(line), asked + 1
    if guess == secret:
        print("ok", flush=True)
        sys.exit(0)
    print("high" if guess > secret else "low", flush=True)
    if asked > 8: sys.exit(1)
sys.exit(2)
"""
SOLUTION = """
high, low = int(input()), 1
while True:
    middle = (low + high) // 2
    print(middle, flush=True)
    answer = input()
    if answer == "ok": break
    if answer == "high": high = middle - 1
    else: low = middle + 1
"""
CPP_SOLUTION = """
#include <iostream>
int main() {
    int high, low = 1;
    std::cin >> high;
    for (std::string answer; answer != "ok";) {
        int middle = (low + high) / 2;
        std::cout << middle << std::endl;
        if (!(std::cin >> answer)) return 1;
        if (answer == "high") high = middle - 1; else low = middle + 1;
    }
}
"""
CPP_GAME = """
#include <fstream>
#include <iostream>
int main(int, char **argv) {
    int secret, guess;
    std::ifstream(argv[1]) >> secret;
    std::cout << 100 << std::endl;
    while (std::cin >> guess) {
        if (guess == secret) { std::cout << "ok" << std::endl; return 0; }
        std::cout << (guess > secret ? "high" : "low") << std::endl;
    }
    return 1;
}
"""
SHORT = {"cpu_time_s": 1.0, "wall_time_s": 1.5}


def verdict(pipeline, code, interactor=GAME, language="python", own="python"):
    checker = {"type": "interactive", "language": own, "code": interactor}
    test = {"stdin": "37\n", "checker": checker}
    return judge(pipeline, code, test, language=language, limits=SHORT).verdict


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (SOLUTION, "accepted"),
        (
            "n = int(input())\nfor x in range(99): print(x, flush=True)\nwhile input(): pass",
            "wrong_answer",
        ),
        ("while True: pass", "time_limit_exceeded"),
        ("import time\ntime.sleep(99)", "time_limit_exceeded"),
        ("while True: print('1' * 1000)", "output_limit_exceeded"),
        ("print(open('input.txt').read())", "runtime_error"),
        ("1 / 0", "runtime_error"),
        ("x = (", "compile_error"),
        ("input()\nprint(37)\nraise SystemExit(3)", "runtime_error"),
        ("print('what?')", "wrong_answer"),
        (
            (
                "import os, time\nif os.fork() == 0: time.sleep(50)\nelse:\n"
                "  input(); print(37, flush=True)"
            ),
            "accepted",
        ),
    ],
)
def test_program_gets_the_verdict_of_what_it_did(pipeline, code, expected):
    assert verdict(pipeline, code) == expected


@pytest.mark.parametrize(
    "interactor",
    [
        "1 / 0",
        "raise SystemExit(77)",
        "x = (",
        "for i in range(10 ** 9): print('x' * 100_000)",
    ],
)
def test_interactor_that_breaks_tells_nothing_of_the_program(pipeline, interactor):
    assert verdict(pipeline, "print(1)", interactor) == "internal_error"


def test_program_that_reads_while_the_interactor_is_silent_is_late(pipeline):
    silent = "import time\ntime.sleep(1000)"
    assert verdict(pipeline, SOLUTION, silent) == "time_limit_exceeded"


def test_interactor_that_leaves_first_does_not_decide(pipeline):
    leaves = "print(100, flush=True)\nraise SystemExit(0)"
    patient = "input()\nfor _ in range(1000): print('x' * 100, flush=True)"
    assert verdict(pipeline, patient, leaves) == "accepted"
    assert verdict(pipeline, patient + "\n1 / 0", leaves) == "runtime_error"


@pytest.mark.parametrize(("interactor", "own"), [(GAME, "python"), (CPP_GAME, "cpp")])
def test_compiled_program_talks_with_interactors_in_python_and_its_own_language(
    pipeline, interactor, own
):
    found = verdict(pipeline, CPP_SOLUTION, interactor, language="cpp", own=own)
    assert found == "accepted"
