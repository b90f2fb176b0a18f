"""Carries out one execution: puts the program on the stage, compiles it once, runs it."""

import json
import marshal
import os
from collections.abc import Iterator
from typing import Any

from runners import conversation, supervise
from runners.accounting import Meter
from runners.stage import Stage
from runners.zygote import Nursery

_SOURCE_MODE = 0o644
_ARTIFACT_MODE = 0o555
_SYNTAX = b"syntax:"


class Executor:
    """Holds the program of one execution and runs it."""

    def __init__(
        self, nursery: Nursery, meter: Meter, stage: Stage, request: dict[str, Any]
    ) -> None:
        self._nursery, self._counters, self._stage = nursery, supervise.Counters(meter), stage
        self._zygote = nursery.zygote("exec")
        self._env: dict[str, str] = request["env"]
        self._files: dict[str, bytes] = request["files"]
        self._hidden = {request["source"], *request["candidate_files"]}
        stage.clear()
        stage.put(self._files, _SOURCE_MODE)
        stage.put(request["artifacts"], _ARTIFACT_MODE)

    def _order(self, request: dict[str, Any], harness: str | None = None) -> dict[str, Any]:
        return {
            "harness": harness,
            "argv": request["argv"],
            "env": self._env,
            "files": list(self._files),
            "source": request.get("source"),
            "function": request.get("function"),
            "limits": request["limits"],
            "kept": ["channel"],
            "collect": [],
        }

    def _run(self, main: supervise.Run, other: supervise.Run | None = None) -> supervise.Outcome:
        return supervise.run(self._zygote, self._counters, main, other)

    def compile(self, request: dict[str, Any]) -> tuple[supervise.Outcome, dict[str, bytes]]:
        """Compiles; on success the artifacts are on the stage."""
        order = self._order(request) | {"collect": request["artifacts"]}
        outcome = self._run(supervise.Run(order, {}))
        artifacts = dict(_split(outcome.channel, outcome.report.get("files", {})))
        if outcome.ending == "exited" and outcome.exit_code == 0:
            self._stage.put(artifacts, _ARTIFACT_MODE)
        return outcome, artifacts

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """Runs once and returns the report, its streams as bytes."""
        kind = request["kind"]
        self._zygote = self._nursery.zygote(kind)
        if kind == "exec":
            return report_of(self._run(supervise.Run(self._order(request), {}, request["stdin"])))
        if kind == "python":
            order = self._order(request, "program")
            return _harness_report(self._run(supervise.Run(order, {}, request["stdin"])))
        if kind == "call":
            return self._call(request)
        if kind == "assert_shared":
            return self._assert_shared(request)
        if kind == "interact":
            return self._interact(request)
        return self._assert(request)

    def _call(self, request: dict[str, Any]) -> dict[str, Any]:
        order = self._order(request, "call") | {"kept": ["channel", "payload"]}
        payload = _memory_file(request["call_json"].encode())
        return _harness_report(
            self._run(supervise.Run(order, {"payload": payload}, request["stdin"]))
        )

    def _assert(self, request: dict[str, Any]) -> dict[str, Any]:
        """The candidate in one jail, the tests in another, plain data between them."""
        payload = _memory_file(request["test_code"].encode("utf-8", "surrogatepass"))
        ask, asked = os.pipe2(os.O_CLOEXEC)
        hear, answer = os.pipe2(os.O_CLOEXEC)
        served = self._order(request, "candidate") | {"kept": ["channel", "requests", "responses"]}
        tests = self._order(request, "tester") | {
            "kept": ["channel", "payload", "requests", "responses"],
            "files": [name for name in self._files if name not in self._hidden],
        }
        judge = supervise.Run(tests, {"payload": payload, "requests": asked, "responses": hear})
        judged = supervise.Run(served, {"requests": ask, "responses": answer})
        report = _assert_report(self._run(judge, judged))
        # Without namespaces of their own the two share their folders and see each other.
        return report if self._zygote.nested else report | {"trust": "shared_process"}

    def _interact(self, request: dict[str, Any]) -> dict[str, Any]:
        """The program in one jail, its interactor with its own files in another."""
        asked = request["interactor"]
        payload = _memory_file(marshal.dumps(asked["files"]))
        order = self._order(request, "program" if request["is_warm"] else None)
        other = {**self._order(asked, "interactor"), "files": [], "kept": ["channel", "payload"]}
        ended = conversation.run(
            self._zygote,
            self._counters,
            supervise.Run(order, {}),
            supervise.Run(other, {"payload": payload}),
        )
        reports = [_report_of_talk(each) for each in ended]
        return reports[0] | {"interactor": reports[1]}

    def _assert_shared(self, request: dict[str, Any]) -> dict[str, Any]:
        """Candidate and tests in one process, which cannot know the token before it reports."""
        token = os.urandom(32).hex()
        payload = _memory_file((token + request["test_code"]).encode("utf-8", "surrogatepass"))
        order = self._order(request, "shared") | {"kept": ["channel", "payload"]}
        outcome = self._run(supervise.Run(order, {"payload": payload}))
        report = report_of(outcome) | {"trust": "shared_process"}
        if outcome.channel.startswith(_SYNTAX):
            return report | {"syntax_error": _text(outcome.channel[len(_SYNTAX) :])}
        parts = outcome.channel.split(token.encode())
        said = parts[-2] if len(parts) > 2 else b""
        return _with_findings(report, said)


