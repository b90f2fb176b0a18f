"""The files of the page, and the headers that keep it from running anything but them."""

from functools import cache
from importlib.resources import files
from typing import NamedTuple

PAGE = "index.html"

_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # A service that was updated shall not be shown by an old page.
    "Cache-Control": "no-cache",
}


class PageFile(NamedTuple):
    """One file as it is sent."""

    content: bytes
    media_type: str


@cache
def page_files() -> dict[str, PageFile]:
    """Returns every file of the page by name; there are no folders."""
    return {
        each.name: PageFile(each.read_bytes(), _TYPES[each.name.rpartition(".")[2]])
        for each in files(__package__).joinpath("static").iterdir()
    }
