"""A cluster in which a JobSet lives: the real API rules and controllers, a scheduler and nodes as simple as can be.

Every actor knows only what it has been shown, may be shown it late, may be interrupted in the middle of what it does, and
may lose its memory. The driver of the world says when; nothing happens by itself.
"""

import copy
import random
from collections import defaultdict

from posse.apiserver.requests import DeleteOptions
from posse.apiserver.service import ApiService
from posse.controllers.garbage_collection import GarbageCollector
from posse.controllers.group_protection import CompositeProtection, PodGroupProtection
from posse.controllers.jobs.controller import JobController
from posse.controllers.jobsets.controller import JobSetController
from posse.controllers.steps import Amend, Create, Delete, ExpectAbsent, Write, controller_uid
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import (
    COMPOSITE_POD_GROUP,
    JOB,
    JOB_SET,
    NAMESPACE,
    POD,
    POD_GROUP,
    SERVICE,
    WORKLOAD,
)
from posse.model.pod import ENDED_PHASES
from posse.runtime.embedded.bootstrap import bootstrap_objects
from posse.store.store import Store
from posse.transport.patches import MERGE_PATCH, STRATEGIC_MERGE_PATCH, Patch

ATTEMPT = "jobset.sigs.k8s.io/restart-attempt"


class Interrupted(Exception):  # noqa: N818 - it names what happened
    """The actor did not live to take its next step."""


