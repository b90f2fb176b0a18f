"""A reward out of several sources."""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from sandbox_service.rewards.measured import Measured
from sandbox_service.rewards.policies import explained_reward_of
from sandbox_service.schema.review import FlagKind
from sandbox_service.schema.reward import RewardSpec
from sandbox_service.schema.verdict import Verdict

_SPEC = TypeAdapter(RewardSpec)


class Outcome(NamedTuple):
    verdict: Verdict
    score: float | None


HALF = Outcome(Verdict.WRONG_ANSWER, 0.5)
FULL = Outcome(Verdict.ACCEPTED, 1.0)
TESTS = {"source": "tests", "weight": 3.0}


def external(name, score=None, **fields):
    return {"source": "external", "name": name, "score": score, **fields}


def fuse(*sources, outcome=HALF, measured=None, flags=(), **fields):
    spec = _SPEC.validate_python({"policy": "fusion", "sources": sources, **fields})
    return explained_reward_of(spec, outcome, measured=measured, flags=flags)


def test_mean_is_weighted():
    assert fuse(TESTS, external("rm", 0.9)).value == pytest.approx((3 * 0.5 + 0.9) / 4)


def test_sum_is_weighted():
    fused = fuse(TESTS, external("rm", 0.9, weight=-1.0), combine="sum")

    assert fused.value == pytest.approx(3 * 0.5 - 0.9)


def test_missing_source_is_left_out_and_never_zero():
    assert fuse(TESTS, external("rm")).value == 0.5
    assert fuse(TESTS, {"source": "style"}).value == 0.5


def test_measured_sources_are_found_by_name():
    sources = {"source": "style"}, {"source": "answer", "name": "final", "expected": "7"}

    assert (
        fuse(
            *sources,
            measured={"style": Measured(0.25), "final": Measured(0.75), "answer": Measured(9.0)},
        ).value
        == 0.5
    )


def test_measurement_that_is_no_number_is_missing():
    assert fuse(TESTS, {"source": "style"}, measured={"style": Measured(float("nan"))}).value == 0.5


def test_parts_tell_what_each_source_contributed():
    gate = {"source": "tests", "at_least": 1.0}
    fused = fuse(TESTS, external("rm", 0.9, gates=[gate]), external("gone"))

    tests, gated, gone = fused.parts
    assert (tests.name, tests.score, tests.weight, tests.counted, tests.detail) == (
        "tests", 0.5, 3.0, 0.5, "",
    )  # fmt: skip
    assert (gated.score, gated.counted, gated.detail) == (0.9, 0.0, "tests is below 1")
    assert (gone.name, gone.score, gone.counted, gone.detail) == ("gone", None, None, "missing")


def test_closed_gate_counts_as_zero_and_keeps_its_weight():
    gate = {"source": "tests", "at_least": 1.0}

    assert fuse(TESTS, external("rm", 1.0, gates=[gate])).value == pytest.approx(1.5 / 4)
    assert fuse(TESTS, external("rm", 1.0, gates=[gate]), outcome=FULL).value == 1.0


def test_gate_opens_at_its_bound():
    gate = {"source": "tests", "at_least": 0.5}

    assert fuse(TESTS, external("rm", 0.5, gates=[gate])).value == 0.5


def test_every_gate_must_be_open():
    gates = [{"source": "tests", "at_least": 0.5}, {"source": "rm", "at_least": 0.5}]
    sources = TESTS, external("rm", 0.4), external("bonus", 1.0, gates=gates)

    assert fuse(*sources).parts[2].counted == 0.0


def test_gate_on_a_missing_source_makes_its_own_source_missing():
    gates = [{"source": "rm", "at_least": 0.0}]
    fused = fuse(TESTS, external("rm"), external("bonus", 1.0, gates=gates))

    assert fused.value == 0.5
    assert fused.parts[2].detail == "rm is missing"


