import json
import zlib

import fakeredis
import pytest
from rq.job import Callback

from sandbox_service.queue import keys
from sandbox_service.queue.pinned_job import JobRefused, PinnedJob, pinned_queue


def _restored(call: object, **fields: bytes) -> PinnedJob:
    job = PinnedJob("one", connection=fakeredis.FakeRedis())
    data = call if isinstance(call, bytes) else json.dumps(call).encode()
    job.serializer = pinned_queue(job.connection, "train:default").serializer
    job.restore({b"data": zlib.compress(data)} | {k.encode(): v for k, v in fields.items()})
    return job


def test_task_with_a_list_of_ids_is_read() -> None:
    assert _restored([keys.TASK, None, [["a", "b"]], {}]).submission_ids == ["a", "b"]


@pytest.mark.parametrize(
    "call",
    [
        ["os.system", None, [["a"]], {}],
        [keys.TASK, "instance", [["a"]], {}],
        [keys.TASK, None, [["a"]], {"ids": []}],
        [keys.TASK, None, [], {}],
        [keys.TASK, None, ["a"], {}],
        [keys.TASK, None, [["a"], ["b"]], {}],
        [keys.TASK, None, [[1]], {}],
        [keys.TASK, None, {"0": ["a"]}, {}],
        b"\x80\x04N.",
        b"{}",
    ],
)
def test_every_other_call_is_refused(call: object) -> None:
    with pytest.raises(JobRefused):
        _ = _restored(call).func


def test_callbacks_retries_and_webhooks_in_redis_are_not_read() -> None:
    job = _restored(
        [keys.TASK, None, [["a"]], {}],
        success_callback_name=b"os.system",
        failure_callback_name=b"os.system",
        stopped_callback_name=b"os.system",
        webhooks=b'[{"url": "http://127.0.0.1/", "statuses": ["finished"]}]',
        retries_left=b"5",
    )

    assert (job.success_callback, job.failure_callback, job.stopped_callback) == (None, None, None)
    assert (job.webhooks, job.retries_left) == ([], None)


def test_job_for_another_function_cannot_be_made() -> None:
    with pytest.raises(JobRefused):
        pinned_queue(fakeredis.FakeRedis(), "train:default").enqueue(
            "os.system", "true", on_success=Callback("os.system")
        )
