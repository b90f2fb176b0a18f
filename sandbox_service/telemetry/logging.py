"""Log lines: structlog for ours and, through the same renderer, the standard library's.

Submitted code and what programs print are never logged.
"""

import logging
import sys
from typing import Literal

import structlog

_QUIET = ("rq.worker", "rq.job", "httpx", "docker", "urllib3", "asyncio", "uvicorn")


def configure_logging(log_format: Literal["console", "json"], level: str) -> None:
    """Sends every log line to standard error in one format."""
    shared: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    renderer: structlog.types.Processor = structlog.processors.JSONRenderer()
    if log_format == "console":
        # Not the tracebacks that show variables: these may hold submitted code.
        renderer = structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    else:
        shared.append(structlog.processors.format_exc_info)
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
