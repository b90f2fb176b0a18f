"""Plain data as text, there and back."""

import collections
import datetime as dt
import decimal
import fractions
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.values import Decoder, Encoder, NotPlainData

SCALARS = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False)
PLAIN = st.recursive(
    SCALARS | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def there_and_back(value, *, rich=False):
    return Decoder().decode(json.loads(Encoder(rich=rich).encode(value)))


def same(one, other):
    return type(one) is type(other) and one == other


@given(PLAIN)
def test_plain_data_comes_back_as_it_went(value):
    assert there_and_back(value) == value


@given(st.lists(st.tuples(SCALARS, SCALARS)))
def test_tuples_are_lists_outside_and_tuples_between_test_and_candidate(value):
    assert there_and_back(value) == [list(pair) for pair in value]
    assert there_and_back(value, rich=True) == value


@pytest.mark.parametrize(
    "value",
    [
        True,
        1,
        1.0,
        -0.0,
        2**70,
        "\ud800",
        "$float",
        {"$float": 1},
        {1: 2},
        {None: 1},
        {True: 1},
        b"",
        {1, 2},
        {},
    ],
)
def test_exact_type_comes_back(value):
    assert same(there_and_back(value), value)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf"])
def test_numbers_that_json_lacks_come_back(text):
    assert str(there_and_back(float(text))) == text


@pytest.mark.parametrize(
    "value",
    [
        1 + 2j,
        decimal.Decimal("1.10"),
        fractions.Fraction(1, 3),
        dt.date(2024, 2, 29),
        dt.timedelta(days=1, microseconds=3),
        collections.deque([1, 2]),
        collections.Counter("aab"),
        collections.OrderedDict([(2, 1), (1, 2)]),
        range(1, 9, 2),
    ],
)
def test_type_of_the_standard_library_travels_between_test_and_candidate_only(value):
    assert same(there_and_back(value, rich=True), value)
    with pytest.raises(NotPlainData, match=type(value).__name__):
        Encoder().encode(value)


class Liar(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize(
    "value", [Liar(3), [Liar(3)], {"a": Liar(3)}, (Liar(3),), Text("x"), object(), print]
)
def test_value_of_a_type_of_its_own_is_refused(value):
    with pytest.raises(NotPlainData):
        Encoder(rich=True).encode(value)


def test_key_of_a_type_of_its_own_is_refused():
    with pytest.raises(NotPlainData):
        Encoder().encode({Text("x"): 1})


def test_value_that_contains_itself_is_refused():
    value: list[object] = []
    value.append(value)
    with pytest.raises(NotPlainData, match="itself"):
        Encoder().encode(value)


def test_unknown_mark_is_an_ordinary_key():
    assert Decoder().decode({"$unknown": 1}) == {"$unknown": 1}


def test_name_that_is_not_in_the_table_makes_nothing():
    with pytest.raises(KeyError):
        Decoder().decode({"$make": ["eval", ["1"]]})
