"""What each method of the clients asks and makes of the answers, written once for both."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import httpx

from sandbox_service.client._transport import Call, Flow, Patience, parse
from sandbox_service.client.answers import (
    Health,
    LanguageInfo,
    LanguageList,
    QueueList,
    Rewards,
    SuiteRef,
)
from sandbox_service.client.options import ClientOptions
from sandbox_service.client.submissions import (
    Outgoing,
    SubmissionLike,
    body_of,
    outgoing,
    parts,
    to_json,
)
from sandbox_service.errors import NotFinished, NotFound, UnexpectedResponse
from sandbox_service.schema.job import JobState, QueueState, RewardsPending, RewardsResponse
from sandbox_service.schema.result import Result
from sandbox_service.schema.testcase import TestCase

_ACCEPTED = httpx.codes.ACCEPTED


def submit(
    submission: SubmissionLike, wait_s: float, within_s: float | None = None
) -> Flow[JobState]:
    """Sends one submission and tells where it is after a wait."""
    body = outgoing(submission).body
    response = yield Call("POST", "/v1/submissions", content=body, wait_s=wait_s, within_s=within_s)
    if response.status_code == _ACCEPTED:
        return parse(JobState, response.content)
    result = parse(Result, response.content)
    return JobState(id=result.id, status=result.status, result=result)


def look(submission_id: str, wait_s: float, within_s: float | None = None) -> Flow[JobState]:
    """Asks where a submission is after a wait."""
    response = yield Call("GET", _path_of(submission_id), wait_s=wait_s, within_s=within_s)
    return parse(JobState, response.content)


def result(submission_id: str, patience: Patience) -> Flow[Result]:
    """Waits for a result."""
    while True:
        state = yield from look(submission_id, patience.slice_s(), patience.left_s)
        if state.result is not None:
            return state.result
        if patience.is_over:
            raise NotFinished(f"{submission_id} is {state.status}", pending=[submission_id])


def score(submission: SubmissionLike, patience: Patience) -> Flow[Result]:
    """Sends one submission and waits for its result."""
    state = yield from submit(submission, patience.slice_s(), patience.left_s)
    if state.result is not None:
        return state.result
    return (yield from result(state.id, patience))


def cancel(submission_id: str) -> Flow[JobState]:
    """Cancels a submission unless it is finished."""
    response = yield Call("DELETE", _path_of(submission_id))
    return parse(JobState, response.content)


def rewards(
    submissions: Sequence[SubmissionLike], patience: Patience, options: ClientOptions
) -> Flow[Rewards]:
    """Sends submissions and waits until all have a result or the time is over."""
    sent = [outgoing(submission) for submission in submissions]
    requests = list(parts(sent, options.request_bytes))
    found: dict[str, Result] = {}
    for number, part in enumerate(requests, start=1):
        # All are under way before any is waited for.
        wait_s = patience.slice_s() if number == len(requests) else 0.0
        found |= yield from _send_part(part, wait_s, patience)
    for each in sent:
        if each.id not in found:
            found |= yield from _wait_for(each, patience)
    results = [found.get(each.id) for each in sent]
    return Rewards(
        rewards=[None if each is None else each.reward for each in results],
        results=results,
        pending=[each.id for each in sent if each.id not in found],
    )


def _wait_for(sent: Outgoing, patience: Patience) -> Flow[dict[str, Result]]:
    is_sent_again = False
    while not patience.is_over:
        try:
            state = yield from look(sent.id, patience.slice_s(), patience.left_s)
        except NotFound:
            # Redis came back without it, so it never ran to an end that anyone knows of.
            if is_sent_again:
                raise
            is_sent_again = True
            yield from _send_part([sent], 0.0, patience)
            continue
        if state.result is not None:
            return {sent.id: state.result}
    return {}


def _send_part(
    part: Sequence[Outgoing], wait_s: float, patience: Patience
) -> Flow[dict[str, Result]]:
    response = yield Call(
        "POST",
        "/v1/rewards",
        content=body_of(part),
        wait_s=wait_s,
        within_s=patience.left_s,
    )
    if response.status_code == _ACCEPTED:
        states = parse(RewardsPending, response.content).submissions
        return {state.id: state.result for state in states if state.result is not None}
    results = parse(RewardsResponse, response.content).results
    if len(results) != len(part):
        raise UnexpectedResponse(f"{len(results)} results for {len(part)} submissions")
    return {each.id: one for each, one in zip(part, results, strict=True)}


def put_suite(tests: Sequence[TestCase | Mapping[str, Any]]) -> Flow[str]:
    """Stores tests and returns the digest that stands for them."""
    response = yield Call("PUT", "/v1/suites", content=to_json({"tests": list(tests)}))
    return parse(SuiteRef, response.content).suite


def languages() -> Flow[tuple[LanguageInfo, ...]]:
    """Lists what submissions may be written in."""
    response = yield Call("GET", "/v1/languages")
    return parse(LanguageList, response.content).languages


def queues() -> Flow[tuple[QueueState, ...]]:
    """Counts what waits, what runs and who works."""
    response = yield Call("GET", "/v1/queues")
    return parse(QueueList, response.content).queues


def health(within_s: float | None) -> Flow[Health]:
    """Asks whether submissions are taken and worked on."""
    response = yield Call("GET", "/readyz", within_s=within_s)
    return parse(Health, response.content)


def _path_of(submission_id: str) -> str:
    return f"/v1/submissions/{quote(submission_id, safe='')}"
