"""KL estimators on distributions small enough to be summed, and the controllers' arithmetic."""

import math

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: the extra `trainer` brings it")

from sandbox_service.training.kl import (  # noqa: E402 - after the skip
    AdaptiveKLController,
    FixedKLController,
    KLEstimator,
    kl_estimate,
)

P = torch.tensor([0.7, 0.2, 0.1], dtype=torch.float64)
Q = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
EXACT = float((P * (P / Q).log()).sum())


@pytest.mark.parametrize("kind", [KLEstimator.K1, KLEstimator.K3])
def test_kl_estimate_unbiased_kinds_have_the_exact_mean(kind):
    estimates = kl_estimate(P.log(), Q.log(), kind)

    assert float((P * estimates).sum()) == pytest.approx(EXACT)


def test_kl_estimate_k2_mean_is_half_the_expected_square():
    estimates = kl_estimate(P.log(), Q.log(), KLEstimator.K2)

    expected = sum(
        p * math.log(p / q) ** 2 / 2 for p, q in zip(P.tolist(), Q.tolist(), strict=True)
    )
    assert float((P * estimates).sum()) == pytest.approx(expected)


def test_kl_estimate_hand_worked_numbers():
    logprobs, other = torch.tensor([[0.0]]), torch.tensor([[math.log(2.0)]])

    found = {kind: kl_estimate(logprobs, other, kind).item() for kind in KLEstimator}

    assert found == pytest.approx({"k1": -0.693147, "k2": 0.240227, "k3": 0.306853}, abs=1e-6)


def test_kl_estimate_k3_is_never_negative():
    a, b = torch.randn(2, 8, 8, generator=torch.Generator().manual_seed(0))

    assert (kl_estimate(a, b, KLEstimator.K3) >= 0).all()


def test_adaptive_controller_hand_worked_numbers():
    controller = AdaptiveKLController(init_kl_coef=0.2, target_kl=6.0, horizon=10_000)

    controller.update(current_kl=6.6, n_steps=500)

    # The error is 0.1, of which the share of the horizon is 500 / 10,000.
    assert controller.value == pytest.approx(0.201)


@pytest.mark.parametrize(("current_kl", "expected"), [(60.0, 1.02), (0.0, 0.98)])
def test_adaptive_controller_far_from_target_moves_a_bounded_step(current_kl, expected):
    controller = AdaptiveKLController(init_kl_coef=1.0, target_kl=6.0, horizon=1000)

    controller.update(current_kl, n_steps=100)

    assert controller.value == pytest.approx(expected)


def test_adaptive_controller_drives_a_simple_policy_to_the_target():
    """A policy whose KL is inverse to the coefficient ends at the target."""
    controller = AdaptiveKLController(init_kl_coef=5.0, target_kl=0.5, horizon=100)

    for _ in range(400):
        controller.update(current_kl=1.0 / controller.value, n_steps=10)

    assert 1.0 / controller.value == pytest.approx(0.5, rel=0.01)


def test_fixed_controller_keeps_its_value():
    controller = FixedKLController(0.1)

    controller.update(current_kl=100.0, n_steps=100)

    assert controller.value == 0.1
