"""What counts as a wall that holds."""

import pytest

from sandbox_service.errors import WallBroken
from sandbox_service.sandbox import selftest
from sandbox_service.sandbox.fake import FakeEngine, exits
from sandbox_service.sandbox.pool import Pool
from sandbox_service.schema.run import Ending, RunReport
from sandbox_service.settings import Settings

POSTURE, MEMORY = (
    selftest.AT_START[0],
    next(attack for attack in selftest.WITH_LIMITS if attack.ending is Ending.MEMORY_LIMIT),
)


@pytest.fixture
def examine():
    def found(attack, program) -> list[str]:
        pool = Pool(FakeEngine({selftest._PROGRAM: program}), Settings())
        try:
            return [breach.detail for breach in selftest.breaches(pool, "python", [attack])]
        finally:
            pool.close()

    return found


def ends(ending: Ending, **fields):
    return lambda _: RunReport(ending=ending, **fields)


def test_wall_holds_when_the_attack_says_so(examine):
    assert examine(POSTURE, exits(stdout=b"HELD: all\n")) == []


def test_leak_is_told_in_the_attacks_words(examine):
    assert examine(POSTURE, exits(stdout=b"HELD: half\nLEAK: is root\n")) == ["LEAK: is root"]


def test_leak_on_standard_error_counts_too(examine):
    said = ends(Ending.OUTPUT_LIMIT, stderr=b"LEAK: 64 MiB")
    assert examine(MEMORY, said) == ["LEAK: 64 MiB"]


@pytest.mark.parametrize("said", [b"", b"Traceback (most recent call last)", b"SKIP: no"])
def test_attack_that_does_not_come_to_its_end_shows_nothing(examine, said):
    (detail,) = examine(POSTURE, exits(stdout=said))
    assert "did not come to an end" in detail


@pytest.mark.parametrize("ending", [Ending.SIGNALED, Ending.CPU_LIMIT, Ending.WALL_LIMIT])
def test_attack_that_ends_otherwise_shows_nothing(examine, ending):
    (detail,) = examine(POSTURE, ends(ending, stdout=b"HELD: all"))
    assert f"ended as {ending.value}" in detail


def test_limit_holds_when_the_run_ends_by_it(examine):
    assert examine(MEMORY, ends(Ending.MEMORY_LIMIT)) == []


def test_limit_that_lets_the_run_end_well_does_not_hold(examine):
    (detail,) = examine(MEMORY, exits(stdout=b"HELD: not asked"))
    assert "instead of memory_limit" in detail


def test_broken_wall_is_named_with_what_should_be_true():
    pool = Pool(FakeEngine(), Settings())
    with pytest.raises(WallBroken, match=r"posture \(programs have no privileges"):
        selftest.require_walls(pool, "python", [POSTURE])
    pool.close()


def test_second_run_of_an_attack_is_looked_at_as_well(examine):
    twice = next(attack for attack in selftest.AT_START if attack.times == 2)
    answers = iter([exits(stdout=b"HELD: first"), exits(stdout=b"LEAK: a mark")])

    def program(run):
        return next(answers)(run)

    assert examine(twice, program) == ["LEAK: a mark"]


@pytest.mark.parametrize("attack", selftest.WITH_LIMITS, ids=lambda attack: attack.name)
def test_attack_is_a_program_that_can_say_that_it_got_through(attack):
    compile(attack.code(), attack.name, "exec")
    assert b"LEAK:" in attack.code()


def test_attacks_at_start_do_not_exhaust_anything():
    assert {attack.ending for attack in selftest.AT_START} == {Ending.EXITED}
    assert set(selftest.AT_START) < set(selftest.WITH_LIMITS)
