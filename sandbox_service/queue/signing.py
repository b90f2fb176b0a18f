"""Signatures under what Redis holds, so that whoever can write there cannot make us believe it."""

import hmac
import os
from hashlib import blake2b
from pathlib import Path
from secrets import token_hex
from typing import Final, Self

from sandbox_service.errors import SettingsError, TamperedData
from sandbox_service.settings import Settings

_MAC_BYTES: Final = 32
_SHORTEST_KEY_BYTES: Final = 16


class Signer:
    """Seals bytes together with the name under which they are stored."""

    def __init__(self, key: bytes | None) -> None:
        # The hash takes keys of 64 bytes; longer ones are hashed themselves.
        self._key = key if key is None or len(key) <= 64 else blake2b(key).digest()

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Returns the signer that the settings ask for.

        Raises:
            SettingsError: the key is so short that it can be guessed.
        """
        if settings.signing_key is None:
            return cls(None)
        key = settings.signing_key.get_secret_value().encode()
        if len(key) < _SHORTEST_KEY_BYTES:
            raise SettingsError(
                f"SANDBOX_SIGNING_KEY needs at least {_SHORTEST_KEY_BYTES} characters"
            )
        return cls(key)

    def seal(self, body: bytes, *names: str) -> bytes:
        """Returns the signed bytes; without a key, the bytes as they are."""
        return body if self._key is None else _mac(self._key, body, names) + body

    def open(self, sealed: bytes, *names: str) -> bytes:
        """Returns the bytes that were sealed under the same names.

        Raises:
            TamperedData: they were not.
        """
        if self._key is None:
            return sealed
        mac, body = sealed[:_MAC_BYTES], sealed[_MAC_BYTES:]
        if not hmac.compare_digest(mac, _mac(self._key, body, names)):
            raise TamperedData(f"the {names[0]} in Redis is not signed by this service")
        return body


def _mac(key: bytes, body: bytes, names: tuple[str, ...]) -> bytes:
    # BLAKE2 with a key is a message authentication code of its own, several times faster than HMAC.
    # Lengths first, so that no two lists of names and bodies look alike.
    head = b"".join(b"%d:%s" % (len(part), part) for part in (name.encode() for name in names))
    return blake2b(b"%d:%s%s" % (len(names), head, body), digest_size=_MAC_BYTES, key=key).digest()


def local_key(state_dir: Path) -> str:
    """Returns the key of a service on one machine; made once, readable by its user only."""
    state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = state_dir / "signing-key"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text()
    key = token_hex(32)
    with os.fdopen(descriptor, "w") as file:
        file.write(key)
    return key
