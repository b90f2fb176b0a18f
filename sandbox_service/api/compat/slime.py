"""slime's remote reward, at `POST /slime/reward`.

Forced by the wire: the body of the answer is the reward, a bare number. The client tries ten
times and then stops the training, so a failure of ours is a 503 and never a number.
"""

import json
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, ValidationError

from sandbox_service.api.compat.labels import NoInformation, reward_of

router = APIRouter(tags=["compat"], include_in_schema=False)

# The client waits 120 s.
_HOLD_S = 110.0


class Asked(BaseModel):
    """The request; other fields are ignored."""

    model_config = ConfigDict(frozen=True)

    response: str
    label: Any


@router.post("/slime/reward")
async def reward(request: Request) -> Response:
    """Tell the reward of an answer by the tests in its label."""
    try:
        asked = Asked.model_validate(json.loads(await request.body()))
        told, _ = await reward_of(request, asked.response, asked.label, _HOLD_S)
    except ValidationError as error:
        return JSONResponse({"detail": json.loads(error.json(include_url=False))}, 422)
    except ValueError as error:
        return JSONResponse({"detail": str(error)}, 422)
    except NoInformation as error:
        return JSONResponse({"detail": str(error)}, 503)
    return JSONResponse(told)
