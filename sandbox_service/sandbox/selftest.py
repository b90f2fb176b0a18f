"""Real attacks on a real sandbox: whether the walls hold on this machine, now.

Each attack is a program under `attacks/`. It prints `LEAK:` and what it reached, or `HELD:`. An
attack that says neither, or ends otherwise than expected, has not shown that the wall holds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox_service.errors import WallBroken
from sandbox_service.sandbox.base import SandboxSource
from sandbox_service.schema.limits import Limits
from sandbox_service.schema.run import Ending, Execution, RunKind, RunReport, RunRequest

_FOLDER = Path(__file__).parent / "attacks"
_SOURCE = "main.py"
_PROGRAM = b"import sys\nexec(open(f'attacks/{sys.argv[1]}.py').read())\n"
_USED_ONCE = "container"
_DETAIL_CHARS = 300
_USUAL = Limits()
_HELD, _LEAK = b"HELD:", b"LEAK:"
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/work", "LANG": "C.UTF-8"}


@dataclass(frozen=True)
class Attack:
    """One attack and the wall that must hold it."""

    name: str
    """Its program, and its name in messages."""

    wall: str
    """What must be true, in a sentence."""

    ending: Ending = Ending.EXITED
    """How the run must end; a limit says all, an exit must come with `HELD:`."""

    limits: Limits = _USUAL
    """What the run is allowed."""

    times: int = 1
    """Runs, of which each looks for what the one before left behind."""

    needs_nesting: bool = False
    """Whether only a jail inside the sandbox can hold it; a container used once has the rest."""

    def code(self) -> bytes:
        """Returns the program."""
        return (_FOLDER / f"{self.name}.py").read_bytes()


@dataclass(frozen=True)
class Breach:
    """A wall that did not hold, or was not shown to."""

    attack: Attack
    detail: str


AT_START = (
    Attack("posture", "programs have no privileges and run under a filter"),
    Attack("environment", "programs inherit nothing"),
    Attack("init", "the jail's init and the runner can be neither read nor traced"),
    Attack(
        "files",
        "nothing outside a run's own folders can be written, nothing of the host read",
        needs_nesting=True,
    ),
    Attack("namespaces", "programs can make, enter or mount nothing"),
    Attack("kernel", "programs do not reach the kernel's rarely used parts"),
    Attack(
        "proc", "/proc, /sys and /dev tell nothing of the machine or of others", needs_nesting=True
    ),
    Attack("network", "there is no network"),
    Attack("leftovers", "a run leaves nothing to the next", times=2),
)
_LASTING = Limits(cpu_time_s=0.5, wall_time_s=5.0)
WITH_LIMITS = (
    *AT_START,
    Attack("forks", "processes are counted and limited"),
    Attack("memory", "memory of all processes together is limited", Ending.MEMORY_LIMIT),
    Attack("disk", "bytes and files on disk are limited"),
    Attack("output", "output is limited while it streams", Ending.OUTPUT_LIMIT),
    Attack(
        "cpu", "processor time of all processes together is limited", Ending.CPU_LIMIT, _LASTING
    ),
)


def breaches(source: SandboxSource, image: str, attacks: Iterable[Attack]) -> list[Breach]:
    """Runs attacks one after the other in one sandbox and returns those that were not held.

    Raises:
        SandboxError: no sandbox could run them.
    """
    runs = [attack for attack in attacks for _ in range(attack.times)]
    report = source.execute(_execution(runs, image), fresh=False)
    is_nested = report.sandbox is None or report.sandbox.isolation != _USED_ONCE
    found: dict[str, Breach] = {}
    for attack, run in zip(runs, report.runs, strict=True):
        detail = _leak(attack, run)
        if detail and (is_nested or not attack.needs_nesting):
            found.setdefault(attack.name, Breach(attack, detail))
    return list(found.values())


def require_walls(source: SandboxSource, image: str, attacks: Iterable[Attack] = AT_START) -> None:
    """Returns if every wall holds.

    Raises:
        WallBroken: one does not; the message says which.
        SandboxError: no sandbox could run the attacks.
    """
    found = breaches(source, image, attacks)
    if found:
        told = "; ".join(
            f"{each.attack.name} ({each.attack.wall}): {each.detail}" for each in found
        )
        raise WallBroken(f"walls that do not hold here: {told}")


def _execution(attacks: Sequence[Attack], image: str) -> Execution:
    """All of them are one program, so that engines whose sandboxes are used once need one."""
    files = {f"attacks/{attack.name}.py": attack.code() for attack in attacks}
    return Execution(
        image=image,
        source=_SOURCE,
        files={_SOURCE: _PROGRAM, **files},
        runs=tuple(
            RunRequest(kind=RunKind.PYTHON, argv=(attack.name,), limits=attack.limits)
            for attack in attacks
        ),
        env=_ENVIRONMENT,
    )


def _leak(attack: Attack, run: RunReport) -> str:
    """Returns what is wrong; empty when the wall held."""
    printed = run.stdout + run.stderr
    _, leak, reached = printed.partition(_LEAK)
    if leak:
        return _text(leak + reached[:_DETAIL_CHARS])
    said = _text(printed[-_DETAIL_CHARS:])
    if run.ending is not attack.ending:
        return f"ended as {run.ending.value} instead of {attack.ending.value}: {said}"
    if attack.ending is Ending.EXITED and not printed.startswith(_HELD):
        return f"the attack did not come to an end: {said}"
    return ""


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").strip()
