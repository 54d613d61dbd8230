"""A cluster for controllers without threads or sockets: a real API service, the real engine, and pods that obey at once.

Everybody has a watch of his own and learns of things only when it is his turn, so that any order of events can be had.
Who acts next, and how far he gets before he is stopped, is for the test to say.
"""

import random

from posse.apiserver.requests import DeleteOptions
from posse.apiserver.service import ApiService
from posse.controllers.garbage_collection import GarbageCollector
from posse.controllers.group_protection import PodGroupProtection
from posse.controllers.pod_admission import complete_new_pod
from posse.controllers.steps import Amend, Create, Delete, ExpectAbsent, Write
from posse.engine.decisions import Bind, Evict
from posse.engine.engine import Engine
from posse.engine.events import BindRefused, Observed, Vanished
from posse.engine.options import EngineOptions
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import NAMESPACE, NODE, POD
from posse.kubelet.lifecycle import Move, next_move
from posse.kubelet.statuses import PodAddresses, status_after
from posse.model.decoding import decode
from posse.runtime.watching.followed_kinds import FOLLOWED_KINDS
from posse.store.store import Store
from posse.transport.patches import MERGE_PATCH, Patch

NOON = 1_800_000_000.0
# Another writer was faster: what a step was about is gone, or not what it was.
OVERTAKEN = (404, 409)
POD_ADMISSION = {POD: complete_new_pod}


class World:
    def __init__(self, *reconcilers, nodes=2, per_node=4, seed=1, admission=POD_ADMISSION):
        self.now = NOON
        self.service = ApiService(Store(), lambda: self.now, random.Random(seed), admission=admission)
        self.service.create(NAMESPACE, "", {"metadata": {"name": "default"}})
        for number in range(nodes):
            self.add_node(f"n{number}", per_node)
        self.scheduler = Scheduler(self)
        self.reconcilers = [Runner(self, make) for make in reconcilers]
        others = [Runner(self, GarbageCollector), Runner(self, PodGroupProtection)]
        self.actors = [*self.reconcilers, *others, self.scheduler, Kubelet(self)]

    def add_node(self, name, per_node, labels=None):
        offered = {"cpu": str(per_node), "memory": "64Gi", "pods": "110"}
        node = {"metadata": {"name": name, "labels": {"host": name, **(labels or {})}}}
        self.service.create(NODE, "", node)
        self.patch_status(NODE, "", name, {"allocatable": offered, "capacity": offered})

    def patch_status(self, kind, namespace, name, status):
        body = Patch(MERGE_PATCH, {"status": status})
        return self.service.patch(kind, namespace, name, body, subresource="status")

    def create(self, kind, obj):
        return self.service.create(kind, "default", obj)

    def patch(self, kind, name, **spec):
        return self.service.patch(kind, "default", name, Patch(MERGE_PATCH, {"spec": spec}))

    def delete(self, kind, name, **options):
        return self.service.delete(kind, "default", name, DeleteOptions(**options))

    def of(self, kind):
        return {obj["metadata"]["name"]: obj for obj in self.service.list(kind, "default").items}

    def find(self, kind, name):
        return self.of(kind).get(name)

    def bound(self):
        return [name for name, pod in self.of(POD).items() if pod["spec"].get("nodeName")]

    def settle(self, rounds=400, check=lambda: None):
        """Let all actors act until none has anything to do."""
        for _ in range(rounds):
            self.now += 1
            # All of them have their turn, whichever was busy before.
            busy = [actor for actor in self.actors if actor.act()]
            if not busy:
                return
            check()
        raise AssertionError("the cluster does not come to rest")


class Watch:
    """What happened to the objects of some kinds since one last looked."""

    def __init__(self, service, kinds):
        self._subscriptions = [(kind, service.watch(kind, None)) for kind in kinds]

    def news(self):
        for kind, subscription in self._subscriptions:
            for event in subscription.drain():
                yield kind, event.type == "DELETED", event.obj