class World:
    def __init__(self, jobset, room):
        self.now = 1_800_000_000.0
        self.room = room
        self.service = ApiService(Store(), lambda: self.now, random.Random(7))
        for kind, namespace, obj in bootstrap_objects():
            if kind is NAMESPACE:
                self.service.create(kind, namespace, copy.deepcopy(obj))
        self.service.create(JOB_SET, "default", jobset)
        self.actors = [
            Controller(self, JobSetController, jobset_uids),
            Controller(self, JobController, job_uids),
            Controller(self, GarbageCollector),
            Controller(self, PodGroupProtection),
            Controller(self, CompositeProtection),
        ]

    def all(self, kind):
        return self.service.list(kind, None).items

    def jobset(self):
        (jobset,) = self.all(JOB_SET)
        return jobset

    def change(self, spec):
        self.service.patch(JOB_SET, "default", "js", Patch(MERGE_PATCH, {"spec": spec}))

    def alive(self, attempt=None):
        """Pods that run or will."""
        return [
            pod
            for pod in self.all(POD)
            if pod.get("status", {}).get("phase") not in ENDED_PHASES
            and attempt in (None, pod["metadata"]["labels"].get(ATTEMPT))
        ]

    def bound(self):
        return [pod for pod in self.alive() if pod["spec"].get("nodeName")]

    def schedule(self):
        """Bind the pods of a group, or of a tree of groups, as soon as the minimum of all fits; other pods one by one."""
        waiting = defaultdict(list)
        for pod in self.alive():
            if not pod["spec"].get("nodeName") and not pod["metadata"].get("deletionTimestamp"):
                waiting[group_of(pod)].append(pod)
        self.bind(waiting.pop("", [])[: self.room - len(self.bound())])
        trees = defaultdict(list)
        for group in self.all(POD_GROUP):
            root = group["spec"].get("parentCompositePodGroupName") or group["metadata"]["name"]
            trees[root].append(group)
        roots = {root["metadata"]["name"] for root in self.all(COMPOSITE_POD_GROUP)}
        for root, groups in trees.items():
            is_whole = len(groups) == self.groups_in(root) if root in roots else len(groups) == 1
            pods = [pod for group in groups for pod in waiting[group["metadata"]["name"]]]
            fits = len(pods) <= self.room - len(self.bound())
            if is_whole and fits and all(self.has_minimum(group, waiting) for group in groups):
                self.bind(pods)

    def groups_in(self, root):
        (found,) = (obj for obj in self.all(COMPOSITE_POD_GROUP) if obj["metadata"]["name"] == root)
        return found["spec"]["schedulingPolicy"]["gang"]["minGroupCount"]

    def has_minimum(self, group, waiting):
        """Whether enough pods of a group are bound or wait, not counting those that have succeeded."""
        name = group["metadata"]["name"]
        present = len(waiting[name]) + sum(group_of(pod) == name for pod in self.bound())
        done = sum(
            group_of(pod) == name
            and pod["metadata"]["labels"][ATTEMPT] == group["metadata"]["labels"][ATTEMPT]
            and pod.get("status", {}).get("phase") == "Succeeded"
            for pod in self.all(POD)
        )
        is_over = not present and done >= self.size_of(name)
        return is_over or present >= group["spec"]["schedulingPolicy"]["gang"]["minCount"]

    def bind(self, pods):
        for pod in pods:
            binding = {"metadata": {"name": pod["metadata"]["name"]}, "target": {"name": "node"}}
            self.service.bind("default", pod["metadata"]["name"], binding)
        if pods:
            self.check_gangs({group_of(pod) for pod in pods})

    def check_gangs(self, names):
        """Every pod that was started has all of its gang beside it, or they have been here and succeeded; and all are of one run."""
        for name in sorted(names - {""}):
            members = [pod for pod in self.bound() if group_of(pod) == name]
            attempts = {pod["metadata"]["labels"][ATTEMPT] for pod in members}
            assert len(attempts) == 1, f"{name} mixes pods of runs {sorted(attempts)}"
            done = [
                pod
                for pod in self.all(POD)
                if group_of(pod) == name
                and pod["metadata"]["labels"][ATTEMPT] in attempts
                and pod.get("status", {}).get("phase") == "Succeeded"
            ]
            assert len(members) + len(done) >= self.size_of(name), (
                f"only {len(members)} of {name} were started"
            )

    def size_of(self, name):
        """How many pods the gang has in all, by its Jobs; by what the JobSet says where there are none yet."""
        jobs = {job["metadata"]["name"]: job["spec"]["completions"] for job in self.all(JOB)}
        size = 0
        for part in self.jobset()["spec"]["replicatedJobs"]:
            for index in range(part["replicas"]):
                groups = ("pg-js", f"js-pg-{part['name']}", f"js-pg-{part['name']}-{index}")
                own = jobs.get(f"js-{part['name']}-{index}", part["template"]["spec"]["completions"])
                size += own if name in groups else 0
        return size

    def scale(self, which, size):
        jobs = copy.deepcopy(self.jobset()["spec"]["replicatedJobs"])
        jobs[which % len(jobs)]["template"]["spec"] |= {"parallelism": size, "completions": size}
        self.change({"replicatedJobs": jobs})

    def run_pods(self, lingering=0):
        """Bound pods become ready; those that are to go have gone, but for the last few."""
        leaving = [pod for pod in self.all(POD) if pod["metadata"].get("deletionTimestamp")]
        for pod in leaving[: max(0, len(leaving) - lingering)]:
            self.kill(pod)
        for pod in self.bound():
            if pod["metadata"].get("deletionTimestamp"):
                continue
            if pod["status"].get("phase") != "Running":
                ready = {"type": "Ready", "status": "True"}
                self.report(pod, {"phase": "Running", "conditions": [ready]})

    def end(self, pod, phase):
        code = int(phase == "Failed")
        ended = {"name": "c", "state": {"terminated": {"exitCode": code}}}
        self.report(pod, {"phase": phase, "containerStatuses": [ended]})

    def report(self, pod, status):
        obj = {**copy.deepcopy(pod), "status": status}
        self.service.update(POD, "default", pod["metadata"]["name"], obj, subresource="status")

    def kill(self, pod):
        name = pod["metadata"]["name"]
        self.service.delete(POD, "default", name, DeleteOptions(grace_seconds=0))

    def settle(self, rounds=60):
        """Everybody is shown everything and works undisturbed, and pods that run succeed."""
        for _ in range(rounds):
            for actor in self.actors:
                actor.catch_up()
                actor.work()
            self.schedule()
            self.run_pods()
            for pod in self.bound():
                if pod["status"].get("phase") == "Running":
                    self.end(pod, "Succeeded")
            self.now += 700.0


