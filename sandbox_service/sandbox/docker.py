"""The engine with Docker: containers started ahead of need, each attached once."""

import contextlib
import os
import socket
import struct
from collections.abc import Sequence

import docker
import docker.errors
import requests.exceptions
import structlog

from sandbox_service.errors import EngineUnavailable, InnerWallRefused, SandboxDied
from sandbox_service.sandbox import stream
from sandbox_service.sandbox.base import Gather
from sandbox_service.sandbox.hardening import (
    ContainerSpec,
    container_config,
    memory_limit,
)
from sandbox_service.sandbox.images import image_name
from sandbox_service.sandbox.owner import owner_of_this_process
from sandbox_service.sandbox.reaper import reap
from sandbox_service.sandbox.session import Session
from sandbox_service.schema.result import SandboxInfo
from sandbox_service.schema.run import Execution, ExecutionReport
from sandbox_service.settings import Settings

_log = structlog.get_logger(__name__)
_STREAM_HEADER = struct.Struct("!BxxxI")
_STDERR = 2
_STDERR_BYTES = 4096
_API_TIMEOUT_S = 30


class _Attached:
    """A transport over an attached container's multiplexed stream.

    Frame format: Docker Engine API, "Attach to a container", stream format.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._buffer = bytearray()
        self._errors = b""

    def send(self, data: bytes) -> None:
        try:
            self._connection.settimeout(_API_TIMEOUT_S)
            self._connection.sendall(data)
        except OSError as error:
            raise SandboxDied(f"the container is gone: {error}") from error

    def receive(self, size: int, timeout_s: float) -> bytes:
        self._connection.settimeout(timeout_s)
        while len(self._buffer) < size:
            self._read_packet()
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    def _read_packet(self) -> None:
        kind, length = _STREAM_HEADER.unpack(self._read(_STREAM_HEADER.size))
        data = self._read(length)
        if kind == _STDERR:
            self._errors = (self._errors + data)[-_STDERR_BYTES:]
        else:
            self._buffer += data

    def _read(self, size: int) -> bytes:
        parts = []
        while size:
            try:
                part = self._connection.recv(min(size, 1 << 20))
            except TimeoutError as error:
                raise SandboxDied("nothing from the runner in time") from error
            except OSError as error:
                raise SandboxDied(f"the container is gone: {error}") from error
            if not part:
                words = self._errors.decode("utf-8", "replace").strip()
                raise SandboxDied(f"the container ended: {words}")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def close(self) -> None:
        self._connection.close()


class DockerSandbox:
    """A container with a runner in it."""

    def __init__(
        self, client: docker.APIClient, container_id: str, payload: bytes, *, nested: bool
    ) -> None:
        self._client = client
        self._id = container_id
        self._memory_bytes = 0
        try:
            self._transport = _Attached(_attach(client, container_id))
            client.start(container_id)
            self._session = Session(self._transport, payload)
        except docker.errors.APIError as error:
            self.close()
            raise EngineUnavailable(f"the container does not start: {error}") from error
        except BaseException:
            self.close()
            raise
        runtime = client.inspect_container(container_id)["HostConfig"].get("Runtime") or ""
        self.info = SandboxInfo(
            engine="docker",
            runtime=runtime,
            isolation="nested" if nested else "container",
            landlock_abi=self._session.hello.landlock_abi,
        )

    def execute(self, execution: Execution) -> ExecutionReport:
        return self._session.execute(execution)

    def begin_all(self, executions: Sequence[Execution], *, patience_s: float | None) -> Gather:
        return self._session.begin_all(executions, patience_s=patience_s)

    def set_memory(self, memory_bytes: int) -> None:
        """Gives the next runs another memory limit.

        Raises:
            SandboxDied: the daemon would not.
        """
        limit = memory_limit(memory_bytes)
        try:
            self._client.update_container(self._id, mem_limit=limit, memswap_limit=limit)
        except (docker.errors.APIError, requests.exceptions.RequestException) as error:
            raise SandboxDied(f"no new memory limit: {error}") from error

    def close(self) -> None:
        """Removes the container and all in it."""
        with contextlib.suppress(AttributeError, OSError):
            self._transport.close()
        with contextlib.suppress(docker.errors.APIError, requests.exceptions.RequestException):
            self._client.remove_container(self._id, force=True, v=True)


def _attach(client: docker.APIClient, container_id: str) -> socket.socket:
    params = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
    attached = client.attach_socket(container_id, params=params)
    # docker-py hands out a reader of the hijacked connection, which its response closes when it is
    # collected. A duplicate is ours alone; both of theirs are closed now.
    connection: socket.socket = attached._sock.dup()  # noqa: SLF001 - there is no public way
    attached._sock.close()  # noqa: SLF001 - as above
    attached._response.close()  # noqa: SLF001 - as above
    return connection


class DockerEngine:
    """Starts containers."""

    name = "docker"

    def __init__(self, settings: Settings) -> None:
        """Connects to the daemon.

        Raises:
            EngineUnavailable: it does not answer.
        """
        self._settings = settings
        self.is_single_use = settings.nesting == "never"
        try:
            self._client = docker.APIClient(
                base_url=settings.docker_host or os.environ.get("DOCKER_HOST"),
                version="auto",
                timeout=_API_TIMEOUT_S,
            )
        except docker.errors.DockerException as error:
            raise EngineUnavailable(f"no Docker daemon answers: {error}") from error
        self._boot = stream.boot_text(settings.runners_dir)
        self._owner = owner_of_this_process()

    def start(self, image: str, *, memory_bytes: int) -> DockerSandbox:
        """Starts a container; the first one that cannot nest decides for all that follow."""
        try:
            return self._start(image, memory_bytes)
        except InnerWallRefused as error:
            if self._settings.nesting == "required" or self.is_single_use:
                raise
            self.is_single_use = True
            _log.warning("no_nested_namespaces", reason=str(error), instead="container per job")
            return self._start(image, memory_bytes)

    def _start(self, image: str, memory_bytes: int) -> DockerSandbox:
        spec = ContainerSpec(
            image=image_name(self._settings, image),
            boot=self._boot,
            memory_bytes=memory_bytes,
            owner=self._owner,
            instance=self._settings.image_prefix,
            runtime=self._settings.oci_runtime,
            nested=not self.is_single_use,
        )
        try:
            created = self._client.create_container_from_config(  # type: ignore[no-untyped-call]
                container_config(spec)
            )
        except docker.errors.ImageNotFound as error:
            raise EngineUnavailable(
                f"no image {spec.image}: run `sandbox-service images build`"
            ) from error
        except (docker.errors.APIError, requests.exceptions.RequestException) as error:
            raise EngineUnavailable(f"no container: {error}") from error
        warm = ("numpy",) if "scientific" in image else ()
        payload = stream.boot_payload(self._settings.runners_dir, warm, nested=spec.nested)
        return DockerSandbox(self._client, created["Id"], payload, nested=spec.nested)

    def reap(self) -> int:
        return reap(self._client, self._settings.image_prefix)

    def close(self) -> None:
        self._client.close()
