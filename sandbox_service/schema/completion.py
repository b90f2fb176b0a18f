"""Which part of a model's text is the code; the rules are in `rewards.completion`."""

from enum import StrEnum


class ExtractionRule(StrEnum):
    """Which fenced block of several is taken."""

    LAST = "last"
    """The last one: models correct themselves as they go."""

    FIRST = "first"
    """The first one."""

    LONGEST = "longest"
    """The one with the most text, the first of equals."""

    LANGUAGE = "language"
    """The last one that is tagged with the submission's language, and no other."""
