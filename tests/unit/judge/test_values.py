"""The value space of call tests."""

import json
import math

import pytest

from sandbox_service.judge.json_text import MAX_DEPTH, HugeInteger, NotPlainData, parse_json
from sandbox_service.judge.numbers import Tolerance
from sandbox_service.judge.values import PlainSet, contains, decode, decode_expected, equal

MICRO = Tolerance(1e-6, 1e-6)
NESTED = "[" * MAX_DEPTH + "]" * MAX_DEPTH


def is_equal(text, expected, tolerance=None):
    return equal(decode(text), decode_expected(expected), tolerance=tolerance)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("null", None),
        ("true", True),
        ("2", 2.0),
        ("2.0", 2),
        ("-0.0", 0),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ('"a"', "a"),
        ("[1, [2]]", [1, [2]]),
        ("[1, 2]", (1, 2)),
        ('{"a": {"b": []}}', {"a": {"b": []}}),
        ('{"$map": [[3, 2], [5, 1]]}', {"3": 2, "5": 1}),
        ('{"$map": [[true, 1], [null, 2], [1.5, 3]]}', {"true": 1, "null": 2, "1.5": 3}),
        ('{"$map": [["$set", [1]]]}', {"$map": [["$set", [1]]]}),
        ('{"$map": [["$x", 1]]}', {"$x": 1}),
        ('{"$map": [["$set", 1], ["a", 2]]}', {"$set": 1, "a": 2}),
        ('{"$float": "nan"}', {"$float": "nan"}),
        ('{"$float": "-inf"}', {"$float": "-inf"}),
        ('{"$set": [2, 1, "a"]}', {"$set": [1.0, "a", 2]}),
        (
            '{"$set": [{"$set": [1, 2]}, [1, {"a": null}]]}',
            {"$set": [[1, {"a": None}], {"$set": [2, 1]}]},
        ),
        ('{"$set": [{"$bytes": "aGk="}]}', {"$set": [{"$bytes": "aGk="}]}),
        ('{"$bytes": "aGk="}', {"$bytes": "aGk="}),
    ],
)
def test_equal_values_are_equal(text, expected):
    assert is_equal(text, expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", True),
        ("true", 1),
        ("0", False),
        ("null", False),
        ("null", 0),
        ("null", []),
        ("7", [7]),
        ("[7]", 7),
        ("[]", {}),
        ("{}", []),
        ("[1]", [1, 2]),
        ("[1, 2]", [1]),
        ("[2, 1]", [1, 2]),
        ('"a\\n"', "a"),
        ('"1"', 1),
        ("1", "1"),
        ('{"a": 1}', {"a": 2}),
        ('{"a": 1}', {"b": 1}),
        ('{"a": 1, "b": 1}', {"a": 1}),
        ("50000000000000001", 50000000000000000),
        ("9007199254740993", 9007199254740992.0),
        ("0.30000000000000004", 0.3),
        ('{"$set": [1, 2]}', [1, 2]),
        ("[1, 2]", {"$set": [1, 2]}),
        ('{"$set": [1, 2]}', {"$set": [1]}),
        ('{"$set": [[1]]}', {"$set": [[2]]}),
        ('{"$set": [[1, 2]]}', {"$set": [["1,2"]]}),
        ('{"$set": [{"a": 1}]}', {"$set": [{"b": 1}]}),
        ('{"$set": [{"a": 1}]}', {"$set": [{"a": 2}]}),
        ('{"$set": [{"$bytes": "aGk="}]}', {"$set": [{"$bytes": "aGo="}]}),
        ('{"$float": "nan"}', 0.0),
        ("0.0", {"$float": "nan"}),
        ('{"$float": "inf"}', {"$float": "-inf"}),
        ('{"$bytes": "aGk="}', "hi"),
        ("1" * 5000, 1),
    ],
)
def test_different_values_are_different(text, expected):
    assert not is_equal(text, expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.30000000000000004", 0.3),
        ('[1, {"a": 0.9999999}]', [1, {"a": 1.0}]),
        ("1", 1.0),
        ('{"$float": "inf"}', {"$float": "inf"}),
        ('{"$float": "nan"}', {"$float": "nan"}),
    ],
)
def test_tolerance_takes_real_numbers_that_are_close(text, expected):
    assert is_equal(text, expected, MICRO)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.1", 1.0),
        ("0.9999999", 1),
        ("true", 1.0),
        ('{"$float": "nan"}', 1.0),
        ('{"$float": "inf"}', 1.0),
        ('{"$float": "-inf"}', {"$float": "inf"}),
        ("1.0", {"$float": "inf"}),
        ('"1.0"', 1.0),
    ],
)
def test_tolerance_takes_nothing_else(text, expected):
    assert not is_equal(text, expected, MICRO)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1",
        "NaN",
        "-Infinity",
        "1e999",
        "{'a': 1}",
        '{"a": 1, "a": 1}',
        '{"$float": "1.0"}',
        '{"$float": 1}',
        '{"$bytes": "a"}',
        '{"$bytes": "\u00e9"}',
        '{"$bytes": "aG k="}',
        '{"$bytes": [1]}',
        '{"$map": {"a": 1}}',
        '{"$map": [[1]]}',
        '{"$map": ["ab"]}',
        '{"$map": [[1, 2], ["1", 3]]}',
        '{"$map": [[[1], 2]]}',
        '{"$set": [1, 1.0]}',
        '{"$set": 1}',
        '{"$other": 1}',
        '{"$set": [1], "a": 2}',
        '{"a": 2, "$set": [1]}',
        "[" * 100_000,
        "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
        '{"a":' * 500 + "1" + "}" * 500,
    ],
)
def test_text_outside_the_encoding_is_refused(text):
    with pytest.raises(NotPlainData):
        decode(text)


