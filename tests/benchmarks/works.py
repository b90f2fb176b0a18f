"""The same work done by the sandbox and by a bare subprocess."""

import itertools
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sandbox_service.languages import load_languages
from sandbox_service.sandbox.pool import Pool
from sandbox_service.schema.submission import Submission
from sandbox_service.settings import Settings
from sandbox_service.worker.boot import find_engine
from sandbox_service.worker.pipeline import Pipeline

PYTHON = "/usr/bin/python3"
_AT_A_TIME = 8
CPP = """#include <bits/stdc++.h>
int main() {{ std::vector<int> v; int x; while (std::cin >> x) v.push_back(x);
std::sort(v.begin(), v.end()); for (int y : v) std::cout << y << ' '; std::cout << "{mark}\\n"; }}
"""


@dataclass(frozen=True)
class Work:
    """One kind of work: how it is submitted, and how a bare subprocess does it."""

    name: str
    target: float
    """The ratio to reach."""

    submissions: Callable[[], Callable[[], Submission]]
    baseline: Callable[[], Callable[[], int]]
    fresh: bool = False


def _python(code: str, tests: int, **more) -> Submission:
    cases = [{"stdin": f"{n}\n", "expected_stdout": f"{n}\n"} for n in range(tests)]
    return Submission(language="python", code=code, tests=cases, **more)


def _always(submission: Submission) -> Callable[[], Callable[[], Submission]]:
    return lambda: lambda: submission


def _bare_python(code: str, tests: int) -> Callable[[], Callable[[], int]]:
    def step() -> int:
        for n in range(tests):
            done = subprocess.run(
                [PYTHON, "-I", "-c", code],
                input=f"{n}\n",
                capture_output=True,
                text=True,
                check=True,
            )
            assert done.stdout == f"{n}\n", done.stderr
        return 1

    return lambda: step


def _bare_cpp() -> Callable[[], int]:
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    marks = itertools.count()

    def step() -> int:
        (folder / "main.cpp").write_text(CPP.format(mark=next(marks)))
        build = ["g++", "-O2", "-std=gnu++17", "-o", "main", "main.cpp"]
        subprocess.run(build, cwd=folder, check=True)
        subprocess.run(
            [folder / "main"], input="3 1 2\n", capture_output=True, text=True, check=True
        )
        return 1

    return step


def _cpp(mark: int) -> Submission:
    case = {"stdin": "3 1 2\n", "expected_stdout": f"1 2 3 {mark}\n"}
    return Submission(language="cpp", code=CPP.format(mark=mark), tests=[case])


def _new_cpp() -> Callable[[], Submission]:
    marks = itertools.count()
    return lambda: _cpp(next(marks))


def _docker_run(image: str) -> Callable[[], Callable[[], int]]:
    command = ["docker", "run", "--rm", "--network", "none", image, PYTHON, "-I", "-c", "print(1)"]

    def step() -> int:
        subprocess.run(command, capture_output=True, check=True)
        return 1

    return lambda: step


ECHO = "print(input())"
NUMPY = "import numpy\nprint(input())"


def works(docker_image: str | None) -> list[Work]:
    """Returns what can be measured on this machine."""
    found = [
        Work("trivial Python", 3.0, _always(_python(ECHO, 1)), _bare_python(ECHO, 1)),
        Work("Python, 10 tests", 3.0, _always(_python(ECHO, 10)), _bare_python(ECHO, 10)),
    ]
    if shutil.which("g++"):
        found += [
            Work("C++, compile and run", 2.5, _new_cpp, _bare_cpp),
            Work("C++, same code again", 20.0, _always(_cpp(0)), _bare_cpp),
        ]
    has_numpy = (
        subprocess.run([PYTHON, "-c", "import numpy"], capture_output=True, check=False).returncode
        == 0
    )
    if has_numpy and docker_image:
        numpy = _python(NUMPY, 1).model_copy(update={"language": "python-scientific"})
        found.append(Work("Python importing numpy", 8.0, _always(numpy), _bare_python(NUMPY, 1)))
    if docker_image:
        once = _python(ECHO, 1, isolation="fresh")
        found.append(
            Work("fresh, against docker run", 1.5, _always(once), _docker_run(docker_image))
        )
    return found


def make_step(work: Work, settings: Settings):
    """Returns what a slot does: submissions through a worker's own pipeline, judged and priced.

    They come as a worker takes them out of a training step's queue: some at a time, and the next
    are run while those before are judged.
    """

    def make():
        pool = Pool(find_engine(settings), settings)
        pipeline = Pipeline(load_languages(settings.images_dir), pool)
        following = work.submissions()

        def begin():
            submissions = [following() for _ in range(_AT_A_TIME)]
            return submissions, pipeline.look_ahead(submissions)

        begun = [begin()]

        def step() -> int:
            submissions, wait = begun.pop()
            aheads = wait()
            begun.append(begin())
            for submission, ahead in zip(submissions, aheads, strict=True):
                result = pipeline.run("bench", submission, ahead)
                assert result.reward == 1.0, result
            return _AT_A_TIME

        return step, pipeline.close

    return make


def make_baseline(work: Work):
    """Returns what a slot of the baseline does."""
    return lambda: (work.baseline(), lambda: None)
