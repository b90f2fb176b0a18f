"""A service that is killed for half a minute changes how long a run takes, and nothing else."""

import threading
import time

from tests.training.runs import from_policy, metrics_of, run, without_times
from tests.training.served import Service, free_port

OUTAGE_S = 30.0
SMALL = {
    "steps": 6,
    "rollout": {"problems_per_step": 8},
    "evaluation": {"every_steps": 0, "problems": 4},
}


def _kill_for_a_while(service: Service, config, is_killed: threading.Event) -> None:
    while len(metrics_of(config)) < 3:
        time.sleep(0.05)
    service.kill()
    is_killed.set()
    time.sleep(OUTAGE_S)
    service.start()


def test_run_service_killed_for_half_a_minute_has_the_metrics_of_an_undisturbed_one(
    warm_policy, tmp_path, tmp_path_factory
):
    service = Service(tmp_path_factory.mktemp("mortal"), free_port())
    service.start()
    calm = run(from_policy(tmp_path / "calm", warm_policy, service.url, **SMALL), "ppo")
    config = from_policy(tmp_path / "disturbed", warm_policy, service.url, **SMALL)
    is_killed = threading.Event()
    killer = threading.Thread(target=_kill_for_a_while, args=(service, config, is_killed))
    killer.start()

    disturbed = run(config, "ppo")

    killer.join()
    service.stop()
    assert is_killed.is_set()
    assert max(row.get("time/paused_s", 0.0) for row in disturbed) > OUTAGE_S / 2
    assert without_times(disturbed) == without_times(calm)
