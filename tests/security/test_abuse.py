"""Every attack program, on every engine: what it prints, its verdict, and the host after it."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from sandbox_service.schema.limits import MIB
from sandbox_service.schema.result import Result
from sandbox_service.schema.submission import Submission
from sandbox_service.schema.verdict import Verdict
from tests.security import outside
from tests.security.cases import IN_A_SANDBOX, PATH, REASON_ABSENT, Attack, load_attacks
from tests.security.halves import OTHER_HALVES, shortened
from tests.security.service import Service, honest, printed

ATTACKS = [attack for attack in load_attacks() if attack.where in IN_A_SANDBOX]
ALONE = [attack for attack in ATTACKS if not attack.protocol.startswith("pair:")]
PAIRS = [attack for attack in ATTACKS if attack.protocol.startswith("pair:")]
RUNS_IN_ONE_SANDBOX = {"twice": 1, "twice-same-box": 2}
# What an attack may leave in the runner's memory: freed and kept for the next run.
MAY_GROW_BYTES = 16 * MIB
# Compilers and languages that are not offered; the attack says so itself.
NOT_OFFERED = "SKIP:"

pytestmark = [
    pytest.mark.skipif(not PATH.is_file(), reason=REASON_ABSENT),
    pytest.mark.timeout(120),
]


def assert_held(attack: Attack, result: Result) -> None:
    text = printed(result)
    if NOT_OFFERED in text:
        pytest.skip(text.strip())
    assert [mark for mark in attack.must_not_print if mark in text] == []
    assert result.verdict in attack.verdicts, text[:1000]
    assert [mark for mark in attack.must_print if mark not in text] == []


@pytest.mark.parametrize("attack", ALONE, ids=lambda attack: attack.id)
def test_attack_is_held(service: Service, attack: Attack):
    peaceful = honest(attack.language)
    assert service.run(peaceful).verdict is Verdict.ACCEPTED
    sandbox = service.sandbox()
    inside, files, mounts = outside.look_into(sandbox), outside.files(), outside.mounts_of("self")
    memory = outside.memory_of(sandbox)
    submission = attack.submission(RUNS_IN_ONE_SANDBOX.get(attack.protocol, 1))

    for _ in range(2 if attack.protocol == "twice" else 1):
        assert_held(attack, service.run(submission))

    assert service.run(peaceful).verdict is Verdict.ACCEPTED
    now = outside.look_into(service.sandbox())
    assert (now.processes, now.cgroups) == (inside.processes, inside.cgroups)
    if service.sandbox() is sandbox:
        assert now == inside
        assert outside.memory_of(sandbox) < memory + MAY_GROW_BYTES
    assert (outside.files(), outside.mounts_of("self")) == (files, mounts)


@pytest.mark.parametrize("attack", PAIRS, ids=lambda attack: attack.id)
def test_attack_on_a_neighbour_is_held(service: Service, neighbour: Service, attack: Attack):
    name = attack.protocol.split(":")[1]
    ours = shortened(attack).submission()
    theirs = Submission.model_validate(
        {**ours.model_dump(), "language": "python", "code": OTHER_HALVES[name]}
    )
    with ThreadPoolExecutor() as threads:
        first = threads.submit(service.run, ours)
        second = threads.submit(neighbour.run, theirs)
        assert_held(attack, first.result())
        assert_held(attack, second.result())
