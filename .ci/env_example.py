"""Writes `deploy/.env.example` from the fields of `Settings`."""

import textwrap
from pathlib import Path

from sandbox_service.settings import Settings

_TARGET = Path(__file__).parents[1] / "deploy" / ".env.example"
_HEAD = """\
# Every setting of the service. Lines that are commented out show the default.
# The service reads its environment only; `docker compose` and systemd read files like this one.
"""


def _lines() -> list[str]:
    lines = [_HEAD]
    for name, field in Settings.model_fields.items():
        lines += textwrap.wrap(
            " ".join((field.description or "").split()),
            100,
            initial_indent="# ",
            subsequent_indent="# ",
        )
        default = field.get_default()
        # Paths of the checkout, and what is empty or None, have no text worth showing.
        is_shown = default not in (None, ()) and not (
            isinstance(default, Path) and default.is_absolute()
        )
        lines += [f"#SANDBOX_{name.upper()}={default if is_shown else ''}", ""]
    return lines


_TARGET.write_text("\n".join(_lines()).rstrip() + "\n")
