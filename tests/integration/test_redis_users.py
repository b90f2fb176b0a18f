"""The service works with the Redis users that are shipped, and these can do nothing else."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import httpx
import pytest
import redis
from pydantic import SecretStr

from sandbox_service.api.app import create_app
from sandbox_service.settings import Settings
from tests.factories import make_body, make_languages
from tests.integration.conftest import StartWorker

_FILE = Path(__file__).parents[2] / "deploy" / "redis-users.acl"
_PASSWORD = "p" * 20
_KEY = "k" * 32


@pytest.fixture
def users(connection: redis.Redis) -> Iterator[None]:
    """The shipped users but the one that switches the default user off."""
    rules = [line.split() for line in _FILE.read_text().splitlines()]
    named = {words[1]: words[2:] for words in rules if words[1] != "default"}
    for name, words in named.items():
        digest = f"#{sha256(_PASSWORD.encode()).hexdigest()}"
        own = [digest if word.startswith("#") else word for word in words]
        connection.execute_command("ACL", "SETUSER", name, *own)
    # What the tests' worker itself says in Redis.
    connection.execute_command("ACL", "SETUSER", "worker", "~test:*")
    yield
    for name in named:
        connection.execute_command("ACL", "DELUSER", name)


def _as(url: str, name: str) -> str:
    return f"unix://{name}:{_PASSWORD}@{url.removeprefix('unix://')}"


async def test_service_works_with_the_shipped_users(
    users: None, redis_url: str, start_worker: StartWorker
) -> None:
    start_worker("first", url=_as(redis_url, "worker"), SANDBOX_SIGNING_KEY=_KEY)
    settings = Settings(signing_key=SecretStr(_KEY), tenant_rate_per_s=1000.0)
    app = create_app(settings, make_languages(), _as(redis_url, "api"))
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client,
    ):
        bodies = {"submissions": [make_body(code=f"{n}", cache=True) for n in range(5)]}
        answer = await client.post("/v1/rewards?wait=20", json=bodies)
        batch = (await client.post("/v1/batches", json=bodies)).json()["id"]
        results = await client.get(f"/v1/batches/{batch}/results")
        metrics = await client.get("/metrics")

    assert answer.json()["rewards"] == [1.0] * 5
    assert len(results.text.splitlines()) == 5
    assert metrics.status_code == 200


@pytest.mark.parametrize("name", ["api", "worker", "metrics"])
@pytest.mark.parametrize(
    "command",
    [
        ("SET", "other", "1"),
        ("CONFIG", "GET", "dir"),
        ("FLUSHALL",),
        ("KEYS", "*"),
        ("SHUTDOWN",),
        ("ACL", "LIST"),
        ("MODULE", "LIST"),
        ("SWAPDB", "0", "1"),
    ],
)
def test_users_can_do_nothing_else(
    users: None, redis_url: str, name: str, command: tuple[str, ...]
) -> None:
    with (
        redis.Redis.from_url(_as(redis_url, name)) as client,
        pytest.raises(redis.exceptions.NoPermissionError),
    ):
        client.execute_command(*command)


def test_metrics_user_cannot_write(users: None, redis_url: str) -> None:
    with (
        redis.Redis.from_url(_as(redis_url, "metrics")) as client,
        pytest.raises(redis.exceptions.NoPermissionError),
    ):
        client.set("sandbox:x", "1")
