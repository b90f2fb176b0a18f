"""Real numbers as they are written."""

import pytest

from sandbox_service.judge.numbers import Tolerance, is_close, is_real, special_of

MICRO = Tolerance(1e-6, 1e-6)


@pytest.mark.parametrize("token", [b"1.0", b"1.", b".5", b"-2.5e-3", b"1e5", b"+1E+5"])
def test_word_with_a_point_or_an_exponent_is_real(token):
    assert is_real(token)


@pytest.mark.parametrize(
    "token", [b"1", b"-7", b".", b"e5", b"1_0.0", b"0x1.8p1", b"nan", b"inf", b"1.0f", b"", b"1.0 "]
)
def test_other_words_are_not_real(token):
    assert not is_real(token)


@pytest.mark.parametrize(
    ("token", "special"),
    [
        (b"nan", "nan"),
        (b"-NaN", "nan"),
        (b"inf", "inf"),
        (b"+Infinity", "inf"),
        (b"-INF", "-inf"),
        (b"info", None),
        (b"1.0", None),
    ],
)
def test_special_numbers_are_read_in_their_usual_spellings(token, special):
    assert special_of(token) == special


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (b"1.000001", b"1.0"),
        (b"0.999999", b"1.0"),
        (b"1000001", b"1000000.0"),
        (b"0.000001", b"0.0"),
        (b"-1.0000001", b"-1.0"),
        (b"1e400", b"1e400"),
        (b"NaN", b"nan"),
        (b"Infinity", b"inf"),
        (b"word", b"word"),
        (b"7", b"7"),
        (b"1e999999999999999999999", b"1e999999999999999999999"),
    ],
)
def test_close_words_are_close(actual, expected):
    assert is_close(actual, expected, MICRO)


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (b"1.0000010001", b"1.0"),
        (b"1000001.01", b"1000000.0"),
        (b"0.0000010001", b"0.0"),
        (b"1.0", b"-1.0"),
        (b"-inf", b"inf"),
        (b"1.0", b"nan"),
        (b"nan", b"1.0"),
        (b"inf", b"1.0"),
        (b"1e400", b"1.0"),
        (b"1.0", b"1e999999999999999999999"),
        (b"7.0", b"7"),
        (b"+7", b"7"),
        (b"1e999999999999999999999", b"2e999999999999999999999"),
    ],
)
def test_other_words_are_not_close(actual, expected):
    assert not is_close(actual, expected, MICRO)


def test_wider_bound_counts():
    assert is_close(b"110.0", b"100.0", Tolerance(0.0, 0.1))
    assert is_close(b"110.0", b"100.0", Tolerance(10.0, 0.0))
    assert not is_close(b"110.1", b"100.0", Tolerance(10.0, 0.1))


def test_zero_tolerance_takes_equal_numbers_only():
    assert is_close(b"0.50", b"0.5", Tolerance(0.0, 0.0))
    assert not is_close(b"0.5000000000000000000001", b"0.5", Tolerance(0.0, 0.0))


def test_more_digits_than_any_double_has_are_compared():
    off = b"0.5" + b"0" * 40 + b"1"

    assert not is_close(off, b"0.5", Tolerance(0.0, 0.0))
    assert is_close(off, b"0.5", Tolerance(1e-40, 0.0))
    assert not is_close(off, b"0.5", Tolerance(1e-45, 0.0))


def test_difference_is_not_rounded_to_the_tolerance():
    off = b"100000000000000000001.00000000000000000001"

    assert is_close(b"100000000000000000001.0", b"1.0", Tolerance(1e20, 0.0))
    assert not is_close(off, b"1.0", Tolerance(1e20, 0.0))


def test_difference_beyond_all_numbers_is_not_close():
    assert not is_close(b"-9e999999", b"9e999999", MICRO)
