"""Laws of checkers, values and scores that hold for every input."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from sandbox_service.judge.checkers import check
from sandbox_service.judge.scoring import summarise
from sandbox_service.judge.values import decode, decode_expected, equal
from sandbox_service.schema import result
from sandbox_service.schema.checker import Checker
from sandbox_service.schema.testcase import StdioTest
from sandbox_service.schema.verdict import Verdict

_CHECKER = TypeAdapter(Checker)

TEXT_CHECKERS = ["lines", "exact", "tokens", "unordered", "float"]
SYMMETRIC_CHECKERS = ["lines", "exact", "tokens", "unordered"]

words = st.sampled_from(["a", "A", "1", "1.0", "nan", " ", "\t", "\n", "\r\n", "\0", "é", "\ufeff"])
texts = st.lists(words, max_size=12).map("".join)
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)
values = st.recursive(
    scalars | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text("abc1", max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


def score(kind, stdout, expected):
    checker = _CHECKER.validate_python({"type": kind})
    return check(checker, stdout=stdout.encode(), expected=expected).score


@pytest.mark.parametrize("kind", TEXT_CHECKERS)
@given(text=st.text() | texts)
def test_every_text_checker_is_reflexive(kind, text):
    assert score(kind, text, text) == 1


@given(value=values)
def test_json_checker_is_reflexive_whatever_the_layout(value):
    assert score("json", json.dumps(value, indent=3), json.dumps(value)) == 1


@pytest.mark.parametrize("kind", SYMMETRIC_CHECKERS)
@given(one=texts, other=texts)
def test_checkers_without_tolerance_are_symmetric(kind, one, other):
    assert score(kind, one, other) == score(kind, other, one)


@given(one=texts, other=texts)
def test_checkers_are_ordered_from_strict_to_lenient(one, other):
    ladder = [score(kind, one, other) for kind in ("exact", "lines", "tokens")]

    assert ladder == sorted(ladder)
    assert score("lines", one, other) <= score("unordered", one, other)


@given(one=texts, other=texts, third=texts)
def test_lines_checker_is_transitive(one, other, third):
    if score("lines", one, other) == score("lines", other, third) == 1:
        assert score("lines", one, third) == 1


@given(lines=st.lists(st.text("ab ", min_size=1, max_size=3)), seed=st.randoms())
def test_unordered_checker_takes_every_permutation(lines, seed):
    shuffled = seed.sample(lines, len(lines))

    # An empty last line is dropped, so blank lines may count differently after a shuffle.
    lines, shuffled = (
        "\n".join(line.rstrip() + "." for line in order) for order in (lines, shuffled)
    )
    assert score("unordered", shuffled, lines) == 1


@given(output=st.binary(max_size=40), expected=st.text(max_size=20))
def test_any_bytes_get_a_verdict(output, expected):
    for kind in TEXT_CHECKERS:
        checker = _CHECKER.validate_python({"type": kind})
        assert check(checker, stdout=output, expected=expected).score in {0, 1}


@given(
    expected=st.floats(-1e6, 1e6, width=32),
    off=st.floats(0, 0.999),  # the sum is rounded, so the bound itself can be passed by a hair
)
def test_float_checker_takes_everything_within_its_absolute_bound(expected, off):
    checker = _CHECKER.validate_python({"type": "float", "abs_tol": 1.0, "rel_tol": 1e-9})
    shifted = repr(expected + off).encode()

    assert check(checker, stdout=shifted, expected=repr(expected)).score == 1


@given(value=values)
def test_values_are_equal_to_themselves(value):
    assert equal(decode(json.dumps(value)), decode_expected(value))


@given(one=values, other=values)
def test_equality_of_values_is_symmetric(one, other):
    left, right = decode(json.dumps(one)), decode(json.dumps(other))

    assert equal(left, right) == equal(right, left)


@given(one=st.integers(), other=st.integers())
def test_integers_are_equal_only_if_they_are_the_same(one, other):
    assert equal(decode(str(one)), decode_expected(other)) == (one == other)


@given(one=st.booleans(), other=st.integers(0, 1) | st.floats(0, 1))
def test_booleans_are_never_numbers(one, other):
    assert not equal(one, other)
    assert not equal(other, one)


rows = st.lists(
    st.tuples(
        st.booleans(),
        st.floats(0, 1e6, allow_subnormal=False),
        st.sampled_from([None, "a", "b"]),
    ),
    min_size=1,
    max_size=8,
)


def summary_of(rows):
    tests = [StdioTest(expected_stdout="", weight=w, group=g) for _, w, g in rows]
    verdicts = [Verdict.ACCEPTED if passed else Verdict.WRONG_ANSWER for passed, _, _ in rows]
    results = [
        result.TestResult(verdict=verdict, score=float(verdict is Verdict.ACCEPTED))
        for verdict in verdicts
    ]
    return summarise(tests, results)


@given(rows=rows)
def test_score_is_between_zero_and_one_or_none(rows):
    score = summary_of(rows).score

    assert (score is None) == (math.fsum(weight for _, weight, _ in rows) == 0)
    assert score is None or 0 <= score <= 1


@given(rows=rows, index=st.integers(0, 7))
def test_score_never_falls_when_one_more_test_passes(rows, index):
    index %= len(rows)
    better = [*rows[:index], (True, *rows[index][1:]), *rows[index + 1 :]]

    assert (summary_of(better).score or 0) >= (summary_of(rows).score or 0)


@given(rows=rows, seed=st.randoms())
def test_score_does_not_depend_on_the_order_of_the_tests(rows, seed):
    assert summary_of(seed.sample(rows, len(rows))).score == summary_of(rows).score
