"""A real service, a policy to start from, and one run of each algorithm, made once for all tests.

What is trained here is small enough for two cores and a few minutes.
"""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.training.served import Service, free_port

NEEDED = ("torch", "transformers", "tensorboard", "pyarrow", "fsspec")
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
LIMIT_S = 900


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here not in item.path.parents:
            continue
        item.add_marker(pytest.mark.timeout(LIMIT_S))
        if MISSING:
            reason = f"the extra `trainer` is not installed: {', '.join(MISSING)} missing"
            item.add_marker(pytest.mark.skip(reason=reason))


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
