"""Cases taken from public fault reports: each has the verdict and the count that it states."""

import pytest

from sandbox_service.errors import EngineUnavailable
from sandbox_service.languages import load_languages
from sandbox_service.schema.submission import Submission
from sandbox_service.settings import Settings
from tests.correctness.cases import CASES_DIR, REASON_ABSENT, Case, load_cases

KNOWN = {
    name
    for language in load_languages(Settings().images_dir).languages
    for name in (language.name, *language.aliases)
}
pytestmark = pytest.mark.skipif(not CASES_DIR.is_dir(), reason=REASON_ABSENT)


def params(name: str) -> list[object]:
    return [_param(case) for case in load_cases(name)]


def _param(case: Case) -> object:
    is_absent = case.language not in KNOWN
    skip = pytest.mark.skipif(is_absent, reason=f"no language {case.language}")
    return pytest.param(case, id=case.id, marks=skip)


def judge(pipeline, case: Case):
    try:
        result = pipeline.run(case.id, case.submission())
    except EngineUnavailable as error:
        pytest.skip(str(error))
    return result, [(test.verdict.value, test.detail) for test in result.tests]


@pytest.mark.parametrize("case", params("correctness"))
def test_case_of_correctness_has_its_verdict_and_count(pipeline, case):
    result, shown = judge(pipeline, case)
    assert result.verdict in case.verdicts, shown
    assert (result.passed, result.total) == (case.passed, case.total), shown


@pytest.mark.parametrize("case", [p for p in params("hacking") if not p.values[0].is_refused])
def test_case_of_hacking_is_never_accepted_and_earns_no_more_than_stated(pipeline, case):
    result, shown = judge(pipeline, case)
    assert result.verdict.value not in {"accepted", "internal_error"}, shown
    assert result.passed <= case.passed, shown
    assert result.total == case.total


@pytest.mark.parametrize("case", [c for c in load_cases("hacking") if c.is_refused])
def test_case_without_tests_is_refused(case):
    with pytest.raises(ValueError, match="tests"):
        Submission.model_validate(case.body)
