"""Losses against numbers worked by hand and against gradients derived on paper."""

import math

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: the extra `trainer` brings it")

from sandbox_service.training.losses import (  # noqa: E402 - after the skip
    clipped_policy_loss,
    clipped_value_loss,
    entropy_of,
    grpo_loss,
)


def _log(*ratios):
    return torch.tensor([ratios]).log()


def test_policy_loss_hand_worked_numbers():
    ratios = _log(1.0, 1.5, 0.5, 1.5, 0.5)
    advantages = torch.tensor([[2.0, 2.0, 2.0, -2.0, -2.0]])

    found = clipped_policy_loss(ratios, torch.zeros(1, 5), advantages, clip_coef=0.2)

    torch.testing.assert_close(found.loss, torch.tensor([[-2.0, -2.4, -1.0, 3.0, 1.6]]))
    torch.testing.assert_close(found.is_clipped, torch.tensor([[0.0, 1.0, 0.0, 0.0, 1.0]]))


def test_policy_loss_clip_higher_moves_only_the_upper_bound():
    ratios = _log(1.25, 1.4, 0.5)
    advantages = torch.tensor([[1.0, 1.0, -1.0]])

    found = clipped_policy_loss(
        ratios, torch.zeros(1, 3), advantages, clip_coef=0.2, clip_coef_high=0.3
    )

    torch.testing.assert_close(found.loss, torch.tensor([[-1.25, -1.3, 0.8]]))


def test_policy_loss_at_the_sampling_policy_has_the_policy_gradient():
    """At ratio one the gradient with respect to a log-probability is minus the advantage."""
    logprobs = torch.tensor([[-1.0, -2.0]], requires_grad=True)
    advantages = torch.tensor([[0.7, -0.3]])

    clipped_policy_loss(
        logprobs, logprobs.detach(), advantages, clip_coef=0.2
    ).loss.sum().backward()

    torch.testing.assert_close(logprobs.grad, -advantages)


def test_policy_loss_clipped_token_has_no_gradient():
    logprobs = _log(1.5).requires_grad_()

    clipped_policy_loss(
        logprobs, torch.zeros(1, 1), torch.ones(1, 1), clip_coef=0.2
    ).loss.sum().backward()

    assert logprobs.grad.item() == 0.0


def test_value_loss_hand_worked_numbers():
    values, old_values = torch.tensor([[1.0, 0.1]]), torch.tensor([[0.0, 0.0]])
    returns = torch.tensor([[2.0, 0.0]])

    found = clipped_value_loss(values, old_values, returns, clip_coef=0.2)

    # Clipped to 0.2: 0.5 * (2 - 0.2)²; the second is inside the clip.
    torch.testing.assert_close(found, torch.tensor([[1.62, 0.005]]))


def test_value_loss_without_clip_is_half_the_squared_error():
    found = clipped_value_loss(
        torch.tensor([[1.0]]), torch.tensor([[9.0]]), torch.tensor([[3.0]]), clip_coef=None
    )

    assert found.item() == 2.0


def test_entropy_of_uniform_and_certain_distributions():
    logits = torch.tensor([[[0.0, 0.0, 0.0, 0.0], [100.0, 0.0, 0.0, 0.0]]])

    torch.testing.assert_close(entropy_of(logits), torch.tensor([[math.log(4), 0.0]]))


def test_entropy_of_random_logits_equals_torchs_categorical():
    logits = torch.randn(2, 3, 7, generator=torch.Generator().manual_seed(0))

    expected = torch.distributions.Categorical(logits=logits).entropy()

    torch.testing.assert_close(entropy_of(logits), expected)


def test_grpo_loss_adds_k3_to_the_reference():
    logprobs, ref_logprobs = torch.zeros(1, 1), torch.full((1, 1), math.log(2.0))

    found = grpo_loss(
        logprobs, torch.zeros(1, 1), ref_logprobs, torch.ones(1, 1), clip_coef=0.2, kl_coef=0.5
    )

    # -1 * 1 + 0.5 * (2 - 1 - ln 2)
    assert found.loss.item() == pytest.approx(-1 + 0.5 * (1 - math.log(2)))


def test_grpo_loss_gradient_equals_the_papers():
    """The gradient coefficient is A + beta * (q/p - 1), equation 21 of DeepSeekMath, negated."""
    logprobs = torch.tensor([[-1.0, -0.5]], requires_grad=True)
    ref_logprobs = torch.tensor([[-1.2, -0.1]])
    advantages = torch.tensor([[0.4, -0.9]])

    grpo_loss(
        logprobs, logprobs.detach(), ref_logprobs, advantages, clip_coef=0.2, kl_coef=0.04
    ).loss.sum().backward()

    expected = -(advantages + 0.04 * (torch.exp(ref_logprobs - logprobs.detach()) - 1))
    torch.testing.assert_close(logprobs.grad, expected)


def test_grpo_loss_without_reference_is_the_policy_loss():
    logprobs, advantages = _log(1.1, 0.7), torch.tensor([[1.0, -1.0]])

    found = grpo_loss(logprobs, torch.zeros(1, 2), None, advantages, clip_coef=0.2, kl_coef=0.5)

    expected = clipped_policy_loss(logprobs, torch.zeros(1, 2), advantages, clip_coef=0.2)
    torch.testing.assert_close(found.loss, expected.loss)
