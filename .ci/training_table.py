"""Writes the fields of training configs into `docs/training-config.md`, from their docstrings."""

import json
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from sandbox_service.training.config import TrainingConfig

PAGE = Path(__file__).parents[1] / "docs" / "training-config.md"
_HEAD = """# Fields of a training config

TOML or YAML, read by `sandbox-service train`; a field that is not there has its default. Written by
`.ci/training_table.py` out of the classes in `sandbox_service/training/*config.py`.
"""


def page() -> str:
    """Returns the whole page."""
    return _HEAD + "".join(_section(name, model) for name, model in _sections("", TrainingConfig))


def _sections(name: str, model: type[BaseModel]) -> list[tuple[str, type[BaseModel]]]:
    found = [(name, model)]
    for field, info in model.model_fields.items():
        inner = f"{name}.{field}" if name else field
        for each in _models_in(info.annotation):
            known = {one for _, one in found}
            found += [pair for pair in _sections(inner, each) if pair[1] not in known]
    return found


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]


def _section(name: str, model: type[BaseModel]) -> str:
    title = f"`[{name}]`" if name else "Top level"
    about = (model.__doc__ or "").split("\n\n")[0].replace("\n", " ").strip()
    rows = [
        f"| `{field}` | {_default(info)} | {' '.join((info.description or '').split())} |\n"
        for field, info in model.model_fields.items()
    ]
    head = "| field | default | what it is |\n|---|---|---|\n"
    return f"\n## {title}\n\n{about}\n\n{head}{''.join(rows)}"


def _default(info: Any) -> str:
    if info.is_required():
        return "required"
    value = info.get_default(call_default_factory=True)
    if isinstance(value, BaseModel):
        return "see its section"
    return f"`{json.dumps(value, default=str)}`"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
