"""Advantages against numbers worked by hand and against sums written out."""

from statistics import mean, stdev

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: the extra `trainer` brings it")

from sandbox_service.training.advantages import (  # noqa: E402 - after the skip
    explained_variance,
    generalized_advantages,
    group_relative,
    whiten,
)


def test_gae_two_tokens_equals_hand_worked_numbers():
    rewards = torch.tensor([[0.5, 1.0]])
    values = torch.tensor([[0.4, 0.6]])

    found = generalized_advantages(rewards, values, torch.ones(1, 2), gamma=0.9, gae_lambda=0.5)

    # delta_1 = 1 - 0.6 = 0.4; delta_0 = 0.5 + 0.9 * 0.6 - 0.4 = 0.64; A_0 = 0.64 + 0.45 * 0.4
    torch.testing.assert_close(found.advantages, torch.tensor([[0.82, 0.4]]))
    torch.testing.assert_close(found.returns, torch.tensor([[1.22, 1.0]]))


def _written_out(rewards, values, length, gamma, gae_lambda):
    """A_t as the sum over l of (gamma * lambda)^l * delta_{t+l}, without recursion."""
    later = [*values[1:length], 0.0]
    deltas = [rewards[t] + gamma * later[t] - values[t] for t in range(length)]
    return [
        sum((gamma * gae_lambda) ** (k - t) * deltas[k] for k in range(t, length))
        for t in range(length)
    ]


@pytest.mark.parametrize(("gamma", "gae_lambda"), [(1.0, 0.95), (0.9, 1.0), (0.97, 0.0)])
def test_gae_random_batch_equals_sum_written_out(gamma, gae_lambda):
    generator = torch.Generator().manual_seed(0)
    rewards, values = torch.randn(2, 5, 7, generator=generator, dtype=torch.float64)
    lengths = [7, 3, 1, 5, 6]
    mask = (torch.arange(7) < torch.tensor(lengths)[:, None]).double()

    found = generalized_advantages(rewards, values, mask, gamma=gamma, gae_lambda=gae_lambda)

    for row, length in enumerate(lengths):
        expected = _written_out(
            rewards[row].tolist(), values[row].tolist(), length, gamma, gae_lambda
        )
        torch.testing.assert_close(
            found.advantages[row, :length], torch.tensor(expected).double(), check_dtype=False
        )
        assert found.advantages[row, length:].abs().sum() == 0


def test_gae_lambda_one_returns_are_discounted_sums_of_rewards():
    rewards = torch.tensor([[1.0, 2.0, 4.0]])
    values = torch.tensor([[9.0, -3.0, 0.7]])

    found = generalized_advantages(rewards, values, torch.ones(1, 3), gamma=0.5, gae_lambda=1.0)

    torch.testing.assert_close(found.returns, torch.tensor([[3.0, 4.0, 4.0]]))


def test_gae_what_lies_in_the_padding_changes_nothing():
    mask = torch.tensor([[1.0, 1.0, 0.0]])
    rewards = torch.tensor([[0.1, 0.2, 0.0]])

    clean = generalized_advantages(
        rewards, torch.tensor([[0.3, 0.4, 0.0]]), mask, gamma=1.0, gae_lambda=0.9
    )
    dirty = generalized_advantages(
        rewards, torch.tensor([[0.3, 0.4, float("nan")]]), mask, gamma=1.0, gae_lambda=0.9
    )

    torch.testing.assert_close(clean.advantages, dirty.advantages)


def test_whiten_hand_worked_numbers():
    values = torch.tensor([[1.0, 3.0, 100.0]])
    mask = torch.tensor([[1.0, 1.0, 0.0]])

    torch.testing.assert_close(whiten(values, mask), torch.tensor([[-1.0, 1.0, 0.0]]))
    torch.testing.assert_close(
        whiten(values, mask, shift_mean=False), torch.tensor([[1.0, 3.0, 0.0]])
    )


def test_whiten_shares_of_a_batch_with_a_common_total_equal_the_joined_batch():
    generator = torch.Generator().manual_seed(1)
    values = torch.randn(4, 5, generator=generator, dtype=torch.float64)
    mask = (torch.rand(4, 5, generator=generator) > 0.3).double()
    joined = whiten(values, mask)

    def halves(rows):
        totals = iter(
            [
                mask.sum(),
                (values * mask).sum(),
                (((values - _mean(values, mask)) ** 2) * mask).sum(),
            ]
        )
        return whiten(values[rows], mask[rows], total=lambda _: next(totals))

    torch.testing.assert_close(torch.cat([halves(slice(0, 2)), halves(slice(2, 4))]), joined)


def _mean(values, mask):
    return (values * mask).sum() / mask.sum()


def test_group_relative_hand_worked_numbers():
    scores = torch.tensor([[1.0, 0.0, 0.0, 1.0]])
    known = torch.ones(1, 4, dtype=torch.bool)

    found = group_relative(scores, known, epsilon=0.0)

    # mean 1/2, unbiased std sqrt(1/3)
    expected = 0.5 / (1 / 3) ** 0.5
    torch.testing.assert_close(found, torch.tensor([[1.0, -1.0, -1.0, 1.0]]) * expected)


def test_group_relative_without_std_is_distance_from_mean():
    scores = torch.tensor([[1.0, 0.25]])

    found = group_relative(scores, torch.ones(1, 2, dtype=torch.bool), scale_by_std=False)

    torch.testing.assert_close(found, torch.tensor([[0.375, -0.375]]))


def test_group_relative_unknown_score_neither_counts_nor_learns():
    scores = torch.tensor([[1.0, 0.0, float("nan")], [0.5, 0.5, 0.5]])
    known = torch.tensor([[True, True, False], [True, True, True]])

    found = group_relative(scores, known, scale_by_std=False)

    torch.testing.assert_close(found, torch.tensor([[0.5, -0.5, 0.0], [0.0, 0.0, 0.0]]))


def test_group_relative_single_known_score_says_nothing():
    known = torch.tensor([[True, False]])

    assert group_relative(torch.tensor([[1.0, 0.0]]), known).abs().sum() == 0


def test_group_relative_random_groups_equal_pythons_statistics():
    scores = torch.rand(3, 6, generator=torch.Generator().manual_seed(2), dtype=torch.float64)

    found = group_relative(scores, torch.ones(3, 6, dtype=torch.bool), epsilon=0.01)

    for row, group in zip(found.tolist(), scores.tolist(), strict=True):
        expected = [(one - mean(group)) / (stdev(group) + 0.01) for one in group]
        assert row == pytest.approx(expected)


@pytest.mark.parametrize(
    ("values", "expected"),
    [([1.0, 2.0, 3.0], 1.0), ([2.0, 2.0, 2.0], 0.0), ([3.0, 2.0, 1.0], -3.0)],
)
def test_explained_variance_hand_worked_numbers(values, expected):
    returns = torch.tensor([[1.0, 2.0, 3.0]])

    found = explained_variance(torch.tensor([values]), returns, torch.ones(1, 3))

    assert found.item() == pytest.approx(expected)


def test_explained_variance_constant_returns_is_zero():
    returns = torch.ones(1, 3)

    assert explained_variance(torch.randn(1, 3), returns, torch.ones(1, 3)).item() == 0.0
