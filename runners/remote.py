"""A line between two processes: plain data crosses it, anything else stays and is stood in for.

Both ends speak the same language: one JSON object a line, a request with an `op` or the answer to
one. While an end waits for an answer it serves the other's requests, so that either may call back.
An end that is `strict` holds the tests: what the other one's objects are equal to, or smaller
than, is for plain data to say, and its own objects show no more than their public side.
"""

import io
import json
import sys
import threading
from typing import Any, BinaryIO

from runners import crossing, operations, standin

_MAX_MESSAGE_BYTES = 64 * 1024 * 1024
_NONSENSE = (LookupError, TypeError, ValueError, ArithmeticError, RecursionError, AttributeError)


class OtherGone(BaseException):
    """The other process ended, or said something that makes no sense.

    No `Exception`: a test that expects any exception at all must not take it for one.
    """


class Line:
    """One end."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO, *, strict: bool) -> None:
        self.strict = strict
        self.is_gone = False
        self._reader, self._writer = reader, writer
        self._lock = threading.RLock()
        self._stdout = sys.stdout
        self.crossing = crossing.Crossing(self, strict=strict)
        self._encode = self.crossing.plain

    def receive(self) -> dict[str, Any]:
        """Returns the other's next message.

        Raises:
            OtherGone: there is none.
        """
        try:
            message = json.loads(self._reader.readline(_MAX_MESSAGE_BYTES))
        except (ValueError, RecursionError, OSError) as error:
            raise self._gone("the candidate's process ended") from error
        if not isinstance(message, dict):
            raise self._gone("the candidate's process sent nonsense")
        return message

    def send(self, message: dict[str, Any]) -> None:
        """Sends a message.

        Raises:
            OtherGone: nobody reads.
        """
        try:
            self._writer.write(json.dumps(message).encode() + b"\n")
            self._writer.flush()
        except OSError as error:
            raise self._gone("the candidate's process ended") from error

    def decode(self, value: Any) -> Any:
        """Returns a value that the other one sent.

        Raises:
            OtherGone: it is malformed.
        """
        try:
            return self.crossing.decoder.decode(value)
        except _NONSENSE as error:
            raise self._gone("the candidate's process sent nonsense") from error

    def ask(self, op: str, number: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Has the other one do something with its object and returns what came of it.

        Raises:
            OtherGone: its process ended.
        """
        with self._lock:
            self.send({
                "op": op, "target": number, "args": [self._encode(arg) for arg in args],
                "kwargs": {name: self._encode(arg) for name, arg in kwargs.items()},
                "capture": sys.stdout is not self._stdout,
            })  # fmt: skip
            answer = self._answer()
        passed = [*args, *kwargs.values()]
        for index, after in answer.get("changed", ()):
            crossing.change_in_place(passed[index], self.decode(after))
        if answer.get("printed"):
            sys.stdout.write(str(answer["printed"]))
        if "raise" in answer:
            raise self.crossing.exception(answer)
        same = answer.get("same_as")
        return self.decode(answer.get("value")) if same is None else passed[same]

    def _answer(self) -> dict[str, Any]:
        while "op" in (message := self.receive()):
            self.send(self._perform(message))
        return message

    def serve(self) -> None:
        """Answers requests until the other end closes the line."""
        try:
            while True:
                message = self.receive()
                answer = self._perform(message)
                with self._lock:
                    self.send(answer)
        except OtherGone:
            return

    def _perform(self, request: dict[str, Any]) -> dict[str, Any]:
        op = request["op"]
        try:
            target = self.crossing.own(request["target"])
            args = [self.decode(arg) for arg in request["args"]]
            kwargs = {name: self.decode(arg) for name, arg in request["kwargs"].items()}
            perform = operations.named(op, args, strict=self.strict)
        except _NONSENSE as error:
            raise self._gone("the candidate's process sent nonsense") from error
        before = [json.dumps(arg) for arg in (*request["args"], *request["kwargs"].values())]
        stdout, printed = sys.stdout, io.StringIO()
        if request.get("capture"):
            sys.stdout = printed
        try:
            result = perform(target, args, kwargs)
        except OtherGone:
            raise
        except BaseException as error:  # noqa: BLE001 - the object's own exception, exits included
            answer = self.crossing.raised(error)
        else:
            answer = self._answer_of(result, [*args, *kwargs.values()])
        finally:
            if sys.stdout is printed:
                sys.stdout = stdout
        after = [self._encode(arg) for arg in (*args, *kwargs.values())]
        changes = [[i, new] for i, new in enumerate(after) if json.dumps(new) != before[i]]
        return answer | ({"changed": changes} if changes else {}) | {"printed": printed.getvalue()}

    def _answer_of(self, result: Any, passed: list[Any]) -> dict[str, Any]:
        for index, arg in enumerate(passed):
            if result is arg and isinstance(arg, list | dict | set):
                return {"same_as": index}
        return {"value": self._encode(result)}

    def _gone(self, reason: str) -> OtherGone:
        self.is_gone = True
        return OtherGone(reason)

    def stand_in(self, number: int, kind: str, shape: list[str], plain: Any) -> standin.Stand_in:
        """Returns what stands for an object of the other one."""
        return standin.make(self, number, kind, shape, self.decode(plain))
