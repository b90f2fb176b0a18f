"""A real service, a policy to start from, and one run of each algorithm, made once for all tests.

What is trained here is small enough for two cores and a few minutes.
"""

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.training.served import Service, free_port

NEEDED = (
    "fsspec", "matplotlib", "peft", "pyarrow", "safetensors", "tensorboard", "torch",
    "transformers", "yaml",
)  # fmt: skip
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
REASON = f"the extra `trainer` is not installed: {', '.join(MISSING)} missing"
IS_REQUIRED = "trainer" in os.environ.get("SANDBOX_TEST_REQUIRE", "").split()
LIMIT_S = 600


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here not in item.path.parents:
            continue
        item.add_marker(pytest.mark.timeout(LIMIT_S))
        if MISSING and not IS_REQUIRED:
            item.add_marker(pytest.mark.skip(reason=REASON))


def pytest_runtest_setup(item: pytest.Item) -> None:
    if MISSING and Path(__file__).parent in item.path.parents:
        pytest.fail(REASON)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service on the best engine of this machine."""
    served = Service(tmp_path_factory.mktemp("service"), free_port())
    served.start()
    yield served
    served.stop()


@pytest.fixture(scope="session")
def warm_policy(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Folder of a policy that knows the language and prefers programs that are too easy."""
    from tests.training.runs import warm_started

    return warm_started(tmp_path_factory.mktemp("warm"))


@pytest.fixture(scope="session")
def ppo_metrics(
    service: Service, warm_policy: str, tmp_path_factory: pytest.TempPathFactory
) -> list[dict[str, float]]:
    """Metrics of an undisturbed run of PPO."""
    from tests.training.runs import from_policy, run

    folder = tmp_path_factory.mktemp("ppo")
    return run(from_policy(folder, warm_policy, service.url), "ppo")
