import asyncio

from fastapi import Request

from sandbox_service.api.waiting import unless_gone


def _request(*messages: dict) -> Request:
    remaining = list(messages)

    async def receive() -> dict:
        if remaining:
            return remaining.pop(0)
        await asyncio.Event().wait()
        raise AssertionError

    return Request({"type": "http"}, receive)


async def test_work_of_a_caller_that_stays_is_given() -> None:
    async def work() -> int:
        return 1

    assert await unless_gone(_request({"type": "http.request"}), work()) == 1


async def test_work_of_a_caller_that_leaves_is_ended() -> None:
    is_ended = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            is_ended.set()

    request = _request({"type": "http.request"}, {"type": "http.disconnect"})

    assert await unless_gone(request, work()) is None
    await is_ended.wait()
