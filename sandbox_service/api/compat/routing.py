"""Which foreign wire formats there are, and which of them are on."""

from collections.abc import Iterator
from typing import Final

from fastapi import APIRouter, Request

from sandbox_service.api.compat import (
    judge0,
    open_instruct,
    openrlhf,
    piston,
    sandboxfusion,
    slime,
)
from sandbox_service.api.service import service_of
from sandbox_service.settings import Settings

_FORMATS: Final = {
    "sandboxfusion": sandboxfusion.router,
    "piston": piston.router,
    "judge0": judge0.router,
    "open_instruct": open_instruct.router,
    "openrlhf": openrlhf.router,
    "slime": slime.router,
}

router = APIRouter(prefix="/v1/compat", tags=["compat"])


def routers_on(settings: Settings) -> Iterator[APIRouter]:
    """Yields the routers of the formats that are on."""
    return (each for name, each in _FORMATS.items() if name in settings.compat)


@router.get("")
async def compat(request: Request) -> dict[str, dict[str, bool]]:
    """Tell which foreign wire formats this service answers."""
    on = service_of(request).settings.compat
    return {"formats": {name: name in on for name in _FORMATS}}
