"""What Judge0 tells of itself: `/about`, `/config_info`, `/languages` and `/statuses`."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from sandbox_service.api.service import service_of
from sandbox_service.schema.limits import Limits

router = APIRouter(tags=["compat"], include_in_schema=False)

MAX_BATCH = 20
"""Most submissions in a batch."""

DEFAULT_CPU_S = 5.0
"""Processor time where a submission says nothing."""

DEFAULT_WALL_S = 10.0
"""Wall time where a submission says nothing."""

DEFAULT_MEMORY_KIB = 128_000
"""Memory where a submission says nothing."""

_KIB = 1024
# The published client looks its numbers of languages up by this.
_VERSION = "1.13.1"
_STATUSES = (
    "In Queue", "Processing", "Accepted", "Wrong Answer", "Time Limit Exceeded",
    "Compilation Error", "Runtime Error (SIGSEGV)", "Runtime Error (SIGXFSZ)",
    "Runtime Error (SIGFPE)", "Runtime Error (SIGABRT)", "Runtime Error (NZEC)",
    "Runtime Error (Other)", "Internal Error", "Exec Format Error",
)  # fmt: skip
# Judge0's own numbers, old and new, for the languages that may be here.
LANGUAGE_IDS = {
    46: "bash", 48: "c", 49: "c", 50: "c", 52: "cpp", 53: "cpp", 54: "cpp", 71: "python",
    92: "python", 100: "python", 103: "c", 105: "cpp", 109: "python",
}  # fmt: skip

# What is the same whatever the settings say: nothing here reaches the network or calls back.
_FIXED: dict[str, Any] = {
    **dict.fromkeys(
        (
            "allow_enable_network", "allow_enable_per_process_and_thread_memory_limit",
            "allow_enable_per_process_and_thread_time_limit", "enable_additional_files",
            "enable_callbacks", "enable_command_line_arguments", "enable_compiler_options",
            "enable_network", "enable_per_process_and_thread_memory_limit",
            "enable_per_process_and_thread_time_limit", "enable_submission_delete",
            "maintenance_mode", "redirect_stderr_to_stdout", "use_docs_as_homepage",
        ),
        False,
    ),
    "allowed_languages_for_compile_options": [],
    "callbacks_max_tries": 0,
    "callbacks_timeout": 0.0,
    "cpu_extra_time": 0.0,
    "enable_batched_submissions": True,
    "enable_wait_result": True,
    "max_cpu_extra_time": 0.0,
    "max_number_of_runs": 1,
    "max_submission_batch_size": MAX_BATCH,
    "number_of_runs": 1,
    "submission_cache_duration": 0.0,
}  # fmt: skip


@router.get("/about")
async def about() -> JSONResponse:
    """Tell whose numbers of languages these are."""
    return JSONResponse({"version": _VERSION})


@router.get("/config_info")
async def config_info(request: Request) -> JSONResponse:
    """Tell limits and what is possible; times in seconds, sizes in KiB."""
    settings, limits = service_of(request).settings, Limits()
    memory, output = settings.max_memory_bytes // _KIB, settings.max_output_bytes // _KIB
    return JSONResponse(
        {
            **_FIXED,
            "cpu_time_limit": DEFAULT_CPU_S,
            "wall_time_limit": DEFAULT_WALL_S,
            "memory_limit": DEFAULT_MEMORY_KIB,
            "max_cpu_time_limit": settings.max_cpu_time_s,
            "max_wall_time_limit": settings.max_wall_time_s,
            "max_memory_limit": memory,
            "stack_limit": memory,
            "max_stack_limit": memory,
            "max_file_size": output,
            "max_max_file_size": output,
            "max_extract_size": output,
            "max_processes_and_or_threads": limits.processes,
            "max_max_processes_and_or_threads": limits.processes,
            "max_queue_size": settings.max_queue_depth,
        }
    )


@router.get("/statuses")
async def statuses() -> JSONResponse:
    """List the statuses."""
    return JSONResponse([status(number) for number in range(1, len(_STATUSES) + 1)])


@router.get("/languages")
async def languages(request: Request) -> JSONResponse:
    """List the languages by Judge0's numbers."""
    table = service_of(request).languages
    titles = {each.name: each.title for each in table.languages}
    return JSONResponse(
        [
            {"id": number, "name": titles[name]}
            for number, name in LANGUAGE_IDS.items()
            if name in titles
        ]
    )


@router.get("/languages/{number}")
async def language(request: Request, number: int) -> JSONResponse:
    """Tell about one language."""
    names = {each.name: each.title for each in service_of(request).languages.languages}
    title = names.get(LANGUAGE_IDS.get(number, ""))
    if title is None:
        return JSONResponse({"error": "language not found"}, 404)
    return JSONResponse({"id": number, "name": title})


def status(number: int) -> dict[str, Any]:
    """Returns a status with its description."""
    return {"id": number, "description": _STATUSES[number - 1]}
