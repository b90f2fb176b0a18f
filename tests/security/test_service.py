"""Attacks on the API, made beside it as a client would: over loopback, with what a client has."""

import json
import os
import subprocess
import sys

import pytest

from sandbox_service.demo.server import running_service
from tests.security.cases import PATH, REASON_ABSENT, load_attacks

ATTACKS = {attack.id: attack for attack in load_attacks() if attack.where == "client"}
KEY = "k" * 32
# Two tenants' keys; the attack on them fits where keys have names.
NEEDS_MORE = {"api-cross-tenant": "keys of two tenants"}

pytestmark = [
    pytest.mark.skipif(not PATH.is_file(), reason=REASON_ABSENT),
    pytest.mark.slow,
    pytest.mark.timeout(180),
]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    environment = os.environ | {"SANDBOX_API_KEYS": json.dumps([KEY]), "SANDBOX_WORKERS": "1"}
    folder = tmp_path_factory.mktemp("service")
    with running_service(folder, environment, ("--engine", "local")) as address:
        yield address


@pytest.mark.parametrize("name", ATTACKS)
def test_attack_on_the_api_is_held(address, name):
    if name in NEEDS_MORE:
        pytest.skip(f"needs {NEEDS_MORE[name]}")
    environment = {
        "PATH": os.environ["PATH"],
        "SBX_URL": address,
        "SBX_TOKEN": KEY,
        "SBX_RUN": "/v1/submissions",
        "SBX_HEALTH": "/healthz",
        "SBX_GET": "/v1/submissions/{id}",
    }
    done = subprocess.run(
        [sys.executable, "-I", "-c", ATTACKS[name].code],
        env=environment, capture_output=True, text=True, check=False, timeout=150,
    )  # fmt: skip
    text = done.stdout + done.stderr
    assert [mark for mark in ATTACKS[name].must_not_print if mark in text] == [], text
    assert [mark for mark in ATTACKS[name].must_print if mark not in text] == [], text
