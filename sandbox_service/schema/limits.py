"""What a run is allowed, and what it used."""

from typing import Annotated

from pydantic import Field

from sandbox_service.schema.base import Model

MIB = 1024 * 1024
GIB = 1024 * MIB

# A wall limit that nobody set: programs may wait for a while, but not for ever.
_DEFAULT_WALL_TIME_S = 10.0
_WALL_PER_CPU_SECOND = 3.0


class Limits(Model):
    """What one run is allowed. Zero and negative values are errors, never "unlimited"."""

    cpu_time_s: Annotated[float, Field(gt=0, le=3600)] = 2.0
    """CPU seconds of all processes of a run together."""

    wall_time_s: Annotated[float, Field(gt=0, le=7200)] | None = None
    """Seconds on the clock, a backstop; None means 10 s or three times `cpu_time_s`, if more."""

    memory_bytes: Annotated[int, Field(ge=16 * MIB, le=256 * GIB)] = 256 * MIB
    """Memory of all processes of a run together, files in its /tmp included."""

    output_bytes: Annotated[int, Field(gt=0, le=256 * MIB)] = MIB
    """Bytes that standard output and standard error may each carry."""

    processes: Annotated[int, Field(gt=0, le=4096)] = 64
    """Processes and threads at one time."""

    open_files: Annotated[int, Field(ge=8, le=4096)] = 256
    """Open descriptors in one process."""

    disk_bytes: Annotated[int, Field(ge=4096, le=64 * GIB)] = 64 * MIB
    """Bytes that a run may keep in its own file system; they count as memory too."""

    inodes: Annotated[int, Field(ge=64, le=1_000_000)] = 4096
    """Files and folders in that file system."""

    @property
    def wall_backstop_s(self) -> float:
        """Seconds on the clock after which a run is ended."""
        if self.wall_time_s is not None:
            return self.wall_time_s
        return max(_DEFAULT_WALL_TIME_S, _WALL_PER_CPU_SECOND * self.cpu_time_s)


class Usage(Model):
    """What one run used, as measured from outside the program."""

    cpu_time_s: float = 0.0
    """CPU seconds of all its processes."""

    wall_time_s: float = 0.0
    """Seconds on the clock from start to end."""

    memory_bytes: int = 0
    """Peak memory."""