def _memory_file(data: bytes) -> int:
    """Returns a descriptor of a file that has no name, at its start."""
    fd = os.memfd_create("payload", os.MFD_CLOEXEC)
    os.write(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _split(data: bytes, sizes: dict[str, int]) -> Iterator[tuple[str, bytes]]:
    start = 0
    for path, size in sizes.items():
        yield path, data[start : start + size]
        start += size


def report_of(outcome: supervise.Outcome) -> dict[str, Any]:
    """Returns what the host is told about a run, its streams as bytes."""
    return {
        "ending": outcome.ending,
        "exit_code": outcome.exit_code,
        "signal": outcome.signal,
        "stdout": outcome.stdout,
        "stderr": outcome.stderr,
        "usage": {
            "cpu_time_s": round(outcome.cpu_time_s, 6),
            "wall_time_s": round(outcome.wall_time_s, 6),
            "memory_bytes": outcome.memory_bytes,
        },
    }


def _report_of_talk(ended: conversation.Ended) -> dict[str, Any]:
    report = {
        "ending": ended.ending,
        "exit_code": os.WEXITSTATUS(ended.status) if ended.ending == "exited" else None,
        "signal": os.WTERMSIG(ended.status) if ended.ending == "signaled" else None,
        "stdout": ended.stdout,
        "stderr": ended.stderr,
        "usage": {
            "cpu_time_s": round(ended.cpu_time_s, 6),
            "wall_time_s": round(ended.wall_time_s, 6),
            "memory_bytes": ended.memory_bytes,
        },
    }
    if ended.channel.startswith(_SYNTAX):
        report["syntax_error"] = _text(ended.channel[len(_SYNTAX) :])
    return report


def _harness_report(outcome: supervise.Outcome) -> dict[str, Any]:
    """Adds what the harness said; a program that garbles it harms only itself."""
    report = report_of(outcome)
    mark, colon, text = _text(outcome.channel).partition(":")
    if not colon:
        return report
    if mark == "syntax":
        report["syntax_error"] = text
    elif mark == "value":
        report["value_json"] = text
    else:
        report["error"] = f"{mark}: {text}"
    return report


def _assert_report(outcome: supervise.Outcome) -> dict[str, Any]:
    """Shows the candidate's streams and the tests' findings."""
    report = report_of(outcome)
    candidate = outcome.other
    assert candidate is not None
    report |= {"stdout": candidate.stdout, "stderr": candidate.stderr}
    if candidate.channel.startswith(_SYNTAX):
        return report | {"syntax_error": _text(candidate.channel[len(_SYNTAX) :])}
    return _with_findings(report, outcome.channel)


def _with_findings(report: dict[str, Any], channel: bytes) -> dict[str, Any]:
    """Adds what a tests' process reported."""
    try:
        said = json.loads(channel)
    except ValueError:
        return report | {"error": "the tests did not finish"}
    if "checks" in said:
        names = ("name", "passed", "detail")
        return report | {
            "checks": [dict(zip(names, check, strict=True)) for check in said["checks"]]
        }
    if "needs_shared_process" in said:
        return report | {"needs_shared_process": said["needs_shared_process"]}
    return report | {"tests_error": said["broken"]}
