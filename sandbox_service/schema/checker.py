"""How an answer is compared with the expected one; the rules are in `judge.checkers`."""

import re
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from sandbox_service.schema.base import Model


class LinesChecker(Model):
    """Equal line by line; CRLF is LF, blanks at line ends and empty last lines are dropped."""

    type: Literal["lines"] = "lines"


class ExactChecker(Model):
    """Equal to the byte."""

    type: Literal["exact"]


class TokensChecker(Model):
    """Equal as sequences of words; all white space is the same."""

    type: Literal["tokens"]


class UnorderedChecker(Model):
    """Equal as multisets of lines."""

    type: Literal["unordered"]


class JsonChecker(Model):
    """Equal as JSON values."""

    type: Literal["json"]


class FloatChecker(Model):
    """Equal word by word, with tolerance where the expected word is written as a real number."""

    type: Literal["float"]

    abs_tol: Annotated[float, Field(ge=0)] = 1e-6
    """Absolute tolerance."""

    rel_tol: Annotated[float, Field(ge=0)] = 1e-6
    """Tolerance relative to the expected value."""


class CustomChecker(Model):
    """A program that decides, itself run in a sandbox of its own."""

    type: Literal["custom"]

    language: str = "python"
    """Language of the checker program."""

    code: Annotated[str, Field(min_length=1)]
    """`def check(stdin, stdout, expected)` giving a bool or a score 0-1, or a testlib program."""

    protocol: Literal["function", "testlib"] = "function"
    """`function` calls `check`; `testlib` runs the program with input, output and answer files."""

    @model_validator(mode="after")
    def _is_a_program(self) -> Self:
        if self.protocol == "function" and re.search(r"\bcheck\b", self.code) is None:
            raise ValueError("the code of a function checker has no name `check`")
        return self


class InteractiveChecker(Model):
    """A program that talks with the candidate over pipes and decides by its exit code."""

    type: Literal["interactive"]

    language: str = "python"
    """Language of the interactor."""

    code: Annotated[str, Field(min_length=1)]
    """The interactor; it reads the test's `stdin` as its first argument's file."""


Checker = Annotated[
    LinesChecker
    | ExactChecker
    | TokensChecker
    | UnorderedChecker
    | JsonChecker
    | FloatChecker
    | CustomChecker
    | InteractiveChecker,
    Field(discriminator="type"),
]
