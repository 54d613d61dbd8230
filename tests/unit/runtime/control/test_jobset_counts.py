"""JobSets that have ended, as a scraper counts them."""

import time

from prometheus_client import CollectorRegistry, generate_latest

from posse.controllers.reconciler import Reconciler, Touched
from posse.controllers.steps import News, Plan
from posse.kinds.registry import JOB_SET
from posse.runtime.control.jobset_counts import JobSetCounts
from posse.runtime.control.reconciling import ReconcilerRunner


class Ending(Reconciler):
    """Says of every JobSet that it has completed."""

    subject_kind = JOB_SET
    reporter = "test"
    kinds = (JOB_SET,)

    def __init__(self):
        self.touched = Touched()
        self.seen = {}

    def see(self, _kind, obj):
        self.seen[obj["metadata"]["uid"]] = obj
        self.touched.add(obj["metadata"]["uid"])

    def lose(self, _kind, obj): ...

    def subject(self, key):
        return self.seen[key]

    def plan(self, _key, _now):
        return Plan(news=[News("Ended", "it has ended", counter="jobset_completed_total")])


def test_events_with_a_counter_are_counted(in_lab):
    counts, registry = JobSetCounts(), CollectorRegistry()
    registry.register(counts)

    async def scenario(lab):
        pod = {"containers": [{"name": "c", "image": "i"}]}
        job = {"name": "j", "template": {"spec": {"template": {"spec": pod}}}}
        lab.service.create(
            JOB_SET, "default", {"metadata": {"name": "js"}, "spec": {"replicatedJobs": [job]}}
        )
        line = 'jobset_completed_total{jobset_name="js",namespace="default"} 1.0'
        await lab.until(lambda: line in generate_latest(registry).decode())

    async def background(lab):
        await ReconcilerRunner(lab.transport, [Ending()], time.time, counts.count).run()

    in_lab(scenario, background)
    assert "# TYPE jobset_failed_total counter" in generate_latest(registry).decode()
