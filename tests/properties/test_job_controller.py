"""Whatever the pods of a Job do and whenever the controller looks: never too many run, each counts once, the end is right."""

import copy
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from posse.controllers.jobs.controller import JobController
from posse.controllers.jobs.pods import COMPLETION_INDEX, TRACKING_FINALIZER
from posse.controllers.steps import Amend, Create, Delete, Write
from posse.kinds.registry import JOB, POD
from posse.model.timestamps import format_timestamp
from tests.support.plans import steps_of

OUTCOMES = ("Running", "Succeeded", "Failed", "Deleted")


class World:
    """A cluster of one Job whose plans are carried out, up to where the controller is interrupted."""

    def __init__(self, spec):
        self.now = 1_000_000.0
        self.version = 0
        self.pods = {}
        self.outcomes = Counter()
        self.created = 0
        obj = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "j", "namespace": "d", "uid": "u"},
        }
        template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
        obj["spec"] = {"template": template, **spec}
        JOB.rules.default(obj)
        JOB.rules.prepare_create(obj)
        self.job = self.stamped(obj)
        self.controller = JobController()
        self.controller.see(JOB, self.job)

    def stamped(self, obj):
        self.version += 1
        return {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self.version)}}

    @property
    def status(self):
        return self.job.get("status", {})

    @property
    def conditions(self):
        return {item["type"] for item in self.status.get("conditions", [])}

    def active(self):
        return [pod for pod in self.pods.values() if is_active(pod)]

    def put(self, pod):
        pod = self.stamped(pod)
        uid = pod["metadata"]["uid"]
        if pod["metadata"].get("deletionTimestamp") and not pod["metadata"].get("finalizers"):
            del self.pods[uid]
            self.controller.lose(POD, pod)
        else:
            self.pods[uid] = pod
            self.controller.see(POD, pod)

    def befall(self, pod, outcome):
        pod = copy.deepcopy(pod)
        if outcome == "Deleted":
            pod["metadata"]["deletionTimestamp"] = format_timestamp(self.now)
        else:
            pod["status"] = {"phase": outcome}
        if outcome in {"Succeeded", "Failed"}:
            terminated = {"exitCode": int(outcome == "Failed"), "finishedAt": format_timestamp(self.now)}
            pod["status"]["containerStatuses"] = [{"name": "c", "state": {"terminated": terminated}}]
        if outcome != "Running":
            self.outcomes["Succeeded" if outcome == "Succeeded" else "Failed"] += 1
        self.put(pod)

    def work(self, stop_after=99):
        """Carry out one plan, or as many of its steps as the controller lives to take."""
        for step in steps_of(self.controller.plan("u", self.now))[:stop_after]:
            match step:
                case Write():
                    self.write_status(step.obj)
                case Amend():
                    self.release(step.obj["metadata"]["uid"])
                case Delete():
                    self.delete(step.obj["metadata"]["uid"])
                case Create():
                    self.create(step.obj)

    def restart(self):
        """A controller that knows nothing but what the cluster shows."""
        self.controller = JobController()
        self.controller.see(JOB, self.job)
        for pod in self.pods.values():
            self.controller.see(POD, pod)

    def write_status(self, job):
        self.job = self.stamped(job)
        self.controller.see(JOB, self.job)

    def release(self, uid):
        if uid in self.pods:
            pod = copy.deepcopy(self.pods[uid])
            pod["metadata"]["finalizers"] = []
            self.put(pod)

    def delete(self, uid):
        if uid in self.pods and is_active(self.pods[uid]):
            self.befall(self.pods[uid], "Deleted")

    def create(self, pod):
        self.created += 1
        assert pod["metadata"]["finalizers"] == [TRACKING_FINALIZER]
        self.put(
            {**pod, "metadata": {**pod["metadata"], "uid": f"p{self.created}", "name": f"p{self.created}"}}
        )


def is_active(pod):
    phase = pod.get("status", {}).get("phase")
    return phase not in {"Succeeded", "Failed"} and not pod["metadata"].get("deletionTimestamp")


@st.composite
def specs(draw):
    completions = draw(st.integers(0, 5))
    spec = {"completions": completions, "parallelism": draw(st.integers(0, 4))}
    if draw(st.booleans()):
        spec["completionMode"] = "Indexed"
        if draw(st.booleans()):
            spec["backoffLimitPerIndex"] = draw(st.integers(0, 2))
            spec["maxFailedIndexes"] = draw(st.one_of(st.none(), st.integers(0, completions)))
    spec["backoffLimit"] = draw(st.integers(0, 4))
    spec["podReplacementPolicy"] = draw(st.sampled_from(["Failed", "TerminatingOrFailed"]))
    return spec


@settings(deadline=None)
@given(
    specs(), st.lists(st.tuples(st.integers(0, 9), st.sampled_from(OUTCOMES), st.integers(0, 6)), max_size=30)
)
def test_a_job_stays_within_its_bounds_and_ends_as_it_should(spec, happenings):
    world = World(spec)
    for choice, outcome, stop_after in happenings:
        active = world.active()
        if active:
            world.befall(active[choice % len(active)], outcome)
        world.work(stop_after)
        if choice == 0:
            world.restart()
        world.now += choice * 100
        check_bounds(world, spec)
    settle(world, spec)
    check_end(world, spec)


def check_bounds(world, spec):
    active = world.active()
    assert len(active) <= spec["parallelism"]
    indexes = [pod["metadata"]["annotations"].get(COMPLETION_INDEX) for pod in active]
    if spec.get("completionMode") == "Indexed":
        assert len(set(indexes)) == len(indexes)
    assert world.status.get("failed", 0) <= world.outcomes["Failed"]
    assert world.status.get("succeeded", 0) <= world.outcomes["Succeeded"]


def settle(world, spec):
    """From now on every pod succeeds; then the Job must end, unless it may have no pods at all."""
    for _ in range(80):
        for pod in world.active():
            world.befall(pod, "Succeeded")
        world.work()
        world.now += 700
        check_bounds(world, spec)


def check_end(world, spec):
    ends = world.conditions & {"Complete", "Failed"}
    if spec["parallelism"] == 0 and not ends:
        assert not world.pods
        return
    assert len(ends) == 1
    assert world.status["uncountedTerminatedPods"] == {}
    assert not any(pod["metadata"]["finalizers"] for pod in world.pods.values())
    failed = world.status.get("failed", 0)
    assert failed == world.outcomes["Failed"]
    if ends == {"Complete"}:
        assert world.status.get("succeeded", 0) == spec["completions"]
        assert failed <= spec["backoffLimit"]
    else:
        assert failed > spec["backoffLimit"] or world.status.get("failedIndexes")
