import pytest

from sandbox_service.queue.tickets import chunk_size, chunks


@pytest.mark.parametrize(
    ("count", "workers", "largest", "expected"),
    [
        (1, 8, 16, 1),
        (4, 2, 16, 1),
        (5, 2, 16, 2),
        (512, 2, 16, 16),
        (512, 64, 16, 4),
        (10, 0, 16, 5),
        (0, 2, 16, 1),
    ],
)
def test_chunk_size_gives_every_worker_some(
    count: int, workers: int, largest: int, expected: int
) -> None:
    assert chunk_size(count, workers, largest) == expected


def test_chunks_keep_the_order_and_lose_nothing() -> None:
    assert chunks(["a", "b", "c", "d", "e"], 2) == [["a", "b"], ["c", "d"], ["e"]]
