"""The host's half of the conversation: a runner may be broken, or lie."""

import json
import struct

import pytest

from sandbox_service.errors import ProtocolViolation, SandboxDied, SandboxError
from sandbox_service.sandbox.session import PROTOCOL, Session
from sandbox_service.schema.limits import Limits
from sandbox_service.schema.run import CompileRequest, Execution, RunKind, RunRequest

HELLO = {
    "protocol": PROTOCOL, "python": "3.11", "meter": "cgroup2", "landlock_abi": 7,
    "memory_bytes": 1,
}  # fmt: skip
RUN = {"kind": "run", "ending": "exited", "exit_code": 0}
COMPILED = {"kind": "compile", "ending": "exited", "exit_code": 0}


def frame(header) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("!II", len(text), 0) + text


class Runner:
    """A transport with answers that were given before."""

    def __init__(self, *answers) -> None:
        self._data = b"".join(frame(answer) for answer in answers)
        self.sent = b""

    def send(self, data: bytes) -> None:
        self.sent += data

    def receive(self, size: int, timeout_s: float) -> bytes:
        if len(self._data) < size:
            raise SandboxDied("the stream ended")
        data, self._data = self._data[:size], self._data[size:]
        return data


def execution(runs: int = 1, *, compiled: bool = False) -> Execution:
    step = CompileRequest(argv=("cc",), artifacts=(), limits=Limits())
    return Execution(
        image="python",
        source="main.py",
        files={"main.py": b""},
        compile=step if compiled else None,
        runs=(RunRequest(kind=RunKind.PYTHON),) * runs,
    )


def answered(*frames, asked=None):
    return Session(Runner(HELLO, *frames), b"payload").execute(asked or execution())


def test_runner_gets_its_program_before_anything_else():
    runner = Runner(HELLO)
    Session(runner, b"payload")
    assert runner.sent == b"payload"


@pytest.mark.parametrize(
    "hello",
    [HELLO | {"protocol": 0}, {}, {"protocol": PROTOCOL}, HELLO | {"meter": 1}, HELLO | {"new": 1}],
)
def test_hello_that_does_not_fit_is_a_violation(hello):
    with pytest.raises(ProtocolViolation):
        Session(Runner(hello), b"")


def test_runner_that_cannot_build_its_wall_says_why():
    with pytest.raises(SandboxError, match="no namespaces"):
        Session(Runner({"error": "no namespaces"}), b"")


def test_reports_may_come_in_several_frames():
    parts = [{"reports": [RUN], "done": False}, {"reports": [RUN], "done": True}]
    assert len(answered(*parts, asked=execution(2)).runs) == 2


@pytest.mark.parametrize("number", [0, 2, 100])
def test_more_or_fewer_reports_than_runs_are_a_violation(number):
    with pytest.raises(ProtocolViolation, match=f"{number} reports for 1 runs"):
        answered({"reports": [RUN] * number, "done": True})


def test_runs_that_were_never_possible_are_a_violation():
    failed = COMPILED | {"exit_code": 1}
    with pytest.raises(ProtocolViolation):
        answered({"reports": [failed, RUN], "done": True}, asked=execution(compiled=True))


def test_compile_step_without_a_report_is_a_violation():
    with pytest.raises(ProtocolViolation, match="compile"):
        answered({"reports": [RUN], "done": True}, asked=execution(compiled=True))


@pytest.mark.parametrize(
    "report",
    [
        RUN | {"ending": "accepted"},
        RUN | {"exit_code": "none"},
        RUN | {"reward": 1.0},
        RUN | {"kind": "verdict"},
        {"ending": "exited"},
        {"kind": "artifact"},
        [],
        None,
        "run",
    ],
)
def test_report_that_does_not_fit_is_a_violation(report):
    with pytest.raises(ProtocolViolation):
        answered({"reports": [report], "done": True})


@pytest.mark.parametrize(
    "header", [{}, {"reports": 1, "done": True}, {"reports": [RUN]}, {"done": True}]
)
def test_frame_that_does_not_fit_is_a_violation(header):
    with pytest.raises(ProtocolViolation):
        answered(header)


def test_runner_that_could_not_do_it_is_dead():
    with pytest.raises(SandboxDied, match="no jail"):
        answered({"reports": [], "done": True, "error": "no jail"})


def test_stream_that_ends_early_is_a_dead_sandbox():
    with pytest.raises(SandboxDied):
        answered({"reports": [RUN], "done": False})


def test_runner_is_never_told_what_is_expected():
    runner = Runner(HELLO, {"reports": [RUN], "done": True})
    Session(runner, b"").execute(execution())
    assert b"expected" not in runner.sent


def test_executions_are_sent_before_their_reports_have_come():
    runner = Runner(HELLO, {"reports": [RUN], "done": True}, {"reports": [RUN], "done": True})
    reports = Session(runner, b"payload").begin_all([execution()] * 2, patience_s=1.0)()
    assert [len(report.runs) for report in reports] == [1, 1]
    assert runner.sent.count(b'"patience_s":1.0') == 2


def test_no_more_is_sent_ahead_than_a_pipe_holds():
    large = execution().model_copy(update={"files": {"main.py": b"#" * 40_000}})
    session = Session(Runner(HELLO, {"reports": [RUN], "done": True}), b"payload")
    with pytest.raises(SandboxDied):  # the second was sent, and got no answer
        session.begin_all([large] * 2, patience_s=None)()
    assert session._transport.sent.count(b'"patience_s"') == 2

    waiting = Session(Runner(HELLO), b"payload")
    with pytest.raises(SandboxDied):  # the first got none, and the second was not sent
        waiting.begin_all([large] * 2, patience_s=None)()
    assert waiting._transport.sent.count(b'"patience_s"') == 1


def test_execution_whose_turn_came_too_late_has_no_report():
    skipped = {"reports": [], "done": True, "skipped": True}
    session = Session(Runner(HELLO, {"reports": [RUN], "done": True}, skipped), b"payload")
    first, second = session.begin_all([execution()] * 2, patience_s=0.1)()
    assert first is not None
    assert second is None


def test_runner_may_not_skip_what_has_to_be_run():
    with pytest.raises(ProtocolViolation):
        answered({"reports": [], "done": True, "skipped": True})
