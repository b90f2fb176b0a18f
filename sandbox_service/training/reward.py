"""Rewards from the service, asked for while other completions are still being sampled.

An event loop on a thread of its own talks to the service. What the service could not find out is
tried again, then masked; while it is away, or too much is masked, `gather` pauses and says why.
Needs no torch.
"""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple, Protocol
from uuid import uuid4

import httpx
import structlog

from sandbox_service.client.answers import Rewards
from sandbox_service.client.async_ import AsyncSandboxClient
from sandbox_service.client.options import ClientOptions
from sandbox_service.client.retry import RetryPolicy
from sandbox_service.errors import ServiceError, ServiceUnavailable
from sandbox_service.schema.verdict import Verdict
from sandbox_service.training.http_sources import HttpSource
from sandbox_service.training.problems import Problem
from sandbox_service.training.reward_config import RewardConfig
from sandbox_service.training.scores import Scored, length_score
from sandbox_service.training.submissions import scored_of, submission_of

_log = structlog.get_logger(__name__)
_OUTAGE = "the service did not answer"


class RewardsClient(Protocol):
    """What is needed of the client."""

    async def rewards(
        self, submissions: Sequence[dict[str, Any]], *, timeout_s: float | None = None
    ) -> Rewards:
        """Scores submissions."""

    async def aclose(self) -> None:
        """Closes connections."""


class Answer(Protocol):
    """What is scored."""

    @property
    def index(self) -> int:
        """Where its score belongs."""

    @property
    def problem(self) -> Problem:
        """What it answers."""

    @property
    def completion(self) -> str:
        """Its text."""

    @property
    def token_count(self) -> int:
        """Its length."""


class Gathered(NamedTuple):
    """The scores of a step."""

    scored: list[Scored]
    """In the order of the indices."""
    waited_s: float
    """Seconds for which nothing else was done."""
    paused_s: float
    """Seconds of those in which the service was away or too ill."""
    retried: int
    """Completions that were sent more than once."""


class Scorer:
    """Sends completions, waits for their scores."""

    def __init__(self, config: RewardConfig, client: RewardsClient | None = None) -> None:
        self._config = config
        self._client = client or _client_of(config)
        self._http = httpx.AsyncClient()
        self._sources = [
            (source.kind, HttpSource(source, self._http))
            for source in config.sources
            if source.kind in {"http", "steps"}
        ]
        self._run_name = uuid4().hex[:12]
        self._batch = 0
        self._sent: list[Answer] = []
        self._held: list[Answer] = []
        self._futures: list[Future[dict[int, Scored]]] = []
        self._retried = 0
        self._is_ending = threading.Event()
        self._failures: Counter[int] = Counter()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="scorer")
        self._thread.start()

    def close(self) -> None:
        """Closes connections and ends the thread."""
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def end_pauses(self) -> None:
        """Ends this and every later pause, since the run is told to stop."""
        self._is_ending.set()

    def submit(self, answers: Sequence[Answer]) -> None:
        """Sends completions without waiting; without overlap they are held back until `gather`."""
        if self._config.overlap:
            self._send(answers)
        else:
            self._held.extend(answers)

    def gather(self) -> Gathered:
        """Waits for the scores of all completions since the last time.

        Raises:
            ServiceUnavailable: a pause took longer than the configuration allows, or was ended.
        """
        if self._held:
            self._send(self._held)
        started = time.monotonic()
        found = self._collect()
        waited_s = time.monotonic() - started
        paused_s = 0.0
        while reason := self._reason_to_pause(found):
            _log.warning("rewards_paused", reason=reason, paused_s=round(paused_s, 1))
            self._give_up_after(paused_s, reason)
            if self._is_ending.wait(self._config.pause_s):
                raise ServiceUnavailable(f"told to stop during a pause: {reason}")
            self._send([each for each in self._sent if _is_unknown(found[each.index])], again=True)
            found |= self._collect()
            paused_s = time.monotonic() - started - waited_s
        gathered = Gathered(
            [found[index] for index in sorted(found)], waited_s + paused_s, paused_s, self._retried
        )
        self._sent, self._held, self._retried = [], [], 0
        self._failures.clear()
        self._batch += 1
        return gathered

    def _send(self, answers: Sequence[Answer], *, again: bool = False) -> None:
        if not again:
            self._sent.extend(answers)
        score = self._score(list(answers))
        self._futures.append(asyncio.run_coroutine_threadsafe(score, self._loop))

    def _collect(self) -> dict[int, Scored]:
        found: dict[int, Scored] = {}
        for future in self._futures:
            found |= future.result()
        self._futures = []
        return found

    def _reason_to_pause(self, found: dict[int, Scored]) -> str:
        unknown = [each for each in found.values() if _is_unknown(each)]
        if any(each.detail.startswith(_OUTAGE) for each in unknown):
            return next(each.detail for each in unknown if each.detail.startswith(_OUTAGE))
        if len(unknown) > self._config.max_masked_share * len(found):
            return f"{len(unknown)} of {len(found)} completions have no reward: {unknown[0].detail}"
        return ""

    def _give_up_after(self, paused_s: float, reason: str) -> None:
        longest_s = self._config.longest_pause_s
        if longest_s is not None and paused_s >= longest_s:
            raise ServiceUnavailable(f"no rewards for {paused_s:.0f} s: {reason}")

    async def _score(self, answers: list[Answer]) -> dict[int, Scored]:
        scored, *others = await asyncio.gather(
            self._ask_service(answers), *self._ask_others(answers)
        )
        for (kind, source), values in zip(self._sources, others, strict=True):
            for answer, value in zip(answers, values, strict=True):
                before = scored[answer.index]
                parts = dict(before.parts)
                if kind == "http":
                    parts[source.label] = value
                steps = value if kind == "steps" else before.steps
                scored[answer.index] = Scored(before.verdict, parts, steps, before.detail)
        return scored

    def _ask_others(self, answers: list[Answer]) -> list[Any]:
        prompts = [answer.problem.prompt for answer in answers]
        completions = [answer.completion for answer in answers]
        return [
            (source.scores if kind == "http" else source.steps)(prompts, completions)
            for kind, source in self._sources
        ]

    async def _ask_service(self, answers: list[Answer]) -> dict[int, Scored]:
        scored: dict[int, Scored] = {}
        unknown = answers
        for attempt in range(self._config.attempts):
            self._retried += len(unknown) if attempt else 0
            scored |= await self._ask_once(unknown)
            unknown = [answer for answer in unknown if _is_unknown(scored[answer.index])]
            if not unknown or scored[unknown[0].index].detail.startswith(_OUTAGE):
                break
            # A new name asks for a new run; after an outage the old one finds the old run.
            for answer in unknown:
                self._failures[answer.index] += 1
        return {answer.index: self._with_length(answer, scored) for answer in answers}

    async def _ask_once(self, answers: list[Answer]) -> dict[int, Scored]:
        bodies = [
            submission_of(each.problem, each.completion, self._name_of(each), self._config)
            for each in answers
        ]
        try:
            rewards = await self._client.rewards(bodies)
        except ServiceError as error:
            lost = Scored(Verdict.INTERNAL_ERROR, detail=f"{_OUTAGE}: {error}")
            return {answer.index: lost for answer in answers}
        return {
            answer.index: scored_of(result, reward, self._config)
            for answer, reward, result in zip(
                answers, rewards.rewards, rewards.results, strict=True
            )
        }

    def _name_of(self, answer: Answer) -> str:
        index = answer.index
        return f"{self._run_name}-{self._batch}-{index}-{self._failures[index]}"

    def _with_length(self, answer: Answer, scored: dict[int, Scored]) -> Scored:
        before = scored[answer.index]
        lengths = {
            source.label: length_score(answer.token_count, source)
            for source in self._config.sources
            if source.kind == "length"
        }
        return Scored(before.verdict, {**before.parts, **lengths}, before.steps, before.detail)

    async def _close(self) -> None:
        await self._client.aclose()
        await self._http.aclose()


def _is_unknown(scored: Scored) -> bool:
    return scored.verdict is Verdict.INTERNAL_ERROR


def _client_of(config: RewardConfig) -> AsyncSandboxClient:
    # A pause is ours to announce, so the client gives up as soon as one could begin.
    options = ClientOptions(retry=RetryPolicy(deadline_s=config.pause_s))
    return AsyncSandboxClient(config.service_url, api_key=config.api_key, options=options)
