"""Four kinds of tests; which one a test is follows from the fields it has."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, JsonValue, Tag, model_validator

from sandbox_service.schema.base import Model
from sandbox_service.schema.checker import (
    Checker,
    CustomChecker,
    FloatChecker,
    InteractiveChecker,
    LinesChecker,
)


class _Weighted(Model):
    name: Annotated[str, Field(max_length=200)] | None = None
    """A name of the caller's choice, handed back in the result."""

    weight: Annotated[float, Field(ge=0, le=1e6)] = 1.0
    """Share of the score, relative to the other tests."""

    group: Annotated[str, Field(max_length=200)] | None = None
    """Tests of one group count only when all of them pass."""


class StdioTest(_Weighted):
    """A whole program: text in, text out. The expected text never enters the sandbox."""

    stdin: str = ""
    """Standard input, as UTF-8."""

    expected_stdout: str | None = None
    """What should be printed; may be left out only with a custom or interactive checker."""

    checker: Checker = LinesChecker()
    """How the output is compared."""

    args: tuple[str, ...] = ()
    """Command-line arguments of the program."""

    @model_validator(mode="after")
    def _has_an_expectation(self) -> "StdioTest":
        judged_by_program = isinstance(self.checker, CustomChecker | InteractiveChecker)
        if self.expected_stdout is None and not judged_by_program:
            raise ValueError(f"expected_stdout is required by the {self.checker.type} checker")
        return self


Operation = tuple[Annotated[str, Field(pattern=r"^[^\W\d]\w*$")], tuple[JsonValue, ...]]
"""Name of a method and its arguments."""

NodeType = Literal["ListNode", "TreeNode", "list[ListNode]", "list[TreeNode]"]


class NodeTypes(Model):
    """Which values are linked lists or trees, given and compared as plain lists.

    A tree is written level by level with null where a child is missing. The program finds the
    classes `ListNode` (val, next) and `TreeNode` (val, left, right) or brings its own.
    """

    args: tuple[NodeType | None, ...] = ()
    """For each positional argument; null for plain data."""

    returns: NodeType | None = None
    """For the value that counts."""


class CallTest(_Weighted):
    """A function or `Class.method`: arguments in, plain data out, compared on the host.

    Integers with more than 4300 digits are written `{"$int": "digits"}`.
    """

    function: Annotated[str, Field(pattern=r"^[^\W\d]\w*(\.[^\W\d]\w*)*$", max_length=200)]
    """Name of the function; `Class.method` makes an instance without arguments first."""

    args: tuple[JsonValue, ...] = ()
    """Positional arguments."""

    kwargs: dict[str, JsonValue] = {}
    """Keyword arguments."""

    expected: JsonValue
    """The value that should come back, in the JSON value space."""

    checker: FloatChecker | CustomChecker | None = None
    """None means equal in the JSON value space."""

    operations: Annotated[tuple[Operation, ...], Field(min_length=1, max_length=100_000)] | None = (
        None
    )
    """`[[name, [arguments]], …]`: `function` is then a class, made once with `args`, and `expected`
    the list of what its methods return. A first entry that names the class itself makes the
    instance instead, and null is expected for it."""

    result: Annotated[str, Field(pattern=r"^(return|argument:\d{1,2})$")] = "return"
    """`argument:0` compares the first argument as the function left it."""

    allow: tuple[Literal["set", "numpy"], ...] = ()
    """Further kinds of values: sets where a list is expected, NumPy's arrays and numbers."""

    types: NodeTypes | None = None
    """Linked lists and trees among arguments and result."""

    @model_validator(mode="after")
    def _result_is_there(self) -> "CallTest":
        if self.result != "return" and int(self.result.partition(":")[2]) >= len(self.args):
            raise ValueError(f"result: there is no {self.result}")
        if self.operations is not None and (self.types is not None or self.result != "return"):
            raise ValueError("operations have neither types nor another result")
        return self


class AssertTest(_Weighted):
    """Python test code (asserts, unittest, pytest), run apart from the candidate."""

    test_code: Annotated[str, Field(min_length=1)]
    """Source that uses the candidate's names."""

    entry_point: Annotated[str, Field(pattern=r"^[^\W\d]\w*$", max_length=200)] | None = None
    """Name that `check(candidate)` is called with at the end, as HumanEval's tests leave it out."""


class ExitCodeTest(_Weighted):
    """A program that brings its own checks and says by its exit code how they went."""

    stdin: str = ""
    """Standard input, as UTF-8."""

    exit_code: Annotated[int, Field(ge=0, le=255)]
    """The exit code that means success."""

    args: tuple[str, ...] = ()
    """Command-line arguments of the program."""


# The first field present decides, so that errors speak of the kind the caller meant.
_KIND_BY_FIELD = {
    "test_code": "assert",
    "function": "call",
    "exit_code": "exit_code",
    "expected_stdout": "stdio",
    "stdin": "stdio",
    "checker": "stdio",
}


def _kind(value: Any) -> str | None:
    fields = value if isinstance(value, dict) else getattr(value, "model_fields_set", ())
    return next((kind for field, kind in _KIND_BY_FIELD.items() if field in fields), None)


TestCase = Annotated[
    Annotated[StdioTest, Tag("stdio")]
    | Annotated[CallTest, Tag("call")]
    | Annotated[AssertTest, Tag("assert")]
    | Annotated[ExitCodeTest, Tag("exit_code")],
    Discriminator(
        _kind,
        custom_error_type="unknown_test_kind",
        custom_error_message=(
            "a test needs one of expected_stdout, function, test_code or exit_code"
        ),
    ),
]
