"""Weights of tokens: what each level averages over."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: the extra `trainer` brings it")

from sandbox_service.training.masking import (  # noqa: E402 - after the skip
    LossLevel,
    masked_mean,
    token_weights,
)

MASK = torch.tensor([[1.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
LOSSES = torch.tensor([[1.0, 2.0, 3.0], [8.0, 9.0, 9.0], [9.0, 9.0, 9.0]])


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (LossLevel.TOKEN, (1 + 2 + 3 + 8) / 4),
        (LossLevel.SEQUENCE, ((1 + 2 + 3) / 3 + 8) / 2),
        (LossLevel.FIXED, (1 + 2 + 3 + 8) / (2 * 10)),
    ],
)
def test_token_weights_each_level_hand_worked(level, expected):
    loss = (token_weights(MASK, level, longest=10) * LOSSES).sum()

    assert loss.item() == pytest.approx(expected)


@pytest.mark.parametrize("level", list(LossLevel))
def test_token_weights_nothing_counts_is_zero_not_nan(level):
    assert token_weights(torch.zeros(2, 3), level, longest=4).sum().item() == 0.0


def test_masked_mean_ignores_nan_outside_the_mask():
    values = torch.tensor([[1.0, 3.0, float("nan")]])

    assert masked_mean(values, torch.tensor([[1.0, 1.0, 0.0]])).item() == 2.0


def test_masked_mean_nothing_counts_is_zero():
    assert masked_mean(torch.ones(1, 2), torch.zeros(1, 2)).item() == 0.0
