"""Batches over connections that may end at any time."""

import io

import httpx
import pytest
from rich.console import Console

from sandbox_service.client import _batches
from sandbox_service.client.async_ import AsyncSandboxClient
from sandbox_service.client.progress import progress_bar
from sandbox_service.errors import NotFinished, NotFound, ServiceUnavailable
from tests.factories import make_body, make_submission
from tests.unit.client.fake_batches import FakeBatches
from tests.unit.client.fake_service import NO_WAITS, lose_the_answer


def bodies(count):
    return [make_body() for _ in range(count)]


def ids(results):
    return [result.id for result in results]


def test_results_come_in_the_order_sent(connect):
    assert ids(connect(FakeBatches()).run_batch(bodies(3))) == ["s0", "s1", "s2"]


def test_lost_connection_is_taken_up_where_it_ended(connect):
    service = FakeBatches(per_connection=2)
    assert len(connect(service).run_batch(bodies(5))) == 5
    assert service.asked_after == [0, 2, 4]


def test_connection_that_ends_in_order_too_early_is_taken_up(connect):
    service = FakeBatches(per_connection=2)
    service.loss = None
    assert len(connect(service).run_batch(bodies(5))) == 5


def test_silence_between_results_is_waited_out(connect):
    service = FakeBatches()
    service.silences = 50
    assert len(connect(service).run_batch(bodies(1))) == 1


def test_results_that_never_come_are_an_error(connect):
    with pytest.raises(ServiceUnavailable, match="break off"):
        connect(FakeBatches(per_connection=0)).run_batch(bodies(1))


def test_results_when_the_time_is_over_are_not_finished(connect):
    with pytest.raises(NotFinished, match="0 of 1 results"):
        connect(FakeBatches()).run_batch(bodies(1), timeout_s=0.0)


@pytest.mark.parametrize("character", ["\u2028", "\x85", "\x0c", "\r"])
def test_output_with_other_line_breaks_is_one_line(connect, character):
    service = FakeBatches()
    service.stdout = f"a{character}b"
    result = connect(service).run_batch(bodies(1))[0]
    assert result.tests[0].stdout == f"a{character}b"


def test_results_can_be_read_from_a_cursor_on(connect):
    service = FakeBatches()
    client = connect(service)
    batch = client.create_batch(bodies(4))
    assert [line.index for line in client.batch_results(batch.id, after=3)] == [0]


def test_batch_carries_defaults_and_submissions_of_both_kinds(connect):
    service = FakeBatches()
    submissions = [make_submission(), {"code": "print(2)"}]
    batch = connect(service).create_batch(submissions, defaults={"language": "python"})
    sent = service.created[batch.id]
    assert sent["defaults"] == {"language": "python"}
    assert sent["submissions"] == [make_body(), {"code": "print(2)"}]


def test_batch_whose_answer_was_lost_is_the_same_batch(connect):
    service = FakeBatches()
    service.accept = service._create
    faults = [lose_the_answer(service)]
    batch = connect(lambda r: faults.pop()(r) if faults else service(r)).create_batch(bodies(2))
    assert list(service.created) == [batch.id]


def test_large_batch_is_sent_as_lines(connect, monkeypatch):
    monkeypatch.setattr(_batches, "_LARGEST_JSON_BYTES", 10)
    service = FakeBatches()
    batch = connect(service).create_batch(bodies(2), defaults={"lane": "eval"})
    assert service.created[batch.id]["submissions"] == bodies(2)
    assert service.created[batch.id]["defaults"] == {"lane": "eval"}


def test_progress_is_told_after_each_result(connect):
    told = []
    connect(FakeBatches()).run_batch(bodies(2), progress=lambda *counts: told.append(counts))
    assert told == [(1, 2), (2, 2)]


def test_bar_shows_how_many_are_done(connect):
    console = Console(file=io.StringIO(), width=100)
    with progress_bar(console=console) as progress:
        connect(FakeBatches()).run_batch(bodies(3), progress=progress)
    assert "3/3" in console.file.getvalue()


def test_batch_that_is_not_there_is_not_found(connect):
    with pytest.raises(NotFound):
        list(connect(FakeBatches()).batch_results("nobody"))


def test_canceled_batch_says_so(connect):
    client = connect(FakeBatches())
    batch = client.create_batch(bodies(2))
    assert client.batch(batch.id).finished == 2
    assert client.cancel_batch(batch.id).canceled == 2


async def test_batch_on_an_event_loop_does_the_same():
    service = FakeBatches(per_connection=2)
    transport = httpx.MockTransport(service)
    async with AsyncSandboxClient("http://a.test", options=NO_WAITS, transport=transport) as client:
        results = await client.run_batch(bodies(5))
    assert ids(results) == ["s0", "s1", "s2", "s3", "s4"]
    assert service.asked_after == [0, 2, 4]
