"""`/v1/languages`: what a submission may be written in."""

from fastapi import APIRouter, Request

from sandbox_service.api.service import service_of
from sandbox_service.schema.base import Model

router = APIRouter(prefix="/v1/languages", tags=["languages"])


class LanguageInfo(Model):
    """A language, as callers need to know it."""

    name: str
    """Name in submissions."""

    title: str
    """Name for people, with the version."""

    aliases: tuple[str, ...]
    """Other names that are taken."""

    is_compiled: bool
    """Whether there is a compile step."""


class LanguageList(Model):
    """Every language."""

    languages: tuple[LanguageInfo, ...]
    """By name."""


@router.get("")
async def languages(request: Request) -> LanguageList:
    """List the languages."""
    return LanguageList(
        languages=tuple(
            LanguageInfo(
                name=language.name,
                title=language.title,
                aliases=language.aliases,
                is_compiled=language.compile is not None,
            )
            for language in service_of(request).languages.languages
        )
    )
