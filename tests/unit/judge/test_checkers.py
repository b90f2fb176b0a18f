"""The rules of the checkers, each with the smallest output that shows it."""

import pytest
from pydantic import TypeAdapter

from sandbox_service.errors import InvalidSubmission
from sandbox_service.judge.checkers import check
from sandbox_service.schema.checker import Checker

_CHECKER = TypeAdapter(Checker)


def outcome(kind, stdout, expected, **fields):
    stdout = stdout.encode() if isinstance(stdout, str) else stdout
    checker = _CHECKER.validate_python({"type": kind, **fields})
    return check(checker, stdout=stdout, expected=expected)


def is_right(kind, stdout, expected, **fields):
    return outcome(kind, stdout, expected, **fields).score == 1


RIGHT = [
    ("lines", "42", "42\n"),
    ("lines", "42\n", "42"),
    ("lines", "3\n6\n", "3\r\n6\r\n"),
    ("lines", "3\r\n6\r\n", "3\n6\n"),
    ("lines", "a \t\nb\t\n", "a\nb"),
    ("lines", "a\n\n \n\t\n", "a\n"),
    ("lines", "", ""),
    ("lines", "\n \n", ""),
    ("lines", "", "\n"),
    ("lines", "1 😀\n", "1 😀\n"),
    ("lines", "a\0b\n", "a\0b\n"),
    ("exact", "a \r\n", "a \r\n"),
    ("exact", "", ""),
    ("tokens", " 1\n2\t3\f4\v5\r6 ", "1 2 3 4 5 6"),
    ("tokens", " \n", ""),
    ("unordered", "b\na\nb\n", "b\nb\na"),
    ("unordered", "b \r\na\n\n", "a\nb\n"),
    ("unordered", "", "\n"),
    ("json", '{"b": [1, 2.0], "a": null}', '{"a":null,"b":[1.0,2]}'),
    ("json", " \n[true]\n", "[true]"),
    ("float", "0.333333333 0.666666667", "0.3333333333 0.6666666666"),
    ("float", "2e-07", "0.0000002000"),
    ("float", "0.000000001", "0.0"),
    ("float", "3", "3.0"),
    ("float", "x 1.0", "x 1.0000001"),
    ("float", "", " "),
]
WRONG = [
    ("lines", "*\n***\n", " *\n***\n"),
    ("lines", "a  b", "a b"),
    ("lines", "a\n\nb", "a\nb"),
    ("lines", "\na", "a"),
    ("lines", "9\ndone\n", "9\n"),
    ("lines", "9\n", "9\n10\n"),
    ("lines", "Yes", "yes"),
    ("lines", "x", ""),
    ("lines", "", "x"),
    ("lines", "\ufeffa", "a"),
    ("lines", "a\0", "a"),
    ("lines", "a\u00a0", "a"),
    ("lines", "a\f", "a"),
    ("lines", "aX", "a"),
    ("lines", "aX\nb", "a\nb"),
    ("lines", "a\u2028b", "a\nb"),
    ("lines", "a\rb", "a\nb"),
    ("lines", "1_000", "1000"),
    ("lines", "42", "0042"),
    ("lines", b"\xff\xfe", "\ufffd\ufffd"),
    ("lines", b"\xff\xfe\x80", "[DecodeError]\n"),
    ("exact", "a", "a\n"),
    ("exact", "a\r\n", "a\n"),
    ("exact", "b", "a"),
    ("tokens", "12", "1 2"),
    ("tokens", "1", "1 2"),
    ("tokens", "1 2 3", "1 2"),
    ("tokens", "1\u00a02", "1 2"),
    ("unordered", "a\nb", "a\nb\nb"),
    ("unordered", "a\nb\nb", "a\nb"),
    ("unordered", "a b", "b a"),
    ("json", "[1, 2]", "[2, 1]"),
    ("json", "[1]", "[true]"),
    ("json", '{"a": 1, "a": 2}', '{"a": 2}'),
    ("json", "NaN", "null"),
    ("json", "", "null"),
    ("json", "\ufeff1", "1"),
    ("json", b"\xff", "1"),
    ("json", "[" * 100_000, "[]"),
    ("float", "1.414", "1.414213562"),
    ("float", "nan", "0.5"),
    ("float", "inf", "1e308"),
    ("float", "1_0.0", "10.0"),
    ("float", "0x1p1", "2.0"),
    ("float", "3.0", "3"),
    ("float", "50000000000000000", "50000000000000001"),
    ("float", "1.0 2.0", "1.0"),
    ("float", "abc", "1.0"),
]


@pytest.mark.parametrize(("kind", "stdout", "expected"), RIGHT)
def test_checker_takes_what_its_rules_ignore(kind, stdout, expected):
    assert is_right(kind, stdout, expected)


@pytest.mark.parametrize(("kind", "stdout", "expected"), WRONG)
def test_checker_refuses_what_its_rules_count(kind, stdout, expected):
    assert outcome(kind, stdout, expected).score == 0


@pytest.mark.parametrize(
    ("kind", "stdout", "expected", "detail"),
    [
        ("lines", "a\nb\n", "a\nc\n", "line 2 differs: 'b'"),
        ("lines", "a\n", "a\nsecret\n", "line 2 is missing"),
        ("lines", "a\nb\n", "a\n", "line 2 is too many: 'b'"),
        ("lines", "x" * 100, "y", f"line 1 differs: '{'x' * 60}'…"),
        ("lines", "x" * 60, "y", f"line 1 differs: '{'x' * 60}'"),
        ("lines", b"\xff", "y", "line 1 differs: '\ufffd'"),
        ("exact", "abc", "abd", "byte 3 differs: 'c'"),
        ("exact", "ab", "abd", "2 bytes instead of 3"),
        ("tokens", "a b", "a c", "word 2 differs: 'b'"),
        ("tokens", "a", "a c", "1 words instead of 2"),
        ("unordered", "a\na\n", "a\nb\n", "1 too many of the line 'a'"),
        ("unordered", "a\n", "a\nb\nc\n", "2 lines are missing"),
        ("json", "1", "2", "another JSON value"),
    ],
)
def test_detail_shows_the_output_and_never_the_expectation(kind, stdout, expected, detail):
    assert outcome(kind, stdout, expected) == (0.0, detail)


def test_json_detail_says_why_the_output_is_not_json():
    assert outcome("json", "[1", "[1]").detail.startswith("not JSON: ")


@pytest.mark.parametrize("expected", ["", "[1", "NaN"])
def test_json_checker_without_json_to_expect_is_the_senders_fault(expected):
    with pytest.raises(InvalidSubmission, match=r"^the expected output is not JSON$") as caught:
        outcome("json", "1", expected)

    assert caught.value.field == "expected_stdout"


@pytest.mark.parametrize("kind", ["custom", "interactive"])
def test_checker_that_is_a_program_is_not_run_here(kind):
    with pytest.raises(TypeError, match=f"a {kind} checker is a program"):
        outcome(kind, "", "", code="def check(*_): return True")


@pytest.mark.parametrize("kind", ["lines", "exact", "tokens", "unordered", "float"])
def test_checker_reads_lone_surrogates_of_an_expectation(kind):
    assert outcome(kind, "x", "\ud83d").score == 0


@pytest.mark.parametrize("kind", ["lines", "tokens", "unordered"])
def test_checker_takes_long_runs_of_blanks_in_linear_time(kind):
    blanks = " " * 2_000_000

    assert not is_right(kind, f"a{blanks}b\n{blanks}", "a")
