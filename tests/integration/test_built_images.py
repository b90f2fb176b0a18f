"""What is inside the images that were built."""

import os

import pytest

from sandbox_service.doctor.engines import examine_docker
from sandbox_service.doctor.finding import State
from sandbox_service.languages import load_languages
from sandbox_service.sandbox.daemon import connect
from sandbox_service.sandbox.images import families, image_name
from sandbox_service.settings import Settings

SETTINGS = Settings()
FAMILIES = pytest.mark.parametrize("family", families(SETTINGS))
pytestmark = [pytest.mark.docker, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def daemon():
    missing = [each for each in examine_docker(SETTINGS) if each.state is State.MISSING]
    if missing:
        reason = "; ".join(f"{each.topic}: {each.found}" for each in missing)
        if "docker" in os.environ.get("SANDBOX_TEST_REQUIRE", "").split():
            pytest.fail(f"docker is required: {reason}")
        pytest.skip(reason)
    client = connect(SETTINGS, timeout_s=100.0)
    yield client
    client.close()


def run(daemon, family, command, **options):
    output = daemon.containers.run(
        image_name(SETTINGS, family),
        ["/bin/bash", "-c", command],
        network_mode="none",
        remove=True,
        **options,
    )
    return output.decode()


@FAMILIES
def test_image_has_no_set_id_files_and_no_package_caches(daemon, family):
    command = (
        "find / -xdev -type f -perm /6000; find /var/lib/apt/lists /var/cache -type f | head -5"
    )
    assert run(daemon, family, command, user="0") == ""


@FAMILIES
def test_image_runs_as_a_user_without_a_home(daemon, family):
    assert run(daemon, family, 'id -u; id -G; ls -d ~"$(id -un)" 2>/dev/null || true') == (
        "61000\n61000\n"
    )


@FAMILIES
def test_image_has_a_python_new_enough_for_the_runner(daemon, family):
    version = run(daemon, family, "python3 -I -c 'import sys; print(*sys.version_info[:2])'")
    assert tuple(map(int, version.split())) >= (3, 11)


def test_precompiled_header_is_taken_with_the_flags_of_the_language(daemon):
    step = load_languages(SETTINGS.images_dir).get("cpp").compile
    command = (
        "cd /tmp && printf '#include <bits/stdc++.h>\\nint main() {}\\n' > main.cpp && "
        f"{' '.join(step.argv)} -H 2>&1 | head -1"
    )
    first_header = run(daemon, "native", command)
    assert first_header.startswith("! ")
    assert first_header.rstrip().endswith(".gch")
