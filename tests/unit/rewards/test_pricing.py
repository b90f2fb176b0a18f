"""What a result is worth under one policy."""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from sandbox_service.rewards.policies import explained_reward_of, reward_of
from sandbox_service.rewards.pricing import clipped
from sandbox_service.schema.review import FlagKind
from sandbox_service.schema.reward import RewardSpec
from sandbox_service.schema.verdict import Verdict

_SPEC = TypeAdapter(RewardSpec)

POLICIES = [
    {"policy": "pass_rate"},
    {"policy": "all_pass"},
    {"policy": "weighted", "exponent": 2.0, "partial_max": 0.5},
    {"policy": "threshold", "at_least": 0.5},
    {"policy": "shaped", "prices": {"wrong_answer": 0.1}, "partial": 0.5},
]


class Outcome(NamedTuple):
    verdict: Verdict
    score: float | None


HALF = Outcome(Verdict.WRONG_ANSWER, 0.5)
FULL = Outcome(Verdict.ACCEPTED, 1.0)


def reward(outcome, flags=(), **spec):
    return explained_reward_of(_SPEC.validate_python(spec), outcome, flags=flags).value


def test_pass_rate_is_the_score():
    assert reward(HALF, policy="pass_rate") == 0.5


def test_all_pass_wants_every_test():
    assert reward(FULL, policy="all_pass") == 1.0
    assert reward(Outcome(Verdict.WRONG_ANSWER, 1.0), policy="all_pass") == 0.0


def test_weighted_bends_partial_scores_only():
    spec = {"policy": "weighted", "exponent": 2.0, "partial_max": 0.8}

    assert reward(HALF, **spec) == pytest.approx(0.2)
    assert reward(FULL, **spec) == 1.0


def test_threshold_tells_reached_from_missed():
    spec = {"policy": "threshold", "at_least": 0.5, "reached": 2.0, "missed": -1.0}

    assert reward(HALF, **spec) == 2.0
    assert reward(Outcome(Verdict.WRONG_ANSWER, 0.49), **spec) == -1.0


def test_shaped_without_prices_is_the_score():
    assert reward(HALF, policy="shaped") == 0.5


@pytest.mark.parametrize("verdict", [v for v in Verdict if v is not Verdict.INTERNAL_ERROR])
def test_shaped_prices_every_verdict(verdict):
    assert reward(Outcome(verdict, 0.5), policy="shaped", prices={verdict: -0.25}) == -0.25


def test_shaped_price_may_be_zero():
    assert reward(HALF, policy="shaped", prices={"wrong_answer": 0.0}) == 0.0


def test_shaped_partial_comes_on_top_of_a_price():
    spec = {"policy": "shaped", "prices": {"wrong_answer": -1.0}, "partial": 0.5}

    assert reward(HALF, **spec) == -0.75
    assert reward(FULL, **spec) == 1.0


def test_shaped_flags_are_priced_once_each():
    flags = [FlagKind.READS_TESTS, FlagKind.READS_TESTS, FlagKind.HARD_CODED]
    prices = {"reads_tests": -0.5, "uses_network": -9.0}

    assert reward(FULL, flags=flags, policy="shaped", flag_prices=prices) == 0.5


def test_shaped_reward_stays_within_its_bounds():
    bounds = {"policy": "shaped", "minimum": 0.6, "maximum": 0.9}

    assert reward(HALF, **bounds) == 0.6
    assert reward(FULL, **bounds) == 0.9


@pytest.mark.parametrize("spec", POLICIES)
@pytest.mark.parametrize(
    "outcome", [Outcome(Verdict.INTERNAL_ERROR, 1.0), Outcome(Verdict.ACCEPTED, None)]
)
def test_no_information_is_none_under_every_policy(spec, outcome):
    assert reward(outcome, **spec) is None


def test_internal_error_cannot_be_priced():
    with pytest.raises(ValidationError, match="no information"):
        reward(HALF, policy="shaped", prices={"internal_error": 0.0})


def test_shaped_bounds_in_the_wrong_order_are_refused():
    with pytest.raises(ValidationError, match="minimum is above maximum"):
        reward(HALF, policy="shaped", minimum=1.0, maximum=0.0)


@pytest.mark.parametrize("price", [float("nan"), float("inf"), 1e7])
def test_price_that_is_no_reward_is_refused(price):
    with pytest.raises(ValidationError):
        reward(HALF, policy="shaped", prices={"wrong_answer": price})


def test_reward_of_is_the_value_alone():
    assert reward_of(_SPEC.validate_python({"policy": "all_pass"}), FULL) == 1.0


@pytest.mark.parametrize(
    ("value", "minimum", "maximum", "expected"),
    [
        (5.0, None, None, 5.0),
        (5.0, 6.0, None, 6.0),
        (5.0, None, 4.0, 4.0),
        (5.0, 4.0, 6.0, 5.0),
        (-1.0, 0.0, 0.0, 0.0),
        (1.0, 0.0, 0.0, 0.0),
    ],
)
def test_clipping_moves_to_the_nearer_bound(value, minimum, maximum, expected):
    assert clipped(value, minimum, maximum) == expected


@pytest.mark.parametrize("spec", POLICIES)
@given(low=st.floats(0, 1), high=st.floats(0, 1))
def test_policies_never_pay_less_for_a_higher_score(spec, low, high):
    low, high = sorted((low, high))
    failed = Verdict.WRONG_ANSWER

    assert reward(Outcome(failed, low), **spec) <= reward(Outcome(failed, high), **spec)


@pytest.mark.parametrize("spec", POLICIES)
@given(score=st.floats(0, 1))
def test_policies_pay_most_for_acceptance_and_never_more_than_one(spec, score):
    partial = reward(Outcome(Verdict.WRONG_ANSWER, score), **spec)

    assert 0 <= partial <= reward(FULL, **spec) == 1
