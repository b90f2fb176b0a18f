"""The cache of what compilers made."""

import pytest

from sandbox_service.sandbox.artifacts import ArtifactCache
from sandbox_service.schema.limits import Limits
from sandbox_service.schema.run import CompileRequest, Execution, ExecutionReport


def execution(**overrides):
    fields = {
        "image": "native",
        "source": "main.c",
        "files": {"main.c": b"int main;"},
        "compile": CompileRequest(argv=("cc",), artifacts=("main",), limits=Limits()),
        "runs": (),
        "env": {"A": "1"},
    }
    return Execution(**fields | overrides)


def report(size: int) -> ExecutionReport:
    return ExecutionReport(artifacts={"main": bytes(size)})


@pytest.mark.parametrize(
    "change",
    [
        {"image": "other"},
        {"files": {"main.c": b"int main ;"}},
        {"files": {"main.c": b"int main;", "b.h": b""}},
        {"files": {"other.c": b"int main;"}},
        {"env": {"A": "2"}},
        {"compile": CompileRequest(argv=("cc", "-O2"), artifacts=("main",), limits=Limits())},
    ],
)
def test_anything_that_compiling_depends_on_changes_the_key(change):
    assert ArtifactCache.key(execution()) != ArtifactCache.key(execution(**change))


def test_contents_cannot_be_shifted_from_one_file_to_another():
    one = execution(files={"a": b"x\0b\x001\0", "b": b""})
    other = execution(files={"a": b"x", "b": b""})
    assert ArtifactCache.key(one) != ArtifactCache.key(other)


def test_order_of_files_does_not_matter():
    one = execution(files={"a": b"1", "b": b"2"})
    assert ArtifactCache.key(one) == ArtifactCache.key(execution(files={"b": b"2", "a": b"1"}))


def test_least_recently_used_is_forgotten_first():
    cache = ArtifactCache(20)
    cache.put("a", report(10))
    cache.put("b", report(10))
    cache.get("a")
    cache.put("c", report(10))
    assert [key for key in "abc" if cache.get(key) is not None] == ["a", "c"]


def test_what_is_larger_than_the_cache_is_not_kept_and_pushes_nothing_out():
    cache = ArtifactCache(20)
    cache.put("a", report(10))
    cache.put("huge", report(21))
    assert cache.get("huge") is None
    assert cache.get("a") is not None


def test_putting_twice_counts_once():
    cache = ArtifactCache(20)
    for _ in range(3):
        cache.put("a", report(10))
    cache.put("b", report(10))
    assert cache.get("a") is not None
