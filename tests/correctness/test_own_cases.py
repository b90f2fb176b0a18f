"""Our own cases, of the same kinds as those from public fault reports."""

import pytest

from tests.correctness.cases import OWN_DIR, load_cases
from tests.correctness.test_handed_cases import judge


def params(name: str) -> list[object]:
    return [pytest.param(case, id=case.id) for case in load_cases(name, OWN_DIR)]


@pytest.mark.parametrize("case", params("correctness"))
def test_own_case_of_correctness_has_its_verdict_and_count(pipeline, case):
    result, shown = judge(pipeline, case)
    assert result.verdict in case.verdicts, shown
    assert (result.passed, result.total) == (case.passed, case.total), shown


@pytest.mark.parametrize("case", params("hacking"))
def test_own_case_of_hacking_earns_no_more_than_stated(pipeline, case):
    result, shown = judge(pipeline, case)
    assert result.verdict.value not in {"accepted", "internal_error"}, shown
    assert result.passed <= case.passed, shown