class Runner:
    """Carries out the plans of a reconciler, one subject at a time."""

    def __init__(self, world, make):
        self._world = world
        self._make = make
        self.restart()

    def restart(self):
        """Forget everything, and begin with what the cluster shows."""
        self.reconciler = self._make()
        self._watch = Watch(self._world.service, self.reconciler.kinds)

    def learn(self):
        for kind, is_gone, obj in self._watch.news():
            (self.reconciler.lose if is_gone else self.reconciler.see)(kind, obj)

    def act(self, most_steps=1000):
        self.learn()
        touched = self.reconciler.touched.take(1000)
        for uid in touched:
            self._carry_out(uid, self.reconciler.plan(uid, self._world.now), most_steps)
        return bool(touched)

    def _carry_out(self, uid, plan, most_steps):
        steps = [step for stage in plan.stages for step in stage]
        if len(steps) > most_steps:
            # Who is stopped in the middle tries again later.
            self.reconciler.touched.add(uid)
        for step in steps[:most_steps]:
            if isinstance(step, ExpectAbsent):
                if self._exists(step):
                    return
                continue
            try:
                self._take(step)
            except ApiError as error:
                if error.code not in OVERTAKEN:
                    raise
                if isinstance(step, Create) and error.reason == "AlreadyExists" and not step.unless_present:
                    self.reconciler.touched.add(uid)
                if not (isinstance(step, Delete | Amend) or getattr(step, "unless_present", False)):
                    return

    def _exists(self, step):
        try:
            found = self._world.service.get(step.kind, step.namespace, step.name)
        except ApiError:
            return False
        return found["metadata"]["uid"] == step.uid

    def _take(self, step):
        service = self._world.service
        place = step.kind, step.obj["metadata"].get("namespace", "")
        name = step.obj["metadata"].get("name", "")
        match step:
            case Create():
                self.reconciler.see(step.kind, service.create(*place, _copied(step.obj)))
            case Write():
                body = _copied(step.obj)
                self.reconciler.see(
                    step.kind, service.update(*place, name, body, subresource=step.subresource)
                )
            case Amend():
                service.patch(*place, name, Patch(MERGE_PATCH, step.patch), subresource=step.subresource)
            case Delete():
                options = DeleteOptions(uid=step.obj["metadata"]["uid"], propagation=step.propagation)
                service.delete(*place, name, options)


class Scheduler:
    """The real engine; what it has to say about groups and pods is not written down."""

    def __init__(self, world):
        self._world = world
        self._engine = Engine(EngineOptions())
        self._structs = dict(FOLLOWED_KINDS)
        self._watch = Watch(world.service, tuple(self._structs))

    def act(self):
        has_news = False
        for kind, is_gone, obj in self._watch.news():
            has_news = True
            seen = decode(self._structs[kind], obj)
            self._engine.absorb(Vanished(seen) if is_gone else Observed(seen))
        decisions = self._engine.decide(self._world.now)
        while self._engine.has_work:
            decisions += self._engine.decide(self._world.now)
        for decision in decisions:
            if isinstance(decision, Bind):
                self._bind(decision)
            elif isinstance(decision, Evict):
                self._world.delete(POD, decision.pod.name, uid=decision.pod.uid)
        return has_news

    def _bind(self, decision):
        bodies = [
            {
                "metadata": {"name": p.pod.name, "namespace": p.pod.namespace, "uid": p.pod.uid},
                "target": {"kind": "Node", "name": p.node},
            }
            for p in decision.placements
        ]
        answers = self._world.service.bind_together(decision.placements[0].pod.namespace, bodies)
        for placement, answer in zip(decision.placements, answers, strict=True):
            if answer is not None:
                self._engine.absorb(BindRefused(placement.pod.uid, placement.node, str(answer)))


class Kubelet:
    """Starts and stops what is on nodes, without delay."""

    def __init__(self, world):
        self._world = world

    def act(self):
        moved = False
        for name, pod in self._world.of(POD).items():
            due = next_move(pod, self._world.now) if pod["spec"].get("nodeName") else None
            if due is not None and due.at <= self._world.now:
                moved = True
                self._move(name, pod, due.move)
        return moved

    def _move(self, name, pod, move):
        if move is not Move.REMOVE:
            status = status_after(move, pod, PodAddresses("1.1.1.1", "2.2.2.2"), self._world.now)
            self._world.patch_status(POD, "default", name, status)
        if move in {Move.REMOVE, Move.STOP}:
            self._world.delete(POD, name, grace_seconds=0, uid=pod["metadata"]["uid"])


def _copied(obj):
    """Bodies are taken over by the service."""
    if isinstance(obj, dict):
        return {key: _copied(item) for key, item in obj.items()}
    return [_copied(item) for item in obj] if isinstance(obj, list) else obj