def group_of(pod):
    return (pod["spec"].get("schedulingGroup") or {}).get("podGroupName", "")


class Actor:
    kinds = ()

    def __init__(self, world):
        self.world = world
        self.forget()

    def forget(self):
        """Begin again, as a process that was started again."""
        self.shown = {}
        self.begin()
        self.catch_up()

    def catch_up(self):
        """Show the actor all that has changed since it last looked."""
        for kind in self.kinds:
            present = {obj["metadata"]["uid"]: obj for obj in self.world.all(kind)}
            before = self.shown.get(kind, {})
            for uid, obj in before.items():
                if uid not in present:
                    self.lose(kind, obj)
            for uid, obj in present.items():
                if before.get(uid) is not obj:
                    self.see(kind, obj)
            self.shown[kind] = present

    def work(self, steps_left=10_000):
        """Do what there is to do, or as much of it as the actor lives for."""
        self.steps_left = steps_left
        try:
            self.act()
        except Interrupted:
            self.forget()

    def attempt(self, step, *arguments):
        """Take a step; a refusal because the world has moved on ends the plan."""
        if self.steps_left <= 0:
            raise Interrupted
        self.steps_left -= 1
        return step(*arguments)


class Controller(Actor):
    """Carries out the plans of a reconciler; `always` are keys that are planned for whether or not they were touched."""

    def __init__(self, world, make, always=lambda _world: []):
        self.make = make
        self.always = always
        self.kinds = make().kinds
        super().__init__(world)

    def begin(self):
        self.reconciler = self.make()

    def see(self, kind, obj):
        self.reconciler.see(kind, obj)

    def lose(self, kind, obj):
        self.reconciler.lose(kind, obj)

    def act(self):
        for key in dict.fromkeys([*self.always(self.world), *self.reconciler.touched.take(10_000)]):
            try:
                for stage in self.reconciler.plan(key, self.world.now).stages:
                    if any(isinstance(step, ExpectAbsent) and self.exists(step) for step in stage):
                        break
                    for step in stage:
                        self.attempt(self.take, step)
            except ApiError:
                continue

    def exists(self, step):
        try:
            found = self.world.service.get(step.kind, step.namespace, step.name)
        except ApiError:
            return False
        return found["metadata"]["uid"] == step.uid

    def take(self, step):
        match step:
            case Create():
                made = self.world.service.create(step.kind, "default", copy.deepcopy(step.obj))
                self.reconciler.see(step.kind, made)
            case Write():
                name, obj = step.obj["metadata"]["name"], copy.deepcopy(step.obj)
                written = self.world.service.update(
                    step.kind, "default", name, obj, subresource=step.subresource
                )
                self.reconciler.see(step.kind, written)
            case Amend():
                self.amend(step)
            case Delete():
                self.delete(step)

    def amend(self, step):
        patch = Patch(STRATEGIC_MERGE_PATCH if step.is_strategic else MERGE_PATCH, step.patch)
        try:
            amended = self.world.service.patch(step.kind, "default", step.obj["metadata"]["name"], patch)
        except ApiError:
            return
        if not amended["metadata"].get("deletionTimestamp"):
            self.reconciler.see(step.kind, amended)

    def delete(self, step):
        metadata = step.obj["metadata"]
        options = DeleteOptions(uid=metadata["uid"], propagation=step.propagation)
        try:
            deleted = self.world.service.delete(step.kind, "default", metadata["name"], options)
        except ApiError:
            return
        if deleted.get("metadata", {}).get("deletionTimestamp"):
            self.reconciler.see(step.kind, deleted)


def jobset_uids(world):
    return [jobset["metadata"]["uid"] for jobset in world.all(JOB_SET)]


def job_uids(world):
    """Of all Jobs, and of those that are gone and have left pods."""
    known = [job["metadata"]["uid"] for job in world.all(JOB)]
    return [*known, *sorted({controller_uid(pod, JOB) for pod in world.all(POD)})]


LEFT_WITH_A_JOBSET = (JOB, POD, POD_GROUP, COMPOSITE_POD_GROUP, WORKLOAD, SERVICE)
