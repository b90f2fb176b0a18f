"""Writes `deploy/.env.example` from the fields of `Settings`."""

import json
import textwrap
from pathlib import Path

from sandbox_service.settings import Settings

_TARGET = Path(__file__).parents[1] / "deploy" / ".env.example"
_HEAD = """\
# Every setting of the service. Lines that are commented out show the default.
# The service reads its environment only; `docker compose` and systemd read files like this one.
"""


def _text(default: object) -> str:
    """Writes a default as the environment would have it; what depends on the machine is empty."""
    if default in (None, (), "") or (isinstance(default, Path) and default.is_absolute()):
        return ""
    if isinstance(default, bool | dict | tuple):
        return json.dumps(default)
    return str(default)


def _lines() -> list[str]:
    lines = [_HEAD]
    for name, field in Settings.model_fields.items():
        lines += textwrap.wrap(
            " ".join((field.description or "").split()),
            100,
            initial_indent="# ",
            subsequent_indent="# ",
        )
        lines += [f"#SANDBOX_{name.upper()}={_text(field.get_default())}", ""]
    return lines


_TARGET.write_text("\n".join(_lines()).rstrip() + "\n")
