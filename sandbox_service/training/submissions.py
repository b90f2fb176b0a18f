"""A completion as a submission, and a result as scores by source. Needs no torch."""

from typing import Any

from sandbox_service.schema.result import Result
from sandbox_service.schema.verdict import Verdict
from sandbox_service.training.problems import Problem
from sandbox_service.training.reward_config import RewardConfig
from sandbox_service.training.scores import Scored

_SERVICE_KINDS = ("tests", "style")


def submission_of(
    problem: Problem, completion: str, name: str, config: RewardConfig
) -> dict[str, Any]:
    """Writes the submission that scores a completion."""
    return {
        "id": name,
        "language": problem.language,
        "completion" if problem.extract else "code": completion,
        "tests": list(problem.tests),
        "limits": config.limits.model_dump(mode="json", exclude_unset=True),
        "reward": _policy_of(config),
        "cache": config.cache,
    }


def _policy_of(config: RewardConfig) -> dict[str, Any]:
    policy = {"policy": config.policy}
    if not config.has("style"):
        return policy
    # The service measures both, and the weights of the step are applied here.
    return {
        "policy": "fusion",
        "sources": [{"source": "tests", "policy": policy}, {"source": "style"}],
    }


def scored_of(result: Result | None, reward: float | None, config: RewardConfig) -> Scored:
    """Reads the service's sources out of a result; no result is no information."""
    if result is None:
        return Scored(Verdict.INTERNAL_ERROR, detail="no result")
    if not config.has("style"):
        parts = {source.label: reward for source in config.sources if source.kind == "tests"}
    else:
        found = {part.name: part.score for part in result.parts}
        parts = {
            source.label: None if reward is None else found.get(source.kind)
            for source in config.sources
            if source.kind in _SERVICE_KINDS
        }
    return Scored(result.verdict, parts, detail=result.detail)
