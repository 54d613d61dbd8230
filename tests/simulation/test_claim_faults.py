"""Claims of devices under faults: a fixed range of seeds; `python -m tests.simulation --devices` runs many more."""

from collections import Counter

import pytest

from posse.engine.events import ClaimWritten
from tests.simulation.device_run import DeviceRun, DeviceScheduler
from tests.simulation.run import SimulationFailed
from tests.support.effort import up_to

SEEDS = max(15, up_to(60))  # Fewer see too few crashes to say anything.


def test_no_device_is_given_twice_and_none_stays_allocated_to_nobody():
    counts = Counter()
    for seed in range(SEEDS):
        counts += DeviceRun(seed).execute()
    # A simulation in which nothing happens would hold every law.
    assert counts["Bind"] > SEEDS
    assert counts["crashes"] > SEEDS / 4


def test_a_scheduler_that_forgets_what_it_writes_is_found(monkeypatch):
    """Devices must be held until the outcome of the write is known."""

    def forgetful(self, event):
        self.is_stirred = True
        self.engine.absorb(event)

    def decide(self):
        decisions = original(self)
        for decision in decisions:
            for one in getattr(decision, "claims", ()):
                self.engine.absorb(ClaimWritten(one.claim, None))
        return decisions

    original = DeviceScheduler.decide
    monkeypatch.setattr(DeviceScheduler, "absorb", forgetful)
    monkeypatch.setattr(DeviceScheduler, "decide", decide)

    def run_all():
        for seed in range(85, 270):
            DeviceRun(seed).execute()

    with pytest.raises(SimulationFailed):
        run_all()
