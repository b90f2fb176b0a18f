"""Scores from a reward model behind a URL: one for an answer, or one for each of its steps.

The body posted is {"prompts": […], "completions": […]}; the answer is {"scores": […]} with a number
or null for each, or {"steps": [[{"end": characters, "score": number}, …], …]}.
"""

import asyncio
from collections.abc import Sequence

import httpx
from pydantic import BaseModel, ValidationError

from sandbox_service.training.reward_config import SourceConfig
from sandbox_service.training.scores import StepScore

_ATTEMPTS = 3
_WAIT_S = 0.5
_TIMEOUT_S = 120.0


class _Step(BaseModel):
    end: int
    score: float


class _Answer(BaseModel):
    scores: list[float | None] | None = None
    steps: list[list[_Step]] | None = None


class HttpSource:
    """Asks a reward model behind a URL; what it does not answer is missing, not zero."""

    def __init__(self, config: SourceConfig, http: httpx.AsyncClient) -> None:
        self.label = config.label
        self._url = config.url
        self._http = http

    async def scores(
        self, prompts: Sequence[str], completions: Sequence[str]
    ) -> list[float | None]:
        """Returns a score for each completion, or None."""
        answer = await self._ask(prompts, completions)
        if answer is None or answer.scores is None or len(answer.scores) != len(completions):
            return [None] * len(completions)
        return answer.scores

    async def steps(
        self, prompts: Sequence[str], completions: Sequence[str]
    ) -> list[tuple[StepScore, ...]]:
        """Returns the scores of the steps of each completion, or none."""
        answer = await self._ask(prompts, completions)
        if answer is None or answer.steps is None or len(answer.steps) != len(completions):
            return [()] * len(completions)
        return [tuple(StepScore(one.end, one.score) for one in steps) for steps in answer.steps]

    async def _ask(self, prompts: Sequence[str], completions: Sequence[str]) -> _Answer | None:
        body = {"prompts": list(prompts), "completions": list(completions)}
        for attempt in range(_ATTEMPTS):
            try:
                response = await self._http.post(self._url, json=body, timeout=_TIMEOUT_S)
                return _Answer.model_validate_json(response.raise_for_status().content)
            except (httpx.HTTPError, ValidationError):
                await asyncio.sleep(_WAIT_S * attempt)
        return None