def test_value_at_the_bound_of_depth_is_compared():
    assert is_equal(NESTED, json.loads(NESTED))


def test_expectation_beyond_the_bound_of_depth_is_refused():
    with pytest.raises(NotPlainData, match="nested too deeply"):
        decode_expected([json.loads(NESTED)])


def test_malformed_tag_in_an_expectation_is_refused():
    with pytest.raises(NotPlainData, match="a tagged value"):
        decode_expected({"$float": "one"})


def test_unknown_tag_in_an_expectation_stays_a_key_at_any_depth():
    assert decode_expected({"$map": [[1, {"$x": [{"$y": 2}]}]]}) == {"1": {"$x": [{"$y": 2}]}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"$map": [[1]]}', "^a map's entry is not a pair$"),
        ('{"$map": [[1, 2], ["1", 3]]}', "^two keys are '1' as text$"),
        ('{"$map": [[[1], 2]]}', "^a key that JSON cannot write$"),
        ('{"$bytes": "a"}', "^bytes that are not base64$"),
        ('{"$set": [1, 1.0]}', "^a set with equal elements$"),
        ('{"$other": 1}', r"^not a tagged value: \$other$"),
        ('{"$set": [1], "a": 2}', "^a tag beside other keys$"),
        ("1e999", "^a number beyond the range of doubles$"),
        ("[" * 300 + "]" * 300, "^nested too deeply$"),
    ],
)
def test_refusal_says_what_is_wrong(text, message):
    with pytest.raises(NotPlainData, match=message):
        decode(text)


def test_integer_of_any_length_is_kept_exactly():
    digits = "-" + "7" * 5000

    assert decode(digits) == HugeInteger(digits)
    assert decode(f'{{"$map": [[{digits}, 1]]}}') == {digits: 1}
    assert decode(f'{{"$set": [{digits}]}}') != decode(f'{{"$set": ["{digits}"]}}')


def test_integer_at_the_bound_of_conversion_is_a_number():
    assert decode("7" * 4300) == int("7" * 4300)


def test_special_floats_come_back_as_floats():
    assert decode('{"$float": "inf"}') == math.inf
    assert decode('{"$float": "-inf"}') == -math.inf
    assert math.isnan(decode('{"$float": "nan"}'))


def test_floats_are_read_to_the_last_digit():
    assert decode("0.1") == 0.1


def test_bytes_are_decoded():
    assert decode('{"$bytes": "aGk="}') == b"hi"


def test_contained_class_is_found_at_any_depth():
    value = decode('{"a": [1, {"b": {"$set": [1]}}]}')

    assert contains(value, PlainSet)
    assert not contains(value, HugeInteger)
    assert contains(7, int)


def test_refusal_of_duplicate_keys_says_so():
    with pytest.raises(NotPlainData, match=r"^a key stands twice in one object$"):
        parse_json('[{"a": 1, "a": 2}]')


def test_refusal_of_constants_names_them():
    with pytest.raises(NotPlainData, match="Infinity is not JSON"):
        parse_json("[Infinity]")
