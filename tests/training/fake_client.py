"""A service in memory: it judges the family's programs by their text and fails when told to."""

from collections.abc import Callable, Sequence
from typing import Any

from sandbox_service.client.answers import Rewards
from sandbox_service.errors import ServiceUnavailable
from sandbox_service.training.problems import family
from tests.factories import make_result

Judge = Callable[[dict[str, Any]], float | None]


def share_of_right_words(body: dict[str, Any]) -> float:
    """Compares a program with the known solution, word by word."""
    train, held_out = family()
    solution = next(
        problem.solution for problem in train + held_out if list(problem.tests) == body["tests"]
    )
    found, wanted = body["code"].split(), (solution or "").split()
    same = sum(one == other for one, other in zip(found, wanted, strict=False))
    return same / max(len(found), len(wanted))


class FakeClient:
    """Answers at once."""

    def __init__(self, judge: Judge = share_of_right_words) -> None:
        self._judge = judge
        self.names: list[str] = []
        self.outages = 0
        self.is_closed = False

    async def rewards(
        self, submissions: Sequence[dict[str, Any]], *, timeout_s: float | None = None
    ) -> Rewards:
        self.names += [each["id"] for each in submissions]
        if self.outages:
            self.outages -= 1
            raise ServiceUnavailable("connection refused")
        rewards = [self._judge(each) for each in submissions]
        return Rewards(
            rewards=rewards,
            results=[
                make_result(id=each["id"], reward=reward, score=reward, verdict=_verdict(reward))
                for each, reward in zip(submissions, rewards, strict=True)
            ],
            pending=[],
        )

    async def aclose(self) -> None:
        self.is_closed = True


def _verdict(reward: float | None) -> str:
    if reward is None:
        return "internal_error"
    return "accepted" if reward == 1.0 else "wrong_answer"
