"""Compile, run, judge, score: what is asked of sandboxes, and what becomes of it."""

import pytest

from sandbox_service.errors import InvalidSubmission, SandboxDied
from sandbox_service.schema.result import Check
from sandbox_service.schema.run import RunKind
from sandbox_service.worker.pipeline import Pipeline
from tests.factories import make_languages, make_submission
from tests.unit.worker.fake_source import FakeSource, make_report

PASSED = (Check(name="line 1", passed=True),)
NEEDY = make_report(needs_shared_process="line 1: import asyncio")
SHARED = make_report(checks=PASSED, trust="shared_process")
ISOLATED = make_report(checks=PASSED)
ASSERTS = [{"test_code": "assert f()"}, {"test_code": "import asyncio"}, {"test_code": "assert 1"}]


def score(source: FakeSource, **fields):
    settings = {k: fields.pop(k) for k in list(fields) if k.startswith("allow_")}
    return Pipeline(make_languages(), source, **settings).run("one", make_submission(**fields))


def test_tests_that_need_the_process_run_once_more_in_it():
    source = FakeSource(ISOLATED, NEEDY, ISOLATED, SHARED)
    result = score(source, tests=ASSERTS)
    assert [run.kind for run in source.asked[1].runs] == [RunKind.ASSERT_SHARED]
    assert [test.trust for test in result.tests] == ["isolated", "shared_process", "isolated"]
    assert (result.verdict, result.trust) == ("accepted", "shared_process")


def test_tests_that_need_the_process_are_refused_where_that_is_the_setting():
    source = FakeSource(ISOLATED, NEEDY, ISOLATED)
    with pytest.raises(InvalidSubmission) as refused:
        score(source, tests=ASSERTS, allow_shared_process=False)
    assert (refused.value.field, len(source.asked)) == ("tests.1.test_code", 1)


def test_exit_code_tests_are_refused_before_anything_runs():
    source = FakeSource()
    tests = [{"stdin": "", "expected_stdout": ""}, {"exit_code": 0}]
    with pytest.raises(InvalidSubmission) as refused:
        score(source, tests=tests, allow_exit_code_tests=False)
    assert (refused.value.field, source.asked) == ("tests.1.exit_code", [])


def test_first_failure_skips_the_rest_if_asked():
    source = FakeSource(make_report(stdout=b"2\n"))
    tests = [{"stdin": "", "expected_stdout": "1\n"}] * 3
    result = score(source, tests=tests, stop_at_first_failure=True)
    assert [test.verdict for test in result.tests] == ["wrong_answer", "skipped", "skipped"]


def test_fresh_isolation_reaches_the_sandbox():
    source = FakeSource(make_report(stdout=b"1\n"))
    score(source, isolation="fresh")
    assert source.fresh == [True]


def test_syntax_error_is_a_compile_error():
    source = FakeSource(make_report(exit_code=1, syntax_error="SyntaxError: line 1"))
    result = score(source)
    assert (result.verdict, result.compile.detail) == ("compile_error", "SyntaxError: line 1")


@pytest.mark.parametrize(
    ("interactor", "verdict"),
    [
        (make_report(), "accepted"),
        (make_report(exit_code=1), "wrong_answer"),
        (make_report(exit_code=77), "internal_error"),
    ],
)
def test_interactor_decides(interactor, verdict):
    source = FakeSource(make_report(interactor=interactor))
    checker = {"type": "interactive", "code": "talk"}
    result = score(source, tests=[{"stdin": "5", "checker": checker}])
    asked = source.asked[0].runs[0].interactor
    assert (asked.source, asked.files["main.py"]) == ("main.py", b"talk")
    assert result.verdict == verdict


def test_custom_checker_runs_apart_and_only_for_programs_that_ended_well():
    checker = {"type": "custom", "code": "def check(*_): return True"}
    test = {"stdin": "", "expected_stdout": "", "checker": checker}
    source = FakeSource(make_report(), make_report(exit_code=1), make_report(value_json="true"))
    result = score(source, tests=[test, test])
    assert [each.verdict for each in result.tests] == ["accepted", "runtime_error"]
    assert [len(execution.runs) for execution in source.asked] == [2, 1]
    assert source.asked[1].files["main.py"] == b"def check(*_): return True"


def test_what_was_run_ahead_is_not_run_again():
    source = FakeSource(make_report(stdout=b"1\n"), make_report(stdout=b"3\n"))
    pipeline = Pipeline(make_languages(), source)
    right, wrong = (make_submission(id=name) for name in "rw")
    aheads = pipeline.look_ahead([right, wrong])()
    results = [
        pipeline.run("x", each, known) for each, known in zip((right, wrong), aheads, strict=True)
    ]
    assert len(source.asked) == 2
    assert [result.reward for result in results] == [1.0, 0.0]


def test_only_what_needs_nothing_but_a_run_is_run_ahead():
    source = FakeSource(ISOLATED, ISOLATED)
    submissions = [
        make_submission(tests=ASSERTS[:1]),
        make_submission(isolation="fresh"),
        make_submission(files={"data": "base64:?"}),
        make_submission(tests=ASSERTS[:1]),
    ]
    aheads = Pipeline(make_languages(), source).look_ahead(submissions)()
    assert [ahead is not None for ahead in aheads] == [True, False, False, True]


def test_sandbox_that_breaks_while_looking_ahead_is_no_loss():
    class Breaking(FakeSource):
        def look_ahead(self, executions):
            raise SandboxDied("the stream ended")

    source = Breaking(make_report(stdout=b"1\n"))
    pipeline = Pipeline(make_languages(), source)
    submission = make_submission()
    assert pipeline.look_ahead([submission] * 2)() == [None, None]
    assert pipeline.run("one", submission).reward == 1.0


def test_rest_of_the_tests_is_run_when_only_the_first_was_run_ahead():
    source = FakeSource(ISOLATED, ISOLATED, ISOLATED, ISOLATED)
    pipeline = Pipeline(make_languages(), source)
    submission = make_submission(tests=ASSERTS[:2], stop_at_first_failure=True)
    ahead = pipeline.look_ahead([submission] * 2)()[0]
    assert pipeline.run("one", submission, ahead).passed == 2
    assert [len(each.runs) for each in source.asked] == [1, 1, 1]
