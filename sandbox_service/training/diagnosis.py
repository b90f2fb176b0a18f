"""Names the well-known illnesses of a run from its metrics, with what they show and the cure.

Needs no torch: it reads what `tracking` wrote.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

Row = Mapping[str, float]
_WINDOW = 10
_LEAST_ROWS = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """One illness."""

    name: str
    """What it is called."""
    evidence: str
    """What the metrics show."""
    cure: str
    """What to change."""


def diagnose(rows: Sequence[Row]) -> list[Finding]:
    """Looks at the metrics of a run, a step each and oldest first; healthy runs have none."""
    history = _History(rows)
    found = [check(history) for check in _CHECKS]
    return [finding for finding in found if finding is not None]


class _History:
    """Averages of a metric at the start and at the end of a run."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows

    def series(self, name: str) -> list[float]:
        return [row[name] for row in self._rows if name in row]

    def first(self, name: str) -> float | None:
        values = self.series(name)
        return fmean(values[:_WINDOW]) if len(values) >= _LEAST_ROWS else None

    def last(self, name: str) -> float | None:
        values = self.series(name)
        return fmean(values[-_WINDOW:]) if len(values) >= _LEAST_ROWS else None

    def change(self, name: str) -> float | None:
        first, last = self.first(name), self.last(name)
        return None if first is None or last is None else last - first


def _sparse_rewards(history: _History) -> Finding | None:
    mean, decided = history.last("reward/mean"), history.last("group/decided_frac")
    if mean is None or decided is None or decided < 0.9 or mean > 0.1:
        return None
    return Finding(
        "sparse rewards",
        f"{decided:.0%} of the groups have one score for all, the mean is {mean:.2f}",
        "warm up with SFT, reward parts of the tests (pass_rate), start with easier problems "
        "(curriculum_steps), sample larger groups",
    )


def _solved(history: _History) -> Finding | None:
    mean, decided = history.last("reward/mean"), history.last("group/decided_frac")
    if mean is None or decided is None or decided < 0.9 or mean < 0.9:
        return None
    return Finding(
        "nothing left to learn",
        f"{decided:.0%} of the groups have one score for all, the mean is {mean:.2f}",
        "take harder problems, filter_decided = true, or stop",
    )


