"""Tests of a program as open-instruct packs them."""

import base64
import os
import pickle
import zlib

import pytest

from sandbox_service.api.compat.open_instruct import listed


class Calls:
    def __reduce__(self):
        return os.getpid, ()


def pack(plain):
    return base64.b64encode(zlib.compress(plain)).decode()


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_plain_values_are_read_of_every_protocol(protocol):
    value = [
        {"input": "1\n" * 200, "output": "é"},
        ["a", 1, -1, 2**70, 1.5, None, True, (1, 2)],
    ] * 2
    assert listed(pack(pickle.dumps(value, protocol)), 10**6) == value


def test_json_within_a_pickle_is_read():
    assert listed(pack(pickle.dumps('["assert True"]')), 10**6) == ["assert True"]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_nothing_is_called(protocol):
    with pytest.raises(ValueError, match="more than plain values"):
        listed(pack(pickle.dumps([Calls()], protocol)), 10**6)


@pytest.mark.parametrize(
    "plain",
    [
        b"",
        b".",
        b"\x80\x02K\x01K\x02a.",
        b"\x80\x02}K\x01a.",
        b"\x80\x02h\x07.",
        b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7f].",
        b"\x80\x02]r\xff\xff\xff\x7f.",
        b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7f.",
        b"\x80\x02}K\x01.",
    ],
)
def test_broken_pickles_are_refused(plain):
    with pytest.raises(ValueError, match=r".+"):
        listed(pack(plain), 10**6)


def test_what_grows_beyond_the_limit_is_refused():
    with pytest.raises(ValueError, match="too large"):
        listed(pack(pickle.dumps(["x" * 2_000_000])), 10**6)
    with pytest.raises(ValueError, match="too large"):
        listed(pack(pickle.dumps(["x" * 1000] * 2000)), 10**6)


@pytest.mark.parametrize("tests", ["?", "{}", "1", pack(pickle.dumps({"a": 1}))])
def test_other_than_a_list_is_refused(tests):
    with pytest.raises(ValueError, match=r".+"):
        listed(tests, 10**6)
