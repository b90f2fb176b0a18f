"""The feed: one reading for all who watch."""

import asyncio
import json

import pytest

from sandbox_service.dashboard.history import Reading
from sandbox_service.dashboard.snapshot import Snapshot
from sandbox_service.dashboard.stream import Feed
from sandbox_service.errors import QueueUnavailable


class Service:
    """Counts how often it is asked."""

    def __init__(self):
        self.reads = 0
        self.looks = 0
        self.is_down = False

    async def read(self):
        if self.is_down:
            raise QueueUnavailable("Redis does not answer")
        self.reads += 1
        return Reading(float(self.reads), (), {})

    async def look(self, reading, history, sample):
        self.looks += 1
        return Snapshot(
            at=reading.at,
            period_s=2.0,
            lanes=(),
            workers=(),
            worker_count=0,
            latest=history.latest(),
            total=history.total(),
            sample=sample,
            recent=(),
        )


@pytest.fixture
def service():
    return Service()


@pytest.fixture
def feed(service):
    return Feed(service.read, service.look)


def parsed(event):
    name, data, *_ = event.decode().split("\n")
    return name.removeprefix("event: "), json.loads(data.removeprefix("data: "))


async def opened(feed):
    events = feed.events()
    return events, parsed(await anext(events)), parsed(await anext(events))


async def test_page_that_opens_gets_the_past_and_then_the_present(feed):
    await feed.step()
    await feed.step()
    _, past, first = await opened(feed)
    assert past[0] == "past"
    assert [sample["at"] for sample in past[1]["samples"]] == [1.0, 2.0]
    assert (first[0], first[1]["at"]) == ("snapshot", 3.0)


async def test_all_who_watch_share_one_look(feed, service):
    watchers = [(await opened(feed))[0] for _ in range(5)]
    before = service.looks
    waiting = [asyncio.ensure_future(anext(watcher)) for watcher in watchers]
    await asyncio.sleep(0)
    await feed.step()
    told = set(await asyncio.gather(*waiting))
    assert len(told) == 1
    assert service.looks == before + 1


async def test_nobody_watching_costs_no_look(feed, service):
    events, *_ = await opened(feed)
    await events.aclose()
    before = service.looks
    await feed.step()
    assert service.looks == before


async def test_page_that_opens_later_gets_no_old_figures(feed):
    events, *_ = await opened(feed)
    await events.aclose()
    await feed.step()
    _, _, first = await opened(feed)
    assert first[1]["at"] == 3.0


async def test_trouble_is_told_and_passes(feed, service):
    events, *_ = await opened(feed)
    service.is_down = True
    waiting = asyncio.ensure_future(anext(events))
    await asyncio.sleep(0)
    await feed.step()
    assert parsed(await waiting) == (
        "trouble",
        {"code": "queue_unavailable", "detail": "Redis does not answer"},
    )
    service.is_down = False
    waiting = asyncio.ensure_future(anext(events))
    await asyncio.sleep(0)
    await feed.step()
    assert parsed(await waiting)[0] == "snapshot"


async def test_closing_lets_watchers_go(feed):
    events, *_ = await opened(feed)
    feed.close()
    assert len([event async for event in events]) <= 1


async def test_slow_watcher_gets_the_latest_only(feed):
    events, *_ = await opened(feed)
    waiting = asyncio.ensure_future(anext(events))
    await asyncio.sleep(0)
    for _ in range(10):
        await feed.step()
    assert parsed(await waiting)[1]["at"] == 11.0
