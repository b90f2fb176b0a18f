"""A run that can be killed: `resumable.py CONFIG`, rewarded by a service in memory."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from sandbox_service.training.config import read_config
from tests.training.fake_client import FakeClient
from tests.training.runs import run

if __name__ == "__main__":
    run(read_config(Path(sys.argv[1])), "ppo", FakeClient())
