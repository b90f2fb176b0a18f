import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from sandbox_service.telemetry.logging import configure_logging


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def test_json_lines_carry_event_level_and_time(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("json", "info")
    structlog.get_logger("x").info("job_finished", job_id="a")

    line = json.loads(capsys.readouterr().err)

    assert (line["event"], line["level"], line["job_id"]) == ("job_finished", "info", "a")
    assert "timestamp" in line


def test_lines_of_the_standard_library_look_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("json", "info")
    logging.getLogger("other").warning("hello")

    assert json.loads(capsys.readouterr().err)["event"] == "hello"


def test_lines_below_the_level_are_dropped(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("console", "warning")
    structlog.get_logger("x").info("job_finished")

    assert capsys.readouterr().err == ""
