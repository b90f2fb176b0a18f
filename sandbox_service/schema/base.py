"""The base of every model that crosses a wire."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """Frozen, closed to unknown fields, finite numbers only; field docstrings feed OpenAPI."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        allow_inf_nan=False,
    )