def test_missing_gate_outweighs_a_closed_one():
    gates = [{"source": "tests", "at_least": 1.0}, {"source": "rm", "at_least": 0.0}]
    fused = fuse(TESTS, external("rm"), external("bonus", 1.0, gates=gates))

    assert fused.parts[2].counted is None


def test_missing_source_behind_a_closed_gate_is_missing():
    gates = [{"source": "tests", "at_least": 1.0}]
    fused = fuse(TESTS, external("rm", gates=gates))

    assert (fused.value, fused.parts[1].counted) == (0.5, None)


def test_scores_are_clipped_before_they_count():
    assert fuse(external("rm", 7.0, maximum=1.0)).value == 1.0
    assert fuse(external("rm", -7.0, minimum=-1.0)).value == -1.0


def test_fused_reward_is_clipped():
    assert fuse(external("rm", 7.0), maximum=2.0).value == 2.0
    assert fuse(external("rm", -7.0), minimum=-2.0).value == -2.0


@pytest.mark.parametrize(
    ("reduce", "expected"),
    [("mean", 0.5), ("sum", 2.0), ("min", 0.2), ("last", 0.4), ("product", 0.5 * 0.9 * 0.2 * 0.4)],
)
def test_steps_are_reduced_to_one_score(reduce, expected):
    steps = [0.5, 0.9, 0.2, 0.4]

    assert fuse(external("prm", steps=steps, reduce=reduce)).value == pytest.approx(expected)


def test_tests_source_has_a_policy_and_flags_of_its_own():
    policy = {"policy": "shaped", "flag_prices": {"hard_coded": -0.25}}
    source = {"source": "tests", "policy": policy}

    assert fuse(source, flags=[FlagKind.HARD_CODED]).value == 0.25


@pytest.mark.parametrize(
    "outcome", [Outcome(Verdict.INTERNAL_ERROR, None), Outcome(Verdict.ACCEPTED, None)]
)
def test_no_information_from_the_tests_is_no_reward_whatever_else_is_known(outcome):
    fused = fuse(TESTS, external("rm", 1.0), outcome=outcome)

    assert fused.value is None
    assert [part.score for part in fused.parts] == [None, 1.0]


def test_internal_error_with_a_score_is_no_reward_either():
    assert fuse(external("rm", 1.0), outcome=Outcome(Verdict.INTERNAL_ERROR, 1.0)).value is None


def test_nothing_there_is_no_reward():
    assert fuse(external("rm")).value is None
    assert fuse(external("rm", 1.0, weight=0.0)).value is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"sources": []}, "at least 1"),
        ({"sources": [TESTS, TESTS]}, "same name"),
        ({"sources": [external("rm", gates=[{"source": "tests"}])]}, "no source"),
        ({"sources": [external("rm", weight=-1.0)]}, "negative weights"),
    ],
)
def test_contradictory_fusion_is_refused(fields, message):
    with pytest.raises(ValidationError, match=message):
        _SPEC.validate_python({"policy": "fusion", **fields})


scores = st.none() | st.floats(0, 1)


@given(scores=st.lists(scores, min_size=1, max_size=6), weight=st.floats(0.1, 10))
def test_mean_stays_between_its_sources(scores, weight):
    sources = [external(str(i), score, weight=weight * (i + 1)) for i, score in enumerate(scores)]
    present = [score for score in scores if score is not None]

    value = fuse(*sources).value

    assert (value is None) == (not present)
    assert value is None or min(present) - 1e-9 <= value <= max(present) + 1e-9


@given(tests=st.floats(0, 1), style=st.floats(0, 1))
def test_opening_a_gate_never_lowers_the_reward(tests, style):
    gated = external("style", style, gates=[{"source": "tests", "at_least": 0.5}])
    always_open = external("style", style)
    outcome = Outcome(Verdict.WRONG_ANSWER, tests)

    closed, opened = (fuse(TESTS, one, outcome=outcome).value for one in (gated, always_open))

    assert closed <= opened
