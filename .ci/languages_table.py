"""Writes the table of languages into `images/README.md`, from the folders beside it."""

from pathlib import Path

from sandbox_service.languages import Language, load_languages

IMAGES = Path(__file__).parents[1] / "images"
README = IMAGES / "README.md"
BEGIN, END = "<!-- languages: begin -->\n", "<!-- languages: end -->\n"

_PROBES = {
    "fail": "runtime error",
    "loop": "time",
    "hoard": "memory",
    "flood": "output",
    "echo": "10 MB in, Unicode",
}
_HEAD = (
    "name", "language", "other names", "image", "tools", "on top of the memory limit",
    *_PROBES.values(),
)  # fmt: skip


def table() -> str:
    """Returns the table; a tick is a test that runs on Docker."""
    languages = load_languages(IMAGES).languages
    rows = [_HEAD, ("---",) * len(_HEAD), *map(_row, languages)]
    lines = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    return f"{BEGIN}{len(languages)} languages in {_image_count(languages)} images:\n\n{lines}{END}"


def _image_count(languages: tuple[Language, ...]) -> int:
    return len({language.image for language in languages})


def _row(language: Language) -> tuple[str, ...]:
    own_mib = language.run.own_memory_bytes // (1024 * 1024)
    can = language.examples.probes
    return (
        f"`{language.name}`",
        language.title,
        ", ".join(f"`{alias}`" for alias in language.aliases),
        f"`{language.image}`",
        ", ".join(f"`{tool}`" for tool in language.tools),
        f"{own_mib} MiB" if own_mib else "-",
        *("✓" if probe in can else "-" for probe in _PROBES),
    )


def with_table(text: str) -> str:
    """Returns the page with the table as it is now.

    Raises:
        ValueError: the page has no place for it.
    """
    before, found, rest = text.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise ValueError(f"no {BEGIN.strip()} … {END.strip()} in {README}")
    return before + table() + after


if __name__ == "__main__":
    README.write_text(with_table(README.read_text("utf-8")), "utf-8")
