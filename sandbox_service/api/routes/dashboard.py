"""`/dashboard`: the page for operators. It holds no figures itself, so it needs no key."""

from fastapi import APIRouter
from fastapi.responses import Response

from sandbox_service.dashboard.page import HEADERS, PAGE, page_files
from sandbox_service.errors import NotFound

router = APIRouter(prefix="/dashboard", include_in_schema=False)


@router.get("")
async def dashboard() -> Response:
    """Give the page."""
    return _answer(PAGE)


@router.get("/{name}")
async def file_of_dashboard(name: str) -> Response:
    """Give a file that the page names."""
    return _answer(name)


def _answer(name: str) -> Response:
    file = page_files().get(name)
    if file is None:
        raise NotFound(f"the dashboard has no file {name!r}")
    return Response(file.content, media_type=file.media_type, headers=HEADERS)
