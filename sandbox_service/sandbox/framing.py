"""What a runner is told of an execution; of what is expected from it, nothing."""

from typing import Any

from sandbox_service.sandbox import stream
from sandbox_service.schema.limits import Limits
from sandbox_service.schema.run import Execution, InteractorRequest


def frame_of(execution: Execution, patience_s: float | None) -> list[bytes]:
    """Returns the frame that asks for an execution, in pieces."""
    blobs = stream.Blobs()
    step = execution.compile
    header = {
        "patience_s": patience_s,
        "files": {path: blobs.add(data) for path, data in execution.files.items()},
        "artifacts": {path: blobs.add(data) for path, data in execution.artifacts.items()},
        "source": execution.source,
        "candidate_files": execution.candidate_files,
        "env": execution.env,
        "compile": None
        if step is None
        else {
            "argv": step.argv,
            "artifacts": step.artifacts,
            "limits": _limits(step.limits, address_space=False),
        },
        "runs": [
            {
                "kind": run.kind,
                "argv": run.argv,
                "source": execution.source,
                "stdin": blobs.add(run.stdin),
                "function": run.function,
                "call_json": run.call_json,
                "test_code": run.test_code,
                "is_warm": run.is_warm,
                "interactor": run.interactor and _interactor(run.interactor, blobs),
                "limits": _limits(run.limits, address_space=execution.address_space_limit),
            }
            for run in execution.runs
        ],
    }
    return blobs.frame(header)


def _interactor(asked: InteractorRequest, blobs: stream.Blobs) -> dict[str, Any]:
    return {
        "argv": asked.argv,
        "source": asked.source,
        "files": {path: blobs.add(data) for path, data in asked.files.items()},
        "limits": _limits(asked.limits, address_space=False),
    }


def _limits(limits: Limits, *, address_space: bool) -> dict[str, Any]:
    return {
        "cpu_time_s": limits.cpu_time_s,
        "wall_time_s": limits.wall_backstop_s,
        "memory_bytes": limits.memory_bytes,
        "output_bytes": limits.output_bytes,
        "processes": limits.processes,
        "open_files": limits.open_files,
        "disk_bytes": limits.disk_bytes,
        "inodes": limits.inodes,
        "address_space": address_space,
    }
