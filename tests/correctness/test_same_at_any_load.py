"""The same suite, scored twice, in another order and under load, gives the same results."""

import json
import re
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.correctness.cases import CASES_DIR, REASON_ABSENT, load_cases
from tests.correctness.test_handed_cases import KNOWN
from tests.e2e.conftest import client  # noqa: F401 - a fixture

CONCURRENT = 32
# Output that a limit cuts off depends on when the program was stopped.
CUT_OFF = frozenset({"time_limit_exceeded", "memory_limit_exceeded", "output_limit_exceeded"})

# Compilers name their scratch files by chance, and the linker names them in its messages.
SCRATCH_FILE = re.compile(r"/tmp/cc\w+")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not CASES_DIR.is_dir(), reason=REASON_ABSENT),
]


def bodies() -> list[dict[str, object]]:
    cases = [*load_cases("correctness"), *load_cases("hacking")]
    return [c.body for c in cases if c.language in KNOWN and not c.is_refused]


def score(client: httpx.Client, body: dict[str, object], round_name: str) -> str:  # noqa: F811
    sent = {**body, "id": f"{body['id']}-{round_name}"}
    answer = client.post("/v1/submissions", params={"wait": 120}, json=sent)
    assert answer.status_code == 200, answer.text
    text = json.dumps(without_measurements(answer.json()), sort_keys=True)
    return SCRATCH_FILE.sub("/tmp/cc", text)


def without_measurements(result: dict) -> dict:
    """What must be the same: everything but what was measured, and the id that we chose."""
    kept = {name: value for name, value in result.items() if name not in {"id", "timing"}}
    for step in [*kept["tests"], *([kept["compile"]] if kept["compile"] else [])]:
        del step["usage"]
        if step["verdict"] in CUT_OFF:
            del step["stdout"], step["stderr"]
    return kept


def test_results_are_the_same_in_another_order_and_at_32_concurrent(client):  # noqa: F811
    sent = bodies()
    one_by_one = [score(client, body, "one") for body in sent]
    with ThreadPoolExecutor(CONCURRENT) as threads:
        at_once = list(threads.map(lambda body: score(client, body, "many"), reversed(sent)))
    pairs = zip(sent, one_by_one, reversed(at_once), strict=True)
    different = {str(body["id"]): (a, b) for body, a, b in pairs if a != b}
    assert different == {}
