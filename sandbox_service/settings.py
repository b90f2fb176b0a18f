"""One `Settings`, built once by the command line and passed down as an argument.

Every field can be set by an environment variable `SANDBOX_<FIELD>`.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from sandbox_service.schema.limits import GIB, MIB
from sandbox_service.schema.verdict import Lane

_PACKAGE = Path(__file__).parent
_BUNDLED = _PACKAGE / "_bundled"


def _shipped(name: str) -> Path:
    """Returns the folder of a checkout, or the copy that a wheel carries."""
    checkout = _PACKAGE.parent / name
    return checkout if checkout.is_dir() else _BUNDLED / name


class Settings(BaseSettings):
    """All that can be configured."""

    model_config = SettingsConfigDict(
        env_prefix="SANDBOX_", frozen=True, extra="ignore", use_attribute_docstrings=True
    )

    host: str = "127.0.0.1"
    """Address the API listens on; any other than loopback needs an API key."""

    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    """Port the API listens on; 0 takes a free one."""

    api_keys: Annotated[tuple[SecretStr, ...], Field(default=())]
    """Keys accepted in `Authorization: Bearer …`; empty means no key is needed (loopback only)."""

    redis_url: str | None = None
    """Redis to use; None starts a private one."""

    signing_key: SecretStr | None = None
    """Secret of the API and the workers that signs what they write into Redis; None means a key
    in `state_dir` for `serve`, and no signatures for `api` and `worker`."""

    state_dir: Path = Path(".sandbox-service")
    """Folder of the private Redis: its socket and its append-only file."""

    engine: Literal["auto", "docker", "local"] = "auto"
    """What starts sandboxes; `auto` takes Docker when a daemon answers and has the images."""

    docker_host: str | None = None
    """Address of the Docker daemon; None means the Docker client's own default."""

    oci_runtime: str | None = None
    """OCI runtime of the containers (`runc`, `crun`, `runsc`, `kata`); None is the daemon's."""

    image_prefix: str = "sandbox-service"
    """Images are named `<prefix>/<family>:<version>`."""

    base_image: str = "debian:12-slim"
    """Image that the others are built on; where no registry has it, one is made with mmdebstrap."""

    workers: Annotated[int, Field(ge=1, le=4096)] | None = None
    """Worker processes that `serve` starts, one run each; None means one per core."""

    local_python: Path | None = None
    """Interpreter of the local engine's runner; None means the system's own."""

    images_dir: Path = _shipped("images")
    """Folder with one folder per language."""

    runners_dir: Path = _shipped("runners")
    """Folder with the program that runs inside the sandboxes."""

    max_body_bytes: Annotated[int, Field(ge=1024)] = 64 * MIB
    """Largest request body."""

    max_wait_s: Annotated[float, Field(ge=0)] = 3600.0
    """Longest time that a request may wait for a result."""

    lane_weights: dict[Lane, Annotated[float, Field(gt=0)]] = {
        Lane.INTERACTIVE: 8.0,
        Lane.TRAIN: 4.0,
        Lane.EVAL: 2.0,
    }
    """Shares of the workers' time where several lanes have work."""

    tenant_rate_per_s: Annotated[float, Field(gt=0)] | None = None
    """Submissions a second that a tenant may send in the long run; None means any number."""

    tenant_burst: Annotated[int, Field(ge=1)] = 10_000
    """Submissions that a tenant may send at once after a pause, if there is a rate."""

    tenant_max_running: Annotated[int, Field(ge=1)] | None = None
    """Workers that one tenant may occupy; None means all."""

    tenant_max_depth: Annotated[int, Field(ge=1)] | None = None
    """Submissions of one tenant that may wait; None means `max_queue_depth`."""

    max_batch_size: Annotated[int, Field(ge=1)] = 100_000
    """Submissions in one batch."""

    max_batch_bytes: Annotated[int, Field(ge=1024)] = 4 * GIB
    """Largest body of a batch sent as NDJSON, which is not kept in memory."""

    max_queue_depth: Annotated[int, Field(ge=1)] = 100_000
    """Submissions that may wait; beyond it the answer is 429."""

    max_cpu_time_s: Annotated[float, Field(gt=0)] = 120.0
    """Highest `limits.cpu_time_s` accepted."""

    max_wall_time_s: Annotated[float, Field(gt=0)] = 600.0
    """Highest `limits.wall_time_s` accepted."""

    max_memory_bytes: Annotated[int, Field(ge=16 * MIB)] = 4 * GIB
    """Highest `limits.memory_bytes` accepted."""

    max_output_bytes: Annotated[int, Field(ge=1)] = 64 * MIB
    """Highest `limits.output_bytes` accepted."""

    cache_ttl_s: Annotated[int, Field(ge=1)] = 3600
    """Seconds for which a result is kept for equal submissions that ask for cached ones."""

    result_ttl_s: Annotated[int, Field(ge=1)] = 24 * 3600
    """Seconds for which a result can be read."""

    chunk_size: Annotated[int, Field(ge=1, le=1000)] = 16
    """Most submissions that one RQ job carries."""

    max_attempts: Annotated[int, Field(ge=1)] = 3
    """Times a submission is tried before a broken sandbox is reported as internal_error."""

    worker_lease_s: Annotated[float, Field(ge=0.5)] = 5.0
    """Seconds without a sign of life after which a worker's jobs are taken up by others."""

    sandbox_max_jobs: Annotated[int, Field(ge=1)] = 5000
    """Submissions after which a container is replaced."""

    sandbox_max_age_s: Annotated[float, Field(gt=0)] = 1800.0
    """Seconds after which a container is replaced."""

    sandbox_max_idle: Annotated[int, Field(ge=1)] = 2
    """Warm sandboxes of one image that a worker keeps."""

    sandbox_idle_s: Annotated[float, Field(gt=0)] = 300.0
    """Seconds without work after which a warm sandbox is removed."""

    sandbox_spares: Annotated[int, Field(ge=0)] = 2
    """Sandboxes started ahead for submissions that ask for a fresh one."""

    nesting: Literal["auto", "required", "never"] = "auto"
    """Walls for each run inside a container: `auto` falls back to a container per submission."""

    self_test: bool = True
    """Attack the walls when a worker starts, and refuse to serve where one does not hold."""

    allow_shared_process: bool = True
    """Run tests that need the candidate's own process; false refuses submissions that have some."""

    allow_exit_code_tests: bool = True
    """Take tests whose evidence is the program's own exit code; false refuses them."""

    compat: tuple[str, ...] = (
        "sandboxfusion",
        "piston",
        "judge0",
        "open_instruct",
        "openrlhf",
        "slime",
    )
    """Foreign wire formats that are answered too, as `/v1/compat` lists them."""

    otlp_endpoint: str | None = None
    """Where traces are sent (`http://collector:4318/v1/traces`); None traces nothing."""

    log_format: Literal["console", "json"] = "console"
    """How log lines are written."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Least severe line that is written."""
