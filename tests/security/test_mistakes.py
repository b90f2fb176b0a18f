"""Fifteen mistakes that other sandboxes were found to make; each test is named for what holds here.

The first half is about what surrounds a run: its place, its limits, its neighbours. The second is
about what crosses the wall: artifacts, output, and the word on how a run ended.
"""

import mmap
import os
import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from sandbox_service.api.auth import check_binding
from sandbox_service.errors import SettingsError
from sandbox_service.sandbox import hardening
from sandbox_service.schema.limits import GIB, MIB, Limits
from sandbox_service.schema.run import CompileRequest, Execution, RunKind, RunRequest
from sandbox_service.schema.submission import Submission
from sandbox_service.schema.verdict import Verdict
from sandbox_service.settings import Settings
from tests.security import outside
from tests.security.service import Service, honest

pytestmark = pytest.mark.timeout(120)

SPEC = hardening.ContainerSpec(
    image="image", boot="", memory_bytes=64 * MIB, owner="me", instance="here", runtime=None
)


def python(code: str, **fields) -> Submission:
    body = {"language": "python", "code": code, "tests": [{"expected_stdout": "held\n"}]}
    return Submission.model_validate(body | fields)


def build(command: str, then: str) -> Execution:
    """A compile step that runs a shell command, and a run that looks at what came of it."""
    return Execution(
        image="native",
        source="build.sh",
        files={"build.sh": command.encode()},
        compile=CompileRequest(
            argv=("/bin/bash", "build.sh"), artifacts=("main",), limits=Limits()
        ),
        runs=(RunRequest(kind=RunKind.EXEC, argv=("/bin/bash", "-c", then)),),
        env={"PATH": "/usr/bin:/bin"},
    )


# What surrounds a run


def test_shared_memory_folder_is_not_shared_between_runs(service: Service):
    code = "import os\nprint(*os.listdir('/dev/shm') or ['held'])\nopen('/dev/shm/mark', 'w')"
    assert service.run(python(code, tests=[{"expected_stdout": "held\n"}] * 2)).passed == 2


def test_container_is_never_privileged_and_never_without_its_filter():
    host = hardening.container_config(SPEC)["HostConfig"]
    assert host["Privileged"] is False
    assert not any("unconfined" in option for option in host["SecurityOpt"])
    assert any(option.startswith("seccomp={") for option in host["SecurityOpt"])


def test_memory_limit_leaves_no_swap():
    host = hardening.container_config(SPEC)["HostConfig"]
    assert host["MemorySwap"] == host["Memory"] == hardening.memory_limit(SPEC.memory_bytes)


@pytest.mark.parametrize("field", sorted(Limits.model_fields))
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), 1e300])
def test_no_number_means_unlimited(field, value):
    with pytest.raises(ValidationError):
        Limits.model_validate({field: value})


def test_service_without_a_key_is_for_this_machine_only():
    with pytest.raises(SettingsError):
        check_binding(Settings(host="0.0.0.0"))


def test_every_result_says_what_isolated_it(service: Service, settings: Settings):
    info = service.run(honest("python")).sandbox
    assert (info.engine, info.isolation) == (settings.engine, "nested")


def test_environment_of_the_worker_stays_outside(service: Service, canaries: str):
    code = """
import glob, os
found = [os.environ]
for path in glob.glob('/proc/*/environ'):
    try:
        found.append(open(path, 'rb').read())
    except OSError:
        pass
print('held' if 'CANARY' not in repr(found) else found)
"""
    assert service.run(python(code)).verdict is Verdict.ACCEPTED
    if os.getuid() != 0:
        return  # only root can look into processes of another user namespace
    for pid in outside.processes_of(service.sandbox()):
        assert canaries.encode() not in Path(f"/proc/{pid}/environ").read_bytes()


def test_reserved_addresses_are_not_memory(service: Service):
    code = f"""
import mmap
mmap.mmap(-1, {4 * GIB}, flags={mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000}, prot=0)
print('held')
"""
    assert service.run(python(code)).verdict is Verdict.ACCEPTED


def test_memory_of_many_small_processes_is_one_sum(service: Service):
    code = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        block = bytearray(os.urandom(1 << 20) * 30)
        time.sleep(3)
        os._exit(0)
for _ in range(8):
    os.wait()
print('held')
"""
    limits = {"memory_bytes": 96 * MIB}
    assert service.run(python(code, limits=limits)).verdict is Verdict.MEMORY_LIMIT_EXCEEDED


def test_nothing_that_a_program_could_start_has_more_rights_than_it(service: Service):
    code = """
import os, stat
found = []
for folder in ('/usr/bin', '/usr/sbin', '/usr/local/bin'):
    for entry in os.scandir(folder):
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISREG(mode) and mode & 0o6000:
            found.append(entry.path)
flags = {line.split()[4]: line.split()[5] for line in open('/proc/self/mountinfo')}
print('held' if not found or 'nosuid' in flags['/usr'] else found)
"""
    assert service.run(python(code)).verdict is Verdict.ACCEPTED


def test_candidate_sees_nothing_of_the_tests_that_run_beside_it(service: Service):
    code = """
