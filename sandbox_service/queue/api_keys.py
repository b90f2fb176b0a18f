"""API keys in Redis: made, listed and revoked by commands, looked up by the API.

Only digests are stored. The secrets are random and long, so a plain hash is as good as a slow one.
"""

import time
from collections.abc import Sequence
from hashlib import sha256
from hmac import compare_digest
from secrets import token_hex
from typing import NamedTuple, cast

import redis
import redis.asyncio
from pydantic import ValidationError

from sandbox_service.errors import NotFound, TamperedData
from sandbox_service.queue import keys
from sandbox_service.queue.connection import redis_errors
from sandbox_service.queue.signing import Signer
from sandbox_service.schema.access import ApiKey, Scope

_PREFIX = "sbx"
_REMEMBERED_S = 5.0
_MOST_REMEMBERED = 1024


class NewKey(NamedTuple):
    """A key that was just made; its text is shown once and stored nowhere."""

    key: ApiKey
    text: str


def create_key(
    connection: redis.Redis, signer: Signer, *, tenant: str, scopes: Sequence[Scope], note: str
) -> NewKey:
    """Makes a key and stores its digest."""
    name = token_hex(4)
    text = f"{_PREFIX}_{name}_{token_hex(24)}"
    key = ApiKey(
        id=name,
        tenant=tenant,
        scopes=tuple(scopes),
        digest=_digest(text),
        created_at=time.time(),
        note=note,
    )
    sealed = signer.seal(key.model_dump_json().encode(), "API key", name)
    with redis_errors():
        connection.hset(keys.API_KEYS, name, sealed)
    return NewKey(key, text)


def list_keys(connection: redis.Redis, signer: Signer) -> list[ApiKey]:
    """Returns every key that this service made, oldest first."""
    with redis_errors():
        rows = cast("dict[bytes, bytes]", connection.hgetall(keys.API_KEYS))
    found = [_opened(sealed, name.decode(), signer) for name, sealed in rows.items()]
    return sorted((key for key in found if key is not None), key=lambda key: key.created_at)


def revoke_key(connection: redis.Redis, name: str) -> None:
    """Removes a key; every API process forgets it within seconds.

    Raises:
        NotFound: there is no such key.
    """
    with redis_errors():
        if not connection.hdel(keys.API_KEYS, name):
            raise NotFound(f"no API key {name!r}", field="id")


def has_keys(connection: redis.Redis) -> bool:
    """Tells whether any key was made."""
    with redis_errors():
        return bool(connection.hlen(keys.API_KEYS))


class ApiKeyReader:
    """Looks up keys for an API process and remembers them for a few seconds."""

    def __init__(self, connection: redis.asyncio.Redis, signer: Signer) -> None:
        self._redis = connection
        self._signer = signer
        self._remembered: dict[str, tuple[float, ApiKey | None]] = {}

    async def find(self, text: str) -> ApiKey | None:
        """Returns the key with this text; None if there is none.

        Raises:
            QueueUnavailable: Redis does not answer.
        """
        prefix, _, rest = text.partition("_")
        name, _, secret = rest.partition("_")
        if prefix != _PREFIX or not secret or len(name) != 8:
            return None
        key = await self._look_up(name)
        if key is None or not compare_digest(key.digest, _digest(text)):
            return None
        return key

    async def _look_up(self, name: str) -> ApiKey | None:
        now = time.monotonic()
        read_at, key = self._remembered.get(name, (-_REMEMBERED_S, None))
        if key is not None and now - read_at < _REMEMBERED_S:
            return key
        with redis_errors():
            sealed = cast("bytes | None", await self._redis.hget(keys.API_KEYS, name))
        key = None if sealed is None else _opened(sealed, name, self._signer)
        if len(self._remembered) >= _MOST_REMEMBERED:
            self._remembered.clear()
        if key is not None:
            self._remembered[name] = (now, key)
        else:
            self._remembered.pop(name, None)
        return key


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _opened(sealed: bytes, name: str, signer: Signer) -> ApiKey | None:
    """Returns a key; None if it was not made by this service."""
    try:
        return ApiKey.model_validate_json(signer.open(sealed, "API key", name))
    except (TamperedData, ValidationError):
        return None