def _kl_blow_up(history: _History) -> Finding | None:
    series = history.series("objective/kl")
    last = history.last("objective/kl")
    if last is None or len(series) < 2 * _LEAST_ROWS:
        return None
    before = fmean(series[: len(series) // 2])
    if last < 10.0 or last < 4 * max(before, 0.1):
        return None
    return Finding(
        "KL blow-up",
        f"the KL to the reference went from {before:.1f} to {last:.1f} nats a completion",
        "raise kl_coef or set target_kl, lower actor_lr, fewer update_epochs",
    )


def _kl_collapse(history: _History) -> Finding | None:
    kl, gain, coef = (
        history.last("objective/kl"),
        history.change("reward/mean"),
        history.last("objective/kl_coef"),
    )
    steps = len(history.series("objective/kl"))
    if kl is None or gain is None or coef is None or steps < 3 * _WINDOW:
        return None
    if kl > 0.01 or abs(gain) > 0.02 or coef <= 0.0 or (history.last("reward/mean") or 0) > 0.9:
        return None
    return Finding(
        "KL collapse",
        f"after {steps} steps the policy is {kl:.3f} nats from the reference and no better",
        "lower kl_coef or raise target_kl, raise actor_lr",
    )


def _instability(history: _History) -> Finding | None:
    approx_kl, clipfrac = history.last("policy/approx_kl"), history.last("policy/clipfrac")
    if approx_kl is None or clipfrac is None or (approx_kl < 0.1 and clipfrac < 0.4):
        return None
    return Finding(
        "instability",
        f"updates move the policy by {approx_kl:.2f} nats a token and clip {clipfrac:.0%}",
        "lower actor_lr, fewer update_epochs, larger batches, a smaller policy_kl_stop",
    )


def _critic_lag(history: _History) -> Finding | None:
    explained = history.last("value/explained_variance")
    steps = len(history.series("value/explained_variance"))
    spread = history.last("reward/std")
    if explained is None or steps < 2 * _WINDOW or explained > 0.0 or (spread or 0.0) < 0.05:
        return None
    return Finding(
        "critic lag",
        f"after {steps} steps the critic explains {explained:.0%} of the returns' variance",
        "raise critic_lr, use critic_warmup_steps, give the critic a model of its own, or GRPO",
    )


def _length_hacking(history: _History) -> Finding | None:
    first, last = history.first("response/length_mean"), history.last("response/length_mean")
    held_out = history.change("eval/reward")
    if first is None or last is None or last < 1.5 * first or (held_out or 0.0) > 0.02:
        return None
    return Finding(
        "length hacking",
        f"completions grew from {first:.0f} to {last:.0f} tokens and held-out reward did not",
        "add a `length` source with a soft limit, loss_level = token or fixed",
    )


def _format_hacking(history: _History) -> Finding | None:
    style, tests = history.change("reward/style_mean"), history.change("reward/tests_mean")
    if style is None or tests is None or style < 0.1 or tests > -0.02:
        return None
    return Finding(
        "format hacking",
        f"style rose by {style:.2f} while tests fell by {-tests:.2f}",
        "gate style behind tests, and lower its weight",
    )


def _reward_hacking(history: _History) -> Finding | None:
    held_out = history.series("eval/reward")
    train = history.change("reward/mean")
    if train is None or len(held_out) < 3 or train < 0.1:
        return None
    fall = max(held_out) - held_out[-1]
    if fall < 0.05:
        return None
    return Finding(
        "reward hacking",
        f"training reward rose by {train:.2f}, held-out fell by {fall:.2f} from its best",
        "read samples.html, look at the results' flags, add tests, raise kl_coef, stop earlier",
    )


def _entropy_collapse(history: _History) -> Finding | None:
    first, last = history.first("policy/entropy"), history.last("policy/entropy")
    mean = history.last("reward/mean")
    if first is None or last is None or mean is None or first < 0.01:
        return None
    if last > 0.1 * first or mean > 0.8:
        return None
    return Finding(
        "entropy collapse",
        f"entropy fell from {first:.3f} to {last:.3f} nats a token at a reward of {mean:.2f}",
        "raise clip_coef_high (clip-higher), ent_coef or kl_coef; lower actor_lr",
    )


def _forgetting(history: _History) -> Finding | None:
    names = {name for row in history._rows for name in row}  # noqa: SLF001 - of this module
    domains = sorted(
        name for name in names if name.startswith("eval/") and name.endswith("_reward")
    )
    for name in domains:
        values = history.series(name)
        if len(values) >= 3 and max(values) - values[-1] > 0.15:
            domain = name.removeprefix("eval/").removesuffix("_reward")
            return Finding(
                "forgetting",
                f"{domain} fell from {max(values):.2f} to {values[-1]:.2f} on held-out problems",
                "raise sampler.floor, or kl_coef",
            )
    return None


def _ill_service(history: _History) -> Finding | None:
    masked = history.last("reward/masked_frac")
    if masked is None or masked < 0.05:
        return None
    return Finding(
        "ill service",
        f"{masked:.0%} of the completions have no reward",
        "look at the service's dashboard and `sandbox-service doctor`; no cure is here",
    )


_CHECKS: tuple[Callable[[_History], Finding | None], ...] = (
    _sparse_rewards,
    _solved,
    _kl_blow_up,
    _kl_collapse,
    _instability,
    _critic_lag,
    _length_hacking,
    _format_hacking,
    _reward_hacking,
    _entropy_collapse,
    _forgetting,
    _ill_service,
)