import os
def processes():
    return sorted(int(name) for name in os.listdir('/proc') if name.isdigit())
def descriptors():
    return [fd for fd in range(3, 64) if os.path.exists(f'/proc/1/fd/{fd}')]
def text_of_tests():
    found = []
    for folder in ('/work', '/program', '/tmp'):
        for root, _, names in os.walk(folder):
            found += [name for name in names if b'mark-' + b'7f3' in open(f'{root}/{name}', 'rb').read()]
    return found
"""
    tests = """
assert set(processes()) <= {1, 2}, 'mark-7f3'
assert descriptors() == []
assert text_of_tests() == []
"""
    result = service.run(python(code, tests=[{"test_code": tests}]))
    assert (result.verdict, result.trust) == (Verdict.ACCEPTED, "isolated"), result.tests


# What crosses the wall


@pytest.mark.parametrize(
    "trick",
    ["ln -s /etc/passwd main", "mkfifo main", "mkdir main", "echo x >a; ln a main", "true"],
)
def test_artifact_is_a_file_with_one_name_or_it_is_none(service: Service, trick):
    report = service.execute(build(trick, "ls /program"))
    assert report.runs[0].stdout == b"build.sh\n"


def test_set_id_bits_do_not_come_out_with_an_artifact(service: Service):
    report = service.execute(build("echo x >main; chmod 6777 main", "stat -c%a /program/main"))
    assert report.runs[0].stdout == b"555\n"


def test_process_that_the_compiler_left_is_gone_before_the_run(service: Service):
    daemon = "setsid bash -c 'while sleep 0.05; do date >>main; done' & echo early >main"
    report = service.execute(
        build(daemon, "sleep 0.2; cat /program/main; ls /proc | grep -c ^[0-9]")
    )
    assert report.runs[0].stdout.startswith(b"early\n")
    assert int(report.runs[0].stdout.split()[-1]) <= len(["init", "bash", "ls", "grep"])


def test_program_may_say_what_it_likes(service: Service):
    code = "text = 'import os; os.system(\"rm -rf /\"); __import__(\"subprocess\")'\nprint('held')"
    assert service.run(python(code)).verdict is Verdict.ACCEPTED


@pytest.mark.parametrize("code", [1, 124, 134, 137, 139, 152, 153, 255])
def test_exit_code_is_never_taken_for_a_limit(service: Service, code):
    result = service.run(python(f"print('Killed'); raise SystemExit({code})"))
    assert (result.verdict, result.tests[0].exit_code) == (Verdict.RUNTIME_ERROR, code)


@pytest.mark.parametrize("number", [4, 6, 9, 11, 24, 31])
def test_signal_of_the_programs_own_is_never_taken_for_a_limit(service: Service, number):
    result = service.run(python(f"import os; os.kill(os.getpid(), {number})"))
    assert (result.verdict, result.tests[0].signal) == (Verdict.RUNTIME_ERROR, number)


def test_stream_held_open_by_a_daemon_is_not_waited_for(service: Service):
    code = """
import os, time
if os.fork() == 0:
    os.setsid()
    time.sleep(60)
print('held')
"""
    result = service.run(python(code))
    assert result.verdict is Verdict.ACCEPTED
    assert result.tests[0].usage.wall_time_s < 30


@pytest.mark.parametrize("bound", [1, 4096, MIB])
def test_output_beyond_its_bound_is_cut_where_it_streams(service: Service, bound):
    code = "import os\nwhile True: os.write(1, b'x' * 65536)"
    result = service.run(python(code, limits={"output_bytes": bound}))
    assert result.verdict is Verdict.OUTPUT_LIMIT_EXCEEDED
    assert re.fullmatch("x+", result.tests[0].stdout)
    assert len(result.tests[0].stdout) <= bound


def test_words_of_the_runners_protocol_mean_nothing_on_standard_output(service: Service):
    code = """
import os
for fd in range(1, 64):
    try:
        os.write(fd, b'ENDED\\0\\0\\0' + bytes(400))
        os.write(fd, b'{"reports": [], "done": true}')
    except OSError:
        pass
raise SystemExit(3)
"""
    result = service.run(python(code))
    assert (result.verdict, result.tests[0].exit_code) == (Verdict.RUNTIME_ERROR, 3)


def test_expected_output_is_nowhere_inside(service: Service, canaries: str):
    code = """
import os
found = []
for folder in ('/work', '/tmp', '/program', '/dev/shm'):
    for root, folders, names in os.walk(folder):
        for name in names:
            try:
                with open(os.path.join(root, name), 'rb') as file:
                    if b'SBX-' + b'CANARY' in file.read(1 << 16):
                        found.append(name)
            except OSError:
                pass
print(*found)
"""
    test = {"expected_stdout": canaries}
    result = service.run(python(code, tests=[test], limits={"cpu_time_s": 10}))
    assert (result.verdict, result.tests[0].stdout) == (Verdict.WRONG_ANSWER, "\n")
