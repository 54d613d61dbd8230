"""A cluster in which a JobSet lives: the real API rules and controllers, a scheduler and nodes as simple as can be.

Every actor knows only what it has been shown, may be shown it late, may be interrupted in the middle of what it does, and
may lose its memory. Whoever drives the world says when; nothing happens by itself.
"""

import copy
import random
from collections import defaultdict

from posse.apiserver.requests import DeleteOptions
from posse.apiserver.service import ApiService
from posse.controllers.composite_protection import CompositeProtection
from posse.controllers.garbage_collection import Collect, GarbageCollector
from posse.controllers.jobs.controller import JobController
from posse.controllers.jobs.pods import TRACKING_FINALIZER
from posse.controllers.jobsets.controller import JobSetController
from posse.controllers.podgroup_protection import PodGroupProtection
from posse.controllers.steps import Create, Delete, Write
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
from posse.runtime.control.garbage_control import COLLECTED_KINDS
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
        self.actors = [JobSets(self), Jobs(self), Garbage(self), Protection(self)]

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
        """Whoever was started has all of its gang beside it, or it has been here and succeeded; and all are of one run."""
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
        """Begin anew, as a process that was started again."""
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


class JobSets(Actor):
    kinds = JobSetController().kinds

    def begin(self):
        self.controller = JobSetController()

    def see(self, kind, obj):
        self.controller.see(kind, obj)

    def lose(self, kind, obj):
        self.controller.lose(kind, obj)

    def act(self):
        (uid,) = (jobset["metadata"]["uid"] for jobset in self.world.all(JOB_SET))
        plan = self.controller.plan(uid, self.world.now)
        try:
            for stage in plan.stages:
                for step in stage:
                    self.attempt(self.take, step)
        except ApiError:
            return

    def take(self, step):
        service, metadata = self.world.service, step.obj["metadata"]
        obj, name = copy.deepcopy(step.obj), metadata["name"]
        match step:
            case Create():
                self.controller.see(step.kind, service.create(step.kind, "default", obj))
            case Write():
                written = service.update(step.kind, "default", name, obj, subresource=step.subresource)
                self.controller.see(step.kind, written)
            case Delete():
                options = DeleteOptions(uid=metadata["uid"], propagation=step.propagation)
                deleted = service.delete(step.kind, "default", name, options)
                if deleted.get("metadata", {}).get("deletionTimestamp"):
                    self.controller.see(step.kind, deleted)


class Jobs(Actor):
    kinds = (JOB, POD)

    def begin(self):
        self.controller = JobController()

    def see(self, kind, obj):
        (self.controller.see_job if kind is JOB else self.controller.see_pod)(obj)

    def lose(self, kind, obj):
        (self.controller.lose_job if kind is JOB else self.controller.lose_pod)(obj)

    def act(self):
        for job in self.world.all(JOB):
            try:
                self.carry_out(self.controller.plan(job["metadata"]["uid"], self.world.now))
            except ApiError:
                continue
        stray = {pod.job_uid for pod in self.controller_pods()} - {
            job["metadata"]["uid"] for job in self.world.all(JOB)
        }
        for uid in sorted(stray):
            for pod in self.controller.plan(uid, self.world.now).release:
                self.attempt(self.release, pod)

    def controller_pods(self):
        return [pod for pods in self.controller._pods.values() for pod in pods.values()]

    def carry_out(self, plan):
        if plan.job is not None:
            self.attempt(self.write, plan.job)
        for pod in (*plan.release, *plan.withdraw):
            self.attempt(self.release, pod)
        for pod in (*plan.withdraw, *plan.delete):
            self.attempt(self.delete, pod)
        for pod in plan.create:
            self.attempt(self.create, pod)

    def write(self, job):
        name = job["metadata"]["name"]
        obj = copy.deepcopy(job)
        self.controller.see_job(self.world.service.update(JOB, "default", name, obj, subresource="status"))

    def release(self, pod):
        body = {"metadata": {"uid": pod.uid, "$deleteFromPrimitiveList/finalizers": [TRACKING_FINALIZER]}}
        try:
            patch = Patch(STRATEGIC_MERGE_PATCH, body)
            released = self.world.service.patch(POD, "default", pod.name, patch)
        except ApiError:
            return
        if not released["metadata"].get("deletionTimestamp"):
            self.controller.see_pod(released)

    def delete(self, pod):
        try:
            deleted = self.world.service.delete(POD, "default", pod.name, DeleteOptions(uid=pod.uid))
        except ApiError:
            return
        if deleted["metadata"].get("deletionTimestamp"):
            self.controller.see_pod(deleted)

    def create(self, pod):
        self.controller.see_pod(self.world.service.create(POD, "default", copy.deepcopy(pod)))


class Garbage(Actor):
    kinds = COLLECTED_KINDS

    def begin(self):
        self.collector = GarbageCollector()

    def see(self, kind, obj):
        self.collector.see(kind, obj)

    def lose(self, kind, obj):
        self.collector.lose(obj)

    def act(self):
        for step in self.collector.steps():
            place = step.place
            try:
                if isinstance(step, Collect):
                    options = DeleteOptions(uid=place.uid, propagation=step.propagation)
                    self.attempt(self.world.service.delete, place.kind, place.namespace, place.name, options)
                else:
                    patch = Patch(MERGE_PATCH, step.patch)
                    self.attempt(self.world.service.patch, place.kind, place.namespace, place.name, patch)
            except ApiError:
                continue


class Protection(Actor):
    kinds = (POD, POD_GROUP, COMPOSITE_POD_GROUP)

    def begin(self):
        self.groups, self.composites = PodGroupProtection(), CompositeProtection()

    def see(self, kind, obj):
        if kind is not POD:
            self.composites.see(kind, obj)
        if kind is not COMPOSITE_POD_GROUP:
            (self.groups.see_pod if kind is POD else self.groups.see_group)(obj)

    def lose(self, kind, obj):
        if kind is not POD:
            self.composites.lose(kind, obj)
        if kind is not COMPOSITE_POD_GROUP:
            place = obj["metadata"]["namespace"], obj["metadata"]["name"]
            (self.groups.lose_pod if kind is POD else self.groups.lose_group)(*place)

    def act(self):
        releases = [(POD_GROUP, release) for release in self.groups.releases()]
        releases += [(COMPOSITE_POD_GROUP, release) for release in self.composites.releases()]
        for kind, release in releases:
            patch = Patch(MERGE_PATCH, release.patch)
            try:
                self.attempt(self.world.service.patch, kind, release.namespace, release.name, patch)
            except ApiError:
                continue


LEFT_WITH_A_JOBSET = (JOB, POD, POD_GROUP, COMPOSITE_POD_GROUP, WORKLOAD, SERVICE)
