"""Factories of reports and tests."""

import pytest
from pydantic import TypeAdapter

from sandbox_service.schema import testcase
from sandbox_service.schema.run import Ending, RunReport

_TEST_CASE = TypeAdapter(testcase.TestCase)


@pytest.fixture(name="make_report", scope="session")
def _make_report():
    def make_report(**overrides):
        fields = {"ending": Ending.EXITED, "exit_code": 0} | overrides
        if fields["ending"] is not Ending.EXITED and "exit_code" not in overrides:
            fields["exit_code"] = None
        return RunReport(**fields)

    return make_report


@pytest.fixture(name="make_test", scope="session")
def _make_test():
    def make_test(**fields):
        return _TEST_CASE.validate_python(fields)

    return make_test
