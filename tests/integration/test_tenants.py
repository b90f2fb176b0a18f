"""Keys, scopes and tenants: nobody sees or does more than the key allows."""

from collections.abc import Callable

import httpx
import pytest
import redis
from pydantic import SecretStr

from sandbox_service.queue.api_keys import create_key, revoke_key
from sandbox_service.queue.signing import Signer
from sandbox_service.schema.access import Scope
from tests.factories import make_body
from tests.integration.conftest import Connect

_KEY = "k" * 32
_SIGNER = Signer(_KEY.encode())
MakeKey = Callable[..., dict[str, str]]


@pytest.fixture
def make_key(connection: redis.Redis) -> MakeKey:
    """Makes a key and returns the headers that carry it."""

    def make(tenant: str, *scopes: Scope) -> dict[str, str]:
        made = create_key(
            connection,
            _SIGNER,
            tenant=tenant,
            scopes=scopes or (Scope.SUBMIT, Scope.READ),
            note="",
        )
        return {"authorization": f"Bearer {made.text}"}

    return make


def _signed(connect: Connect, **settings: object) -> object:
    return connect(signing_key=SecretStr(_KEY), **settings)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/submissions/mine"),
        ("DELETE", "/v1/submissions/mine"),
        ("GET", "/v1/batches/b"),
        ("GET", "/v1/batches/b/results"),
        ("DELETE", "/v1/batches/b"),
        ("GET", "/v1/submissions/a%2Fmine"),
        ("GET", "/v1/batches/a%2Fb"),
        ("GET", "/v1/submissions/..%2Fa%2Fmine"),
        ("GET", "/v1/recent/a/mine"),
    ],
)
async def test_other_tenants_work_is_not_there(
    connect: Connect, make_key: MakeKey, method: str, path: str
) -> None:
    a, b = make_key("a"), make_key("b")
    async with _signed(connect) as client:
        await client.post("/v1/submissions", json=make_body(id="mine"), headers=a)
        batch = {"id": "b", "submissions": [make_body()]}
        await client.post("/v1/batches", json=batch, headers=a)

        answer = await client.request(method, path, headers=b)
        own = await client.get("/v1/submissions/mine", headers=a)

    assert answer.status_code in {403, 404}
    assert "code" in answer.json()
    assert own.json()["status"] == "queued"


async def test_same_id_of_two_tenants_are_two_submissions(
    connect: Connect, make_key: MakeKey
) -> None:
    async with _signed(connect) as client:
        answers = [
            await client.post(
                "/v1/submissions", json=make_body(id="x", code=tenant), headers=make_key(tenant)
            )
            for tenant in ("a", "b")
        ]

    assert [answer.status_code for answer in answers] == [202, 202]


@pytest.mark.parametrize(
    ("scope", "asked", "status"),
    [
        (Scope.READ, "POST /v1/submissions", 403),
        (Scope.READ, "POST /v1/rewards", 403),
        (Scope.READ, "POST /v1/batches", 403),
        (Scope.READ, "PUT /v1/suites", 403),
        (Scope.READ, "DELETE /v1/submissions/x", 403),
        (Scope.SUBMIT, "GET /v1/submissions/x", 403),
        (Scope.SUBMIT, "GET /metrics", 403),
        (Scope.READ, "GET /v1/events", 403),
        (Scope.SUBMIT, "GET /v1/recent/a/x", 403),
        (Scope.READ, "GET /metrics", 200),
        (Scope.ADMIN, "GET /metrics", 200),
        (Scope.ADMIN, "GET /v1/submissions/x", 404),
        (Scope.SUBMIT, "DELETE /v1/submissions/x", 404),
    ],
)
async def test_key_does_what_its_scope_allows(
    connect: Connect, make_key: MakeKey, scope: Scope, asked: str, status: int
) -> None:
    async with _signed(connect) as client:
        answer = await client.request(*asked.split(), headers=make_key("a", scope))

    assert answer.status_code == status


@pytest.mark.parametrize("guess", ["sbx_", "sbx_00000000_", "sbx_00000000_00", "x", "sbx_*_a"])
async def test_guessed_keys_are_401(connect: Connect, guess: str) -> None:
    async with _signed(connect) as client:
        answer = await client.get("/v1/queues", headers={"authorization": f"Bearer {guess}"})

    assert answer.status_code == 401


async def test_right_id_with_another_secret_is_401(connect: Connect, make_key: MakeKey) -> None:
    headers = make_key("a")
    wrong = headers["authorization"][:-1] + ("0" if headers["authorization"][-1] != "0" else "1")
    async with _signed(connect) as client:
        answer = await client.get("/v1/queues", headers={"authorization": wrong})

    assert answer.status_code == 401


async def test_revoked_key_is_401(
    connect: Connect, make_key: MakeKey, connection: redis.Redis
) -> None:
    headers = make_key("a")
    revoke_key(connection, headers["authorization"].split("_")[1])
    async with _signed(connect) as client:
        answer = await client.get("/v1/queues", headers=headers)

    assert answer.status_code == 401


async def test_key_planted_in_redis_is_401(connect: Connect, connection: redis.Redis) -> None:
    made = create_key(connection, Signer(b"other"), tenant="a", scopes=[Scope.ADMIN], note="")
    async with _signed(connect) as client:
        answer = await client.get("/v1/queues", headers={"authorization": f"Bearer {made.text}"})

    assert answer.status_code == 401


def test_no_secret_is_stored(connection: redis.Redis, make_key: MakeKey) -> None:
    secret = make_key("a")["authorization"].rpartition("_")[2].encode()

    stored = b"".join(connection.hvals("sandbox:api_keys"))

    assert stored
    assert secret not in stored


async def test_public_address_is_served_once_a_key_was_made(
    connect: Connect, make_key: MakeKey
) -> None:
    headers = make_key("a")
    async with _signed(connect, host="0.0.0.0") as client:
        with_key = await client.get("/v1/queues", headers=headers)
        without = await client.get("/v1/queues")

    assert (with_key.status_code, without.status_code) == (200, 401)


async def test_tenant_over_its_rate_is_429_and_others_are_not(
    connect: Connect, make_key: MakeKey
) -> None:
    a, b = make_key("a"), make_key("b")
    async with _signed(connect, tenant_rate_per_s=0.1, tenant_burst=2) as client:
        answers = [
            await client.post("/v1/submissions", json=make_body(code=f"{n}"), headers=a)
            for n in range(3)
        ]
        other = await client.post("/v1/submissions", json=make_body(), headers=b)

    assert [answer.status_code for answer in answers] == [202, 202, 429]
    assert answers[2].json()["code"] == "rate_limited"
    assert int(answers[2].headers["retry-after"]) >= 5
    assert other.status_code == 202


async def test_tenant_with_too_many_waiting_is_429_and_others_are_not(
    connect: Connect, make_key: MakeKey
) -> None:
    a, b = make_key("a"), make_key("b")
    bodies = {"submissions": [make_body(code=f"c{n}") for n in range(3)]}
    async with _signed(connect, tenant_max_depth=4) as client:
        answers = [
            await client.post("/v1/rewards?wait=0", json=bodies, headers=headers)
            for headers in (a, a, b)
        ]

    assert [answer.status_code for answer in answers] == [202, 429, 202]


async def test_key_from_the_settings_may_do_everything(connect: Connect) -> None:
    async with connect(api_keys=(SecretStr("secret"),)) as client:
        answer: httpx.Response = await client.get(
            "/metrics", headers={"authorization": "Bearer secret"}
        )

    assert answer.status_code == 200
