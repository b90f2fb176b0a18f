"""Which problems a step takes: by how fast each domain improves, and by what they still teach.

Needs no torch. Its whole state is plain data, so that a run goes on as if it had never stopped.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from sandbox_service.training.config import SamplerConfig
from sandbox_service.training.problems import Problem

_TRIES = 50


class Sampler:
    """Draws problems; learns from validation scores and from the rewards of groups."""

    def __init__(self, problems: Sequence[Problem], config: SamplerConfig, seed: int) -> None:
        self._config = config
        self._by_domain: dict[str, list[Problem]] = {}
        for problem in problems:
            self._by_domain.setdefault(problem.domain, []).append(problem)
        self._draw = random.Random(seed)
        self._slopes: dict[str, float] = {}
        self._last: dict[str, float] = {}
        self._decided: set[str] = set()

    @property
    def domains(self) -> list[str]:
        """Names of the domains, sorted."""
        return sorted(self._by_domain)

    def weights(self) -> dict[str, float]:
        """Returns each domain's share of the sampling: a common floor, the rest by progress."""
        domains = self.domains
        floor = self._config.floor / len(domains)
        slopes = {name: abs(self._slopes.get(name, 0.0)) for name in domains}
        total = sum(slopes.values())
        if total == 0.0:
            return {name: 1.0 / len(domains) for name in domains}
        free = 1.0 - self._config.floor
        return {name: floor + free * slopes[name] / total for name in domains}

    def sample(self, count: int, step: int) -> list[Problem]:
        """Draws the problems of a step, none of them twice as long as there are enough."""
        weights = self.weights()
        names = self._draw.choices(list(weights), list(weights.values()), k=count)
        taken: set[str] = set()
        chosen = []
        for name in names:
            problem = self._one(self._by_domain[name], step, taken)
            taken.add(problem.id)
            chosen.append(problem)
        return chosen

    def observe_validation(self, scores: Mapping[str, float]) -> None:
        """Learns how fast each domain changes, forgetting older changes bit by bit.

        A falling score draws as much attention as a rising one: what is being forgotten is
        practised again.
        """
        decay = self._config.slope_decay
        for name, score in scores.items():
            if name in self._last:
                change = abs(score - self._last[name])
                self._slopes[name] = decay * self._slopes.get(name, change) + (1 - decay) * change
            self._last[name] = score

    def observe_groups(self, groups: Mapping[str, Sequence[float]]) -> None:
        """Learns which problems, by id, all completions solved or none did."""
        for name, rewards in groups.items():
            if rewards and max(rewards) == min(rewards):
                self._decided.add(name)
            else:
                self._decided.discard(name)

    def state(self) -> dict[str, Any]:
        """Returns everything that a later sampler needs to go on."""
        version, numbers, gauss = self._draw.getstate()
        return {
            "draw": [version, list(numbers), gauss],
            "slopes": self._slopes,
            "last": self._last,
            "decided": sorted(self._decided),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on from a state."""
        version, numbers, gauss = state["draw"]
        self._draw.setstate((version, tuple(numbers), gauss))
        self._slopes = dict(state["slopes"])
        self._last = dict(state["last"])
        self._decided = set(state["decided"])

    def _one(self, problems: Sequence[Problem], step: int, taken: set[str]) -> Problem:
        bound = self._difficulty_bound(step)
        for _ in range(_TRIES):
            problem = self._draw.choice(problems)
            if problem.id not in taken and problem.difficulty <= bound and self._is_taken(problem):
                return problem
        return self._draw.choice(problems)

    def _is_taken(self, problem: Problem) -> bool:
        if not self._config.filter_decided or problem.id not in self._decided:
            return True
        return self._draw.random() < self._config.decided_share

    def _difficulty_bound(self, step: int) -> float:
        if self._config.curriculum_steps == 0:
            return 1.0
        grown = min(1.0, step / self._config.curriculum_steps)
        start = self._config.curriculum_start
        return start + (1.0 - start) * grown
