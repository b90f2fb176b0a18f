"""The part of pytest that test code finds where pytest is not installed."""

import math

import pytest

from runners import pytest_shim as shim


@pytest.mark.parametrize(
    ("actual", "expected", "options", "is_equal"),
    [
        (0.1 + 0.2, 0.3, {}, True),
        (1.1, 1.0, {"abs": 0.2}, True),
        (1.1, 1.0, {}, False),
        (102, 100, {"rel": 0.05}, True),
        ([0.1 + 0.2], [0.3], {}, True),
        ({"a": 1.0}, {"a": 1.0 + 1e-9}, {}, True),
        ({"a": 1.0}, {"b": 1.0}, {}, False),
        ([1.0], [1.0, 2.0], {}, False),
        (math.nan, math.nan, {}, False),
        (math.nan, math.nan, {"nan_ok": True}, True),
        (math.inf, math.inf, {}, True),
        (math.inf, 1e308, {}, False),
        (True, 1, {}, False),
        ("a", "a", {}, True),
    ],
)
def test_approx_is_what_pytest_says(actual, expected, options, is_equal):
    assert (actual == shim.approx(expected, **options)) is is_equal


def test_approx_takes_no_number_that_is_not_exactly_one():
    class Near(float):
        def __sub__(self, other):
            return 0.0

    assert Near(5) != shim.approx(1.0)


def test_raises_holds_the_exception():
    with shim.raises(ValueError, match="b.d") as caught:
        raise ValueError("bad")
    assert (caught.type, str(caught.value)) == (ValueError, "bad")


def test_raises_fails_if_nothing_came_or_the_message_is_another():
    with pytest.raises(shim.Failed), shim.raises(ValueError):
        pass
    with pytest.raises(shim.Failed), shim.raises(ValueError, match="good"):
        raise ValueError("bad")


def test_raises_lets_other_exceptions_through():
    with pytest.raises(KeyError), shim.raises(ValueError):
        raise KeyError
