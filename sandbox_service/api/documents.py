"""OpenAPI of bodies that are read from bytes, which FastAPI cannot see by itself."""

from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from sandbox_service.queue.suites import Suite
from sandbox_service.schema.base import Model
from sandbox_service.schema.job import BatchRequest, RewardsRequest
from sandbox_service.schema.submission import Submission

_REF = "#/components/schemas/{model}"
_BODIES: tuple[type[BaseModel], ...] = (Submission, RewardsRequest, BatchRequest, Suite)
_PROBLEM_TYPE = "application/problem+json"


class ProblemField(Model):
    """One field that does not fit."""

    field: str
    """Path as the caller would write it: `tests[0].expected_stdout`."""

    message: str
    """Why it does not fit."""


class Problem(Model):
    """An error."""

    type: str
    """A URN for the code."""

    title: str
    """The status in words."""

    status: int
    """The HTTP status."""

    detail: str
    """What is wrong, for a person."""

    code: str
    """What is wrong, for a program."""

    errors: tuple[ProblemField, ...] = ()
    """The fields at fault, if any."""


def takes(model: type[BaseModel], *line_types: str) -> dict[str, Any]:
    """Returns what a route says about its body, and about bodies that are lines of text."""
    reference = {"$ref": _REF.format(model=model.__name__)}
    content: dict[str, Any] = {"application/json": {"schema": reference}}
    content |= {name: {"schema": {"type": "string"}} for name in line_types}
    return {"requestBody": {"required": True, "content": content}}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Returns what a route says about its errors."""
    content = {_PROBLEM_TYPE: {"schema": {"$ref": _REF.format(model=Problem.__name__)}}}
    return {status: {"description": "Problem", "content": content} for status in statuses}


def install_documents(app: FastAPI) -> None:
    """Adds the schemas of bodies and problems to `/openapi.json`."""
    generate = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = generate()
            inputs = [(model, "validation") for model in (*_BODIES, Problem)]
            _, added = models_json_schema(inputs, ref_template=_REF)  # type: ignore[arg-type]
            schemas = document.setdefault("components", {}).setdefault("schemas", {})
            for name, schema in added["$defs"].items():
                schemas.setdefault(name, schema)
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
