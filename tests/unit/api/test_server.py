import socket

import pytest

from sandbox_service.api.server import bind, url_of
from sandbox_service.errors import SettingsError


def test_port_zero_takes_a_free_one_and_says_it() -> None:
    with bind("127.0.0.1", 0) as listener:
        assert url_of(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"
        assert listener.getsockname()[1] > 0


def test_port_in_use_is_a_settings_error() -> None:
    with bind("127.0.0.1", 0) as listener:
        listener.listen()
        with pytest.raises(SettingsError, match="cannot listen"):
            bind("127.0.0.1", listener.getsockname()[1])


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_ipv6_address_is_bracketed() -> None:
    with bind("::1", 0) as listener:
        assert url_of(listener).startswith("http://[::1]:")
