"""Problems and demonstrations of a run, from files or from the family made here."""

import random
from collections.abc import Iterator
from typing import NamedTuple

from sandbox_service.errors import SettingsError
from sandbox_service.training.config import DomainConfig, TrainingConfig
from sandbox_service.training.problems import (
    FAMILY,
    Problem,
    family,
    lazy_demonstration,
    problems_of,
)
from sandbox_service.training.trajectories import read_rows


class Problems(NamedTuple):
    """What is trained on and what is only measured."""

    train: list[Problem]
    held_out: list[Problem]


class Demonstration(NamedTuple):
    """A prompt and what to answer."""

    prompt: str
    completion: str


def load_problems(config: TrainingConfig) -> Problems:
    """Loads the problems of every domain, so many held-out ones as are to be measured.

    Raises:
        SettingsError: a file cannot be read, or there is nothing to train on.
    """
    domains = config.sampler.domains or (
        DomainConfig(name="family", train=FAMILY, held_out=FAMILY),
    )
    train: list[Problem] = []
    held_out: list[Problem] = []
    for domain in domains:
        train += _read(domain.train, domain.name, is_held_out=False)
        if domain.held_out is not None:
            found = _read(domain.held_out, domain.name, is_held_out=True)
            held_out += found[: config.evaluation.problems]
    if not train:
        raise SettingsError("sampler.domains: there are no problems to train on")
    return Problems(train, held_out)


def _read(url: str, domain: str, *, is_held_out: bool) -> list[Problem]:
    if url == FAMILY:
        train, held_out = family()
        return held_out if is_held_out else train
    return list(problems_of(read_rows(url), domain, url))


def load_demonstrations(config: TrainingConfig) -> list[Demonstration]:
    """Loads what SFT imitates: trajectories with enough reward, or any prompts and completions.

    Raises:
        SettingsError: there is nothing to imitate.
    """
    found = list(_demonstrations(config))
    if not found:
        raise SettingsError(f"sft.data: {config.sft.data} has no demonstrations")
    return found


def _demonstrations(config: TrainingConfig) -> Iterator[Demonstration]:
    if config.sft.data == FAMILY:
        draw = random.Random(config.seed)
        train, _ = family()
        for problem in train * _VARIANTS:
            completion = lazy_demonstration(problem, config.sft.lazy_share, draw)
            yield Demonstration(problem.prompt, completion)
        return
    for row in read_rows(config.sft.data):
        reward = row.get("reward", 1.0)
        if reward is not None and reward >= config.sft.min_reward:
            yield Demonstration(str(row["prompt"]), str(row.get("completion") or row["solution"]))


_VARIANTS = 8
