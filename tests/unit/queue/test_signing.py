from pathlib import Path

import pytest
from pydantic import SecretStr

from sandbox_service.errors import SettingsError, TamperedData
from sandbox_service.queue.signing import Signer, local_key
from sandbox_service.settings import Settings

_SIGNER = Signer(b"k" * 32)


def test_sealed_bytes_are_opened_under_the_same_names() -> None:
    assert _SIGNER.open(_SIGNER.seal(b"body", "payload", "t/a"), "payload", "t/a") == b"body"


@pytest.mark.parametrize(
    "names", [("payload", "t/b"), ("result", "t/a"), ("payload",), ("payload", "t/a", "")]
)
def test_sealed_bytes_are_refused_under_other_names(names: tuple[str, ...]) -> None:
    sealed = _SIGNER.seal(b"body", "payload", "t/a")

    with pytest.raises(TamperedData):
        _SIGNER.open(sealed, *names)


@pytest.mark.parametrize("at", [0, 31, 32, -1])
def test_changed_bytes_are_refused(at: int) -> None:
    sealed = bytearray(_SIGNER.seal(b"body", "payload"))
    sealed[at] ^= 1

    with pytest.raises(TamperedData):
        _SIGNER.open(bytes(sealed), "payload")


@pytest.mark.parametrize("sealed", [b"", b"body", b"x" * 32])
def test_bytes_without_a_signature_are_refused(sealed: bytes) -> None:
    with pytest.raises(TamperedData):
        _SIGNER.open(sealed, "payload")


@pytest.mark.parametrize("key", [b"j" * 32, b"k" * 33, b"k" * 80])
def test_other_keys_sign_otherwise(key: bytes) -> None:
    assert Signer(key).seal(b"body", "payload") != _SIGNER.seal(b"body", "payload")


def test_names_and_bodies_do_not_run_into_each_other() -> None:
    assert _SIGNER.seal(b"c", "a", "b")[:32] != _SIGNER.seal(b"c", "ab", "")[:32]


@pytest.mark.parametrize("key", ["", "short"])
def test_key_that_can_be_guessed_is_refused(key: str) -> None:
    with pytest.raises(SettingsError, match="SIGNING_KEY"):
        Signer.of(Settings(signing_key=SecretStr(key)))


def test_local_key_is_made_once_and_for_its_user_only(tmp_path: Path) -> None:
    first, second = local_key(tmp_path / "state"), local_key(tmp_path / "state")

    assert first == second
    assert (tmp_path / "state" / "signing-key").stat().st_mode & 0o777 == 0o600
