import httpx
import pytest
from pydantic import SecretStr

from sandbox_service.api.auth import check_binding, is_loopback
from sandbox_service.errors import SettingsError
from sandbox_service.settings import Settings
from tests.unit.api.conftest import Connect

_KEYS = (SecretStr("first"), SecretStr("second"))


async def _get(connect: Connect, path: str, key: str | None) -> httpx.Response:
    headers = {} if key is None else {"authorization": key}
    async with connect(api_keys=_KEYS) as client:
        return await client.get(path, headers=headers)


@pytest.mark.parametrize("key", [None, "", "Bearer", "Bearer third", "Basic first", "first"])
async def test_request_without_a_known_key_is_401(connect: Connect, key: str | None) -> None:
    answer = await _get(connect, "/v1/languages", key)

    assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("key", ["Bearer first", "bearer second"])
async def test_request_with_a_known_key_passes(connect: Connect, key: str) -> None:
    assert (await _get(connect, "/v1/languages", key)).status_code == 200


@pytest.mark.parametrize("path", ["/healthz", "/docs", "/openapi.json"])
async def test_probes_and_documents_need_no_key(connect: Connect, path: str) -> None:
    assert (await _get(connect, path, None)).status_code == 200


@pytest.mark.parametrize("path", ["/metrics", "/nothing"])
async def test_everything_else_needs_a_key(connect: Connect, path: str) -> None:
    assert (await _get(connect, path, None)).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [{"origin": "http://evil.example"}, {"origin": "null"}, {"host": "evil.example:8000"}],
)
async def test_web_page_of_another_site_is_refused_without_keys(
    client: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    answer = await client.get("/v1/languages", headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (403, "not_allowed")


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://127.0.0.1"},
        {"host": "localhost:8000", "origin": "http://localhost:8000"},
        {"host": "[::1]"},
        {"host": "[::1]:8000"},
    ],
)
async def test_page_of_this_service_passes(
    client: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    assert (await client.get("/v1/languages", headers=headers)).status_code == 200


def test_public_address_without_a_key_is_refused() -> None:
    with pytest.raises(SettingsError, match="SANDBOX_API_KEYS"):
        check_binding(Settings(host="0.0.0.0"))


def test_empty_key_is_refused() -> None:
    with pytest.raises(SettingsError, match="empty"):
        check_binding(Settings(host="0.0.0.0", api_keys=(SecretStr(""),)))


def test_public_address_with_a_key_is_accepted() -> None:
    check_binding(Settings(host="0.0.0.0", api_keys=_KEYS))


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("example.org", False),
    ],
)
def test_loopback_is_told_from_the_rest(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected
