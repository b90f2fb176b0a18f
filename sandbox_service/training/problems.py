"""Programming problems, from files or from a small family that is made here.

The family `lists`: keep some numbers of a list, change each, and reduce the rest to an answer.
Every problem combines one part of each kind, so that who has understood the parts solves
combinations never seen. A program is one line of words between spaces, which a tiny model can
write.
"""

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from pydantic import JsonValue, ValidationError

from sandbox_service.errors import SettingsError
from sandbox_service.schema.base import Model

FAMILY = "family:lists"
_HELD_OUT_EVERY = 5
_LISTS = 4
_SHUFFLE_SEED = 20_240


class Problem(Model):
    """A prompt with tests."""

    id: str
    """Names the problem among all of a run."""

    domain: str = "default"
    """Kind of problem."""

    prompt: str
    """What the model reads."""

    tests: tuple[dict[str, JsonValue], ...]
    """As in a submission."""

    language: str = "python"
    """What completions are written in."""

    difficulty: float = 0.0
    """0 to 1, for a curriculum."""

    solution: str | None = None
    """A completion that is right, if one is known."""

    extract: bool = False
    """Whether completions are text with code in it, as chat models write, and not only code."""


class Part(NamedTuple):
    """One word of a prompt and what it means."""

    word: str
    """In a prompt."""
    code: str
    """In a program."""
    does: Callable[[Any], Any]
    """Of a number, or for the last part of a list."""


FILTERS = (
    Part("all", "True", lambda _: True),
    Part("even", "x % 2 == 0", lambda x: x % 2 == 0),
    Part("odd", "x % 2 == 1", lambda x: x % 2 == 1),
    Part("positive", "x > 0", lambda x: x > 0),
    Part("negative", "x < 0", lambda x: x < 0),
    Part("large", "x > 4", lambda x: x > 4),
)
MAPS = (
    Part("itself", "x", lambda x: x),
    Part("square", "x * x", lambda x: x * x),
    Part("double", "x + x", lambda x: x + x),
    Part("next", "x + 1", lambda x: x + 1),
    Part("negated", "- x", lambda x: -x),
    Part("absolute", "abs(x)", abs),
)
REDUCERS = (
    Part("total", "sum ( ys )", sum),
    Part("count", "len ( ys )", len),
    Part("maximum", "max ( ys + [0] )", lambda ys: max([*ys, 0])),
    Part("list", "ys", list),
    Part("sorted", "sorted ( ys )", sorted),
    Part("reversed", "ys [ ::-1 ]", lambda ys: ys[::-1]),
)
_KINDS = (FILTERS, MAPS, REDUCERS)
_NUMBER_REDUCERS = frozenset({"total", "count", "maximum"})


def prompt_of(keep: Part, change: Part, reduce: Part) -> str:
    """Writes a task in words."""
    return f"keep {keep.word} take {change.word} give {reduce.word}"


def program_of(keep: Part, change: Part, reduce: Part) -> str:
    """Writes the program that does it."""
    return f"def solve(xs): ys = [ {change.code} for x in xs if {keep.code} ]; return {reduce.code}"


def family() -> tuple[list[Problem], list[Problem]]:
    """Makes the training and the held-out problems, the same at every call."""
    parts = list(product(*_KINDS))
    draw = random.Random(_SHUFFLE_SEED)
    draw.shuffle(parts)
    problems = [_problem(each, draw) for each in parts]
    held_out = problems[::_HELD_OUT_EVERY]
    names = {problem.id for problem in held_out}
    return [problem for problem in problems if problem.id not in names], held_out


def _problem(parts: tuple[Part, Part, Part], draw: random.Random) -> Problem:
    keep, change, reduce = parts
    lists = [[draw.randint(-9, 9) for _ in range(draw.randint(4, 8))] for _ in range(_LISTS)]
    plain = sum(part is kind[0] for part, kind in zip(parts, _KINDS, strict=True))
    return Problem(
        id=f"lists-{keep.word}-{change.word}-{reduce.word}",
        domain="numbers" if reduce.word in _NUMBER_REDUCERS else "lists",
        prompt=prompt_of(*parts),
        tests=tuple(
            {"function": "solve", "args": [numbers], "expected": _answer(*parts, numbers)}
            for numbers in lists
        ),
        difficulty=1.0 - plain / 3,
        solution=program_of(*parts),
    )


def _answer(keep: Part, change: Part, reduce: Part, numbers: list[int]) -> JsonValue:
    answer: JsonValue = reduce.does([change.does(x) for x in numbers if keep.does(x)])
    return answer


def lazy_demonstration(problem: Problem, lazy_share: float, draw: random.Random) -> str:
    """Writes a program for a family's problem in which each part may be the laziest one.

    A model that imitates these knows the language and prefers easy answers, also where it would be
    certain: what a warm start from weak demonstrations is like.
    """
    words = problem.prompt.split()[1::2]
    chosen = []
    for word, kind in zip(words, _KINDS, strict=True):
        right = next(part for part in kind if part.word == word)
        chosen.append(kind[0] if draw.random() < lazy_share else right)
    return program_of(*chosen)


def family_words() -> list[str]:
    """Lists every word of the family's prompts and programs."""
    texts = [text for each in product(*_KINDS) for text in (prompt_of(*each), program_of(*each))]
    return sorted({word for text in texts for word in text.split()})


def problems_of(rows: Iterable[Mapping[str, Any]], domain: str, origin: str) -> Iterator[Problem]:
    """Reads problems from the rows of a file.

    Raises:
        SettingsError: a row is no problem; the message says which and why.
    """
    for number, row in enumerate(rows, start=1):
        try:
            problem = Problem.model_validate_json(json.dumps({"domain": domain, **row}))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise SettingsError(
                f"{origin}, row {number}: {first['loc']}: {first['msg']}"
            ) from error
        if not problem.tests:
            raise SettingsError(f"{origin}, row {number}: a problem needs tests")
        yield problem
