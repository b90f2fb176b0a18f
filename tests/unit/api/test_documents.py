import json

import httpx
import pytest

from tests.factories import make_language


@pytest.fixture
async def document(client: httpx.AsyncClient) -> dict:
    return (await client.get("/openapi.json")).json()


def test_every_reference_of_the_document_resolves(document: dict) -> None:
    schemas = document["components"]["schemas"]
    parts = json.dumps(document).split('"$ref": "#/components/schemas/')[1:]

    assert {part.partition('"')[0] for part in parts} <= schemas.keys()


@pytest.mark.parametrize(
    ("path", "method", "model"),
    [
        ("/v1/submissions", "post", "Submission"),
        ("/v1/rewards", "post", "RewardsRequest"),
        ("/v1/suites", "put", "Suite"),
    ],
)
def test_bodies_are_described(document: dict, path: str, method: str, model: str) -> None:
    content = document["paths"][path][method]["requestBody"]["content"]

    assert content["application/json"]["schema"]["$ref"].endswith(f"/{model}")


def test_fields_carry_their_docstrings(document: dict) -> None:
    field = document["components"]["schemas"]["Submission"]["properties"]["language"]

    assert field["description"] == "A name or alias from `/v1/languages`."


async def test_languages_are_listed_with_aliases(client: httpx.AsyncClient) -> None:
    (listed,) = (await client.get("/v1/languages")).json()["languages"]
    language = make_language()

    assert listed == {
        "name": language.name,
        "title": language.title,
        "aliases": list(language.aliases),
        "is_compiled": False,
    }
