"""What a worker does with each submission, over a store that only remembers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from sandbox_service.errors import EngineUnavailable, InvalidSubmission, NotFound, SandboxDied
from sandbox_service.languages import load_languages
from sandbox_service.queue import keys
from sandbox_service.queue.payload import Payload
from sandbox_service.queue.signing import Signer
from sandbox_service.queue.tickets import Claim, Done, Finished
from sandbox_service.schema.result import Result
from sandbox_service.schema.run import ExecutionReport
from sandbox_service.schema.submission import Submission
from sandbox_service.schema.verdict import Verdict
from sandbox_service.settings import Settings
from sandbox_service.telemetry.tracing import NoTracing
from sandbox_service.worker import parts, tasks
from sandbox_service.worker.pipeline import Ahead
from sandbox_service.worker.programs import program_of
from sandbox_service.worker.tasks import RUNNER, SubmissionRunner, run_submissions
from tests.factories import make_result, make_submission

_AHEAD = Ahead(
    program_of(make_submission(), load_languages(Settings().images_dir)), ExecutionReport()
)
_PAYLOAD = Payload.of(make_submission(metadata={"k": 1})).to_bytes()


@dataclass
class RememberingStore:
    claims: dict[str, Claim]
    results: dict[str, Result] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)
    handed_back: list[str] = field(default_factory=list)
    taken_back: list[str] = field(default_factory=list)
    dead: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    followers: dict[str, list[str]] = field(default_factory=dict)
    following: set[str] = field(default_factory=set)
    signer: Signer = field(default_factory=lambda: Signer(None))
    jobs_waiting: int = 0
    attempts: int = 1
    written: list[int] = field(default_factory=list)

    def begin(self, refs: Sequence[str], worker: str) -> list[Claim | None]:
        return [self.claims.get(ref) for ref in refs]

    def add_attempt(self, ref: str) -> int:
        self.attempts += 1
        return self.attempts

    def finish(self, ref: str, done: Done, *, ttl_s: int) -> Finished:
        return self.finish_all([(ref, done)], ttl_s=ttl_s)[0]

    def finish_all(self, results: Sequence[tuple[str, Done]], *, ttl_s: int) -> list[Finished]:
        self.written.append(len(results))
        for ref, done in results:
            self.results[ref] = Result.model_validate_json(done.result)
            self.dead += [ref] if done.is_dead else []
            self.metrics.update(done.metrics)
        return [Finished(True, self.followers.pop(ref, [])) for ref, _ in results]

    def payload(self, ref: str) -> bytes | None:
        return _PAYLOAD if ref in self.following else None

    def keep_for_equals(self, ref: str, content: str, result: bytes, ttl_s: int) -> None:
        self.kept.append(ref)

    def hand_back(self, refs: Sequence[str], *, begun: Sequence[str] = ()) -> None:
        self.handed_back.extend(refs)
        self.taken_back.extend(begun)

    def is_idle(self) -> bool:
        return self.jobs_waiting == 0


@dataclass
class RememberingReadiness:
    reasons: list[str] = field(default_factory=list)

    def pause(self, reason: str) -> None:
        self.reasons.append(reason)

    def resume(self) -> None:
        self.reasons.clear()


@dataclass
class ScriptedPipeline:
    """Returns or raises what it was given, one after the other."""

    outcomes: list[Result | Exception]
    seen: list[Submission] = field(default_factory=list)
    were_ahead: list[bool] = field(default_factory=list)
    looked_ahead: list[int] = field(default_factory=list)
    run_before: list[int] = field(default_factory=list)
    """How many were run before each look ahead."""

    def look_ahead(self, submissions: Sequence[Submission]) -> Callable[[], list[Ahead | None]]:
        self.looked_ahead.append(len(submissions))
        self.run_before.append(len(self.seen))
        return lambda: [_AHEAD] * len(submissions)

    def run(self, submission_id: str, submission: Submission, ahead: Ahead | None = None) -> Result:
        self.seen.append(submission)
        self.were_ahead.append(ahead is not None)
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def tidy(self) -> None:
        pass

    def close(self) -> None:
        pass


class NoSuites:
    def tests(self, digest: str) -> Any:
        raise NotFound("not stored", field="suite")


def _claim(attempt: int = 1, payload: bytes = _PAYLOAD) -> Claim:
    return Claim(payload=payload, attempt=attempt, queued_s=0.5)


def _runner(
    store: RememberingStore,
    *outcomes: Result | Exception,
    is_draining: Callable[[], bool] = lambda: False,
) -> SubmissionRunner:
    return SubmissionRunner(
        pipeline=ScriptedPipeline(list(outcomes)),
        store=store,
        suites=NoSuites(),
        settings=Settings(max_attempts=3),
        worker="w",
        is_draining=is_draining,
        readiness=RememberingReadiness(),
        tracing=NoTracing(),
        sleep=lambda _: None,
    )


def test_result_is_stored_with_its_timing() -> None:
    store = RememberingStore({"a": _claim()})
    _runner(store, make_result(id="a")).run(["a"])

    assert store.results["a"].reward == 1.0
    assert store.results["a"].timing.queued_s == 0.5
    assert store.metrics["verdict:accepted"] == 1


def test_submission_that_is_done_is_skipped() -> None:
    store = RememberingStore({"b": _claim()})
    _runner(store, make_result(id="b")).run(["a", "b"])

    assert list(store.results) == ["b"]


def test_broken_sandbox_is_tried_again() -> None:
    store = RememberingStore({"a": _claim()})
    _runner(store, SandboxDied("x"), make_result(id="a")).run(["a"])

    assert store.results["a"].verdict is Verdict.ACCEPTED
    assert store.metrics["retried"] == 1


def test_sandbox_that_stays_broken_is_no_information() -> None:
    store = RememberingStore({"a": _claim()})
    _runner(store, *[SandboxDied("x")] * 3).run(["a"])
    result = store.results["a"]

    assert (result.verdict, result.reward, result.score) == (Verdict.INTERNAL_ERROR, None, None)
    assert (result.total, result.metadata) == (1, {"k": 1})
    assert "reward:sum" not in store.metrics


def test_attempts_of_dead_workers_count() -> None:
    store = RememberingStore({"a": _claim(attempt=3)})
    _runner(store, SandboxDied("x")).run(["a"])

    assert store.results["a"].verdict is Verdict.INTERNAL_ERROR


def test_submission_that_ended_its_workers_is_not_run_again() -> None:
    store = RememberingStore({"a": _claim(attempt=4)})
    _runner(store).run(["a"])

    assert store.results["a"].reward is None
    assert "3 workers ended" in store.results["a"].detail


@pytest.mark.parametrize(
    ("error", "reason"),
    [(InvalidSubmission("no such thing"), "no such thing"), (KeyError("secret"), "KeyError")],
)
def test_whatever_is_raised_the_submission_gets_an_answer(error: Exception, reason: str) -> None:
    store = RememberingStore({"a": _claim()})
    _runner(store, error).run(["a"])

    assert store.results["a"].reward is None
    assert reason in store.results["a"].detail
    assert "secret" not in store.results["a"].detail


@pytest.mark.parametrize("payload", [b"", b"{}", b"{}\n{}", b"[]\n{}", b"\xff"])
def test_payload_that_cannot_be_read_is_no_information(payload: bytes) -> None:
    store = RememberingStore({"a": _claim(payload=payload)})
    _runner(store).run(["a"])

    assert store.results["a"].reward is None


def test_suite_that_is_gone_is_no_information() -> None:
    submission = make_submission(tests=None, suite=f"sha256:{'0' * 64}")
    payload = Payload.of(submission).to_bytes()
    store = RememberingStore({"a": _claim(payload=payload)})
    _runner(store).run(["a"])

    assert store.results["a"].reward is None


def test_draining_worker_hands_the_rest_back() -> None:
    store = RememberingStore({"a": _claim(), "b": _claim(), "c": _claim()})
    runner = _runner(store, make_result(id="a"), is_draining=lambda: "a" in store.results)
    runner.run(["a", "b", "c"])

    assert (list(store.results), store.handed_back) == (["a"], ["b", "c"])


@pytest.mark.parametrize(("jobs_waiting", "handed_back"), [(0, ["b"]), (1, [])])
def test_rest_of_a_slow_chunk_is_handed_back_when_others_have_nothing(
    monkeypatch: pytest.MonkeyPatch, jobs_waiting: int, handed_back: list[str]
) -> None:
    monkeypatch.setattr(tasks, "_CHUNK_BUDGET_S", -1.0)
    store = RememberingStore({"a": _claim(), "b": _claim()}, jobs_waiting=jobs_waiting)
    _runner(store, make_result(id="a"), make_result(id="b")).run(["a", "b"])

    assert store.handed_back == handed_back


def test_task_by_its_name_is_the_function_that_rq_calls() -> None:
    module, _, name = keys.TASK.rpartition(".")

    assert (module, getattr(tasks, name)) == (tasks.__name__, run_submissions)


def test_task_uses_the_runner_of_its_process() -> None:
    store = RememberingStore({"a": _claim()})
    token = RUNNER.set(_runner(store, make_result(id="a")))
    run_submissions(["a"])
    RUNNER.reset(token)

    assert list(store.results) == ["a"]


def _cached_payload() -> bytes:
    return Payload.of(make_submission(cache=True)).to_bytes()


@pytest.mark.parametrize(
    ("overrides", "kept"),
    [
        ({}, ["a"]),
        ({"verdict": "wrong_answer"}, ["a"]),
        ({"verdict": "time_limit_exceeded"}, []),
        ({"verdict": "internal_error"}, []),
        ({"verdict": "wrong_answer", "tests": [{"verdict": "time_limit_exceeded"}]}, []),
        ({"compile": {"verdict": "compile_error"}, "verdict": "compile_error"}, []),
        ({"compile": {"verdict": "compile_error", "exit_code": 1}}, ["a"]),
    ],
)
def test_only_what_another_try_would_find_too_is_kept(
    overrides: dict[str, Any], kept: list[str]
) -> None:
    store = RememberingStore({"a": _claim(payload=_cached_payload())})
    _runner(store, make_result(id="a", **overrides)).run(["a"])

    assert store.kept == kept


def test_result_is_not_kept_unless_asked_for() -> None:
    store = RememberingStore({"a": _claim()})
    _runner(store, make_result(id="a")).run(["a"])

    assert store.kept == []


def test_followers_get_the_result_under_their_own_names() -> None:
    store = RememberingStore({"t/a": _claim()}, followers={"t/a": ["t/b"]}, following={"t/b"})
    _runner(store, make_result(id="a")).run(["t/a"])

    follower = store.results["t/b"]
    assert (follower.id, follower.metadata, follower.reused) == ("b", {"k": 1}, True)
    assert store.metrics["shared"] == 1


def test_late_submission_is_canceled_and_its_followers_are_run() -> None:
    store = RememberingStore({"a": _claim(attempt=0)}, followers={"a": ["b"]})
    runner = _runner(store)
    runner.run(["a"])

    assert store.results["a"].status.value == "canceled"
    assert store.handed_back == ["b"]
    assert runner.pipeline.seen == []


def test_internal_error_is_a_dead_letter() -> None:
    store = RememberingStore({"a": _claim(), "b": _claim()})
    _runner(store, KeyError("x"), make_result(id="b")).run(["a", "b"])

    assert store.dead == ["a"]


def test_engine_that_is_down_hands_everything_back_and_pauses() -> None:
    store = RememberingStore({"a": _claim(), "b": _claim()})
    runner = _runner(store, EngineUnavailable("no daemon"))
    runner.run(["a", "b"])

    assert (store.handed_back, store.taken_back) == (["a", "b"], ["a"])
    assert runner.readiness.reasons == ["no daemon"]
    assert store.results == {}


def test_payload_that_was_not_signed_is_no_information() -> None:
    store = RememberingStore({"a": _claim()}, signer=Signer(b"k" * 32))
    _runner(store).run(["a"])

    assert store.results["a"].reward is None
    assert "not signed" in store.results["a"].detail


def test_results_of_quick_submissions_are_stored_together() -> None:
    store = RememberingStore({ref: _claim() for ref in "abc"})
    _runner(store, *[make_result(id=ref) for ref in "abc"]).run(list("abc"))

    assert store.written == [1, 2]


def test_quick_submissions_are_looked_at_ahead_twice_as_many_each_time() -> None:
    refs = [str(number) for number in range(1 + 2 + 4 + 8 + 3)]
    store = RememberingStore({ref: _claim() for ref in refs})
    runner = _runner(store, *[make_result(id=ref) for ref in refs])
    runner.run(refs)

    assert runner.pipeline.looked_ahead == [2, 4, 8, 3]
    assert list(store.results) == refs
    assert runner.pipeline.were_ahead == [False] + [True] * (len(refs) - 1)


def test_next_ones_are_begun_before_those_before_are_judged() -> None:
    refs = [str(number) for number in range(1 + 2 + 4 + 8)]
    store = RememberingStore({ref: _claim() for ref in refs})
    runner = _runner(store, *[make_result(id=ref) for ref in refs])
    runner.run(refs)

    assert runner.pipeline.run_before == [1, 1, 3]


def test_what_was_begun_is_handed_back_when_the_engine_goes_down() -> None:
    refs = list("abcdefg")
    store = RememberingStore({ref: _claim() for ref in refs})
    runner = _runner(store, make_result(id="a"), EngineUnavailable("no daemon"))
    runner.run(refs)

    assert list(store.results) == ["a"]
    assert (store.handed_back, store.taken_back) == (refs[1:], refs[1:])


def test_slow_submissions_are_run_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "QUICK_S", 0.0)
    store = RememberingStore({ref: _claim() for ref in "abc"})
    runner = _runner(store, *[make_result(id=ref) for ref in "abc"])
    runner.run(list("abc"))

    assert runner.pipeline.looked_ahead == []


def test_what_may_have_ended_a_worker_is_not_looked_at_ahead() -> None:
    store = RememberingStore({ref: _claim(attempt=1 + (ref == "c")) for ref in "abcdefg"})
    runner = _runner(store, *[make_result(id=ref) for ref in "abcdefg"])
    runner.run(list("abcdefg"))

    assert runner.pipeline.looked_ahead == [4]
    assert runner.pipeline.were_ahead == [False] * 3 + [True] * 4


def test_draining_worker_hands_back_what_it_has_claimed() -> None:
    store = RememberingStore({ref: _claim() for ref in "abcd"})
    runner = _runner(
        store,
        *[make_result(id=ref) for ref in "abcd"],
        is_draining=lambda: len(runner.pipeline.seen) == 2,
    )
    runner.run(list("abcd"))

    assert list(store.results) == ["a", "b"]
    assert (store.handed_back, store.taken_back) == (["c", "d"], ["c", "d"])
