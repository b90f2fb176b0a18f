"""A service in memory that forgets no id, as the real one; it fails when a test says so."""

import json
from collections.abc import Callable
from typing import Any

import httpx

from sandbox_service.client.options import ClientOptions
from sandbox_service.client.retry import RetryPolicy
from tests.factories import make_result

NO_WAITS = ClientOptions(retry=RetryPolicy(first_wait_s=0.0, longest_wait_s=0.0))
Fault = Callable[[httpx.Request], httpx.Response | None]


def problem(status: int, code: str, detail: str = "because", **more: Any) -> httpx.Response:
    headers = more.pop("headers", None)
    body = {"status": status, "code": code, "detail": detail} | more
    return httpx.Response(status, json=body, headers=headers)


class FakeService:
    """Every submission is finished once `polls` requests have asked for it."""

    def __init__(self, *, polls: int = 0) -> None:
        self.polls = polls
        self.runs: list[str] = []
        self.requests: list[httpx.Request] = []
        self.faults: list[Fault] = []
        self.rewards: dict[str, float | None] = {}
        self._asked: dict[str, int] = {}

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if self.faults and (answer := self.faults.pop(0)(request)) is not None:
            return answer
        if request.method == "POST":
            return self.accept(request)
        return self._state_answer(request.url.path.rpartition("/")[2])

    def forget(self) -> None:
        self._asked.clear()

    def accept(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        is_many = request.url.path == "/v1/rewards"
        states = [self._take(each["id"]) for each in (body["submissions"] if is_many else [body])]
        is_done = all(state["result"] for state in states)
        if not is_done:
            return httpx.Response(202, json={"submissions": states} if is_many else states[0])
        results = [state["result"] for state in states]
        if not is_many:
            return httpx.Response(200, json=results[0])
        rewards = [result["reward"] for result in results]
        return httpx.Response(200, json={"rewards": rewards, "results": results})

    def _take(self, name: str) -> dict[str, Any]:
        if name not in self._asked:
            self._asked[name] = -1
            self.runs.append(name)
        return self._state(name)

    def _state_answer(self, name: str) -> httpx.Response:
        if name not in self._asked:
            return problem(404, "not_found")
        return httpx.Response(200, json=self._state(name))

    def _state(self, name: str) -> dict[str, Any]:
        self._asked[name] += 1
        if self._asked[name] < self.polls:
            return {"id": name, "status": "queued", "result": None}
        reward = self.rewards.get(name, 1.0)
        result = make_result(id=name, reward=reward, score=reward).model_dump(mode="json")
        return {"id": name, "status": "finished", "result": result}


def refuse(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused", request=request)


def lose_the_answer(service: FakeService) -> Fault:
    def fault(request: httpx.Request) -> httpx.Response:
        service.accept(request)
        raise httpx.RemoteProtocolError("ended", request=request)

    return fault
