"""A model's answer and the label of its problem, as the remote rewards of trainers send them.

A label is JSON: a list of tests, or an object with the fields of a submission beside the answer.
"""

import json
from typing import Any

from fastapi import Request
from pydantic import ValidationError

from sandbox_service.api.compat.running import NotInTime, judged
from sandbox_service.api.errors import InvalidBody
from sandbox_service.schema.submission import Submission

_LANGUAGE = "python"


class NoInformation(Exception):
    """The service failed, not the program: there is no reward to be told."""


def submission_of(answer: str, label: Any, deadline_s: float) -> Submission:
    """Returns an answer to be judged by its label.

    Nobody waits for it after the deadline, so it is not run later unless the label says so.

    Raises:
        ValueError: the label is not JSON, or not of the two kinds.
        ValidationError: a field does not fit.
    """
    told = json.loads(label) if isinstance(label, str) else label
    if isinstance(told, list):
        told = {"tests": told}
    if not isinstance(told, dict):
        raise ValueError("a label is a list of tests or an object")  # noqa: TRY004
    fields = {"language": _LANGUAGE, "deadline_s": deadline_s, **told, "completion": answer}
    return Submission.model_validate(fields)


async def reward_of(
    request: Request, answer: str, label: Any, hold_s: float
) -> tuple[float, float]:
    """Returns the reward of an answer and its score.

    Raises:
        ValueError: the label does not fit.
        NoInformation: nothing was found out, or not in time.
    """
    try:
        result = await judged(request, submission_of(answer, label, hold_s), hold_s)
    except (InvalidBody, ValidationError) as error:
        raise ValueError(f"label: {error}") from error
    except NotInTime as error:
        raise NoInformation("no result in time") from error
    if result.reward is None or result.score is None:
        raise NoInformation(result.detail or result.verdict)
    return result.reward, result.score
