"""RQ jobs that can name one function and nothing else.

RQ imports whatever function, callbacks and webhooks a job's hash names, so whoever can write to
Redis could otherwise run code in a worker.
"""

from collections.abc import Callable
from typing import Any, Self, cast

from rq import Queue
from rq.exceptions import DeserializationError
from rq.job import Job
from rq.serializers import JSONSerializer

from sandbox_service.queue import keys


class JobRefused(Exception):
    """A job in Redis asks for something that is not ours."""


class PinnedJob(Job):
    """A job that carries submission ids to the one task."""

    @classmethod
    def create(cls, func: Any, *args: Any, **kwargs: Any) -> Self:
        """Makes a job.

        Raises:
            JobRefused: the function is not the task.
        """
        if func != keys.TASK:
            raise JobRefused(f"function {func!r} is not the task")
        return cast("Self", super().create(func, *args, **kwargs))

    def restore(self, raw_data: dict[bytes, bytes]) -> None:
        """Reads the call and nothing else: no callbacks, webhooks, retries or dependencies."""
        super().restore({name: raw_data[name] for name in (b"data",) if name in raw_data})
        place = keys.place_of_job(self.id)
        self.origin = "" if place is None else place.queue

    @property
    def submission_ids(self) -> list[str]:
        """The ids that the job carries.

        Raises:
            JobRefused: it is not a call of the task with one list of texts.
        """
        try:
            name, instance, args, kwargs = self.func_name, self.instance, self.args, self.kwargs
        except DeserializationError as error:
            raise JobRefused("the call is not JSON") from error
        if name != keys.TASK or instance is not None or kwargs != {}:
            raise JobRefused(f"function {name!r} is not the task")
        if not isinstance(args, list | tuple) or len(args) != 1 or not isinstance(args[0], list):
            raise JobRefused("the arguments are not one list")
        ids = args[0]
        if not all(isinstance(submission_id, str) for submission_id in ids):
            raise JobRefused("the list is not of texts")
        return ids

    @property
    def func(self) -> Callable[..., Any] | None:
        """The task, once the whole call has been checked.

        Raises:
            JobRefused: the job asks for anything else.
        """
        _ = self.submission_ids
        function: Callable[..., Any] | None = super().func
        return function


def pinned_queue(connection: Any, name: str) -> Queue:
    """Returns the RQ queue as both sides must open it: JSON and `PinnedJob`."""
    return Queue(
        name,
        connection=connection,
        job_class=PinnedJob,
        serializer=JSONSerializer,
        default_timeout=-1,
    )
