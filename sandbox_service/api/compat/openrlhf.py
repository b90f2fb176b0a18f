"""OpenRLHF's remote reward, at `POST /openrlhf/reward`.

Forced by the wire: `query` is prompt and answer in one text with special tokens, which are taken
off here. The client tries five times and then goes on without a reward, so a failure of ours is
a 503 and never a number.
"""

import json
import re

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sandbox_service.api.compat.labels import NoInformation, reward_of

router = APIRouter(tags=["compat"], include_in_schema=False)

# The client waits 180 s.
_HOLD_S = 170.0
_SPECIAL = re.compile(r"(?:\s*(?:<\|[^<>|\n]{1,40}\|>|</?s>|<pad>|<eos>))+\s*\Z")


class Asked(BaseModel):
    """The request; one item in each list, or as many."""

    model_config = ConfigDict(frozen=True)

    query: list[str] = Field(min_length=1)
    prompts: list[str]
    labels: list[str]


@router.post("/openrlhf/reward")
async def reward(request: Request) -> Response:
    """Tell the rewards of answers by the tests in their labels."""
    told: list[tuple[float, float]] = []
    try:
        asked = Asked.model_validate(json.loads(await request.body()))
        each = zip(asked.query, asked.prompts, asked.labels, strict=True)
        for query, prompt, label in each:
            told.append(await reward_of(request, answer_of(query, prompt), label, _HOLD_S))
    except ValidationError as error:
        return JSONResponse({"detail": json.loads(error.json(include_url=False))}, 422)
    except ValueError as error:
        return JSONResponse({"detail": str(error)}, 422)
    except NoInformation as error:
        return JSONResponse({"detail": str(error)}, 503)
    scores = [score for _, score in told]
    logs = {"pass_rate": sum(scores) / len(scores)}
    return JSONResponse(
        {"rewards": [each for each, _ in told], "scores": scores, "extra_logs": logs}
    )


def answer_of(query: str, prompt: str) -> str:
    """Returns what the model wrote, without the prompt and the special tokens at its end."""
    return _SPECIAL.sub("", query.removeprefix(prompt))
