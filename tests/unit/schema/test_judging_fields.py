"""Fields of checkers and results that the judge depends on."""

import pytest
from pydantic import TypeAdapter, ValidationError

from sandbox_service.schema import result
from sandbox_service.schema.checker import Checker, CustomChecker

_CHECKER = TypeAdapter(Checker)


def test_function_checker_without_a_function_is_refused():
    with pytest.raises(ValidationError, match="no name `check`"):
        CustomChecker(type="custom", code="def verify(*_): return True")


def test_testlib_checker_needs_no_function():
    checker = CustomChecker(type="custom", code="int main() {}", protocol="testlib")

    assert checker.protocol == "testlib"


@pytest.mark.parametrize("field", ["abs_tol", "rel_tol"])
@pytest.mark.parametrize("value", [-1e-9, float("nan"), float("inf")])
def test_tolerance_that_is_none_is_refused(field, value):
    with pytest.raises(ValidationError):
        _CHECKER.validate_python({"type": "float", field: value})


def test_unknown_checker_is_refused():
    with pytest.raises(ValidationError):
        _CHECKER.validate_python({"type": "substring"})


def test_result_travels_as_json_unchanged():
    found = result.Result(
        id="a", verdict="accepted", score=1.0, reward=None, passed=1, total=1,
        flags=[{"kind": "hard_coded", "share": 0.5}],
        parts=[{"name": "tests", "score": None, "weight": 1.0, "counted": None}],
        extracted={"code": "x", "rule": "whole text"},
        tests=[{"verdict": "accepted", "trust": "exit_code"}],
    )  # fmt: skip

    assert result.Result.model_validate_json(found.model_dump_json()) == found
