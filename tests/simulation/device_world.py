"""A cluster with devices behind a connection that may fail: the real API service, kubelets, and the controllers of claims.

Every change is noted, so that watches of schedulers and controllers see it when they get to it.
"""

import random

import msgspec

from posse.apiserver.requests import DeleteOptions
from posse.apiserver.service import ApiService
from posse.controllers.devices.claim_making import GroupClaims, PodClaims
from posse.controllers.devices.claim_release import ClaimRelease
from posse.controllers.steps import Amend, Create, Delete, ExpectAbsent, Write, controller_uid
from posse.kinds.machinery.errors import CONFLICT, INVALID, NOT_FOUND, ApiError
from posse.kinds.registry import (
    DEVICE_CLASS,
    NAMESPACE,
    NODE,
    POD,
    POD_GROUP,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    RESOURCE_SLICE,
)
from posse.model.decoding import decode
from posse.store.store import Store
from posse.transport.patches import MERGE_PATCH, STRATEGIC_MERGE_PATCH, Patch
from posse.writes.object_writes import (
    ObjectCreate,
    ObjectDelete,
    completion,
    conflict_resolved,
    follow_up,
)
from tests.simulation.faults import Answer
from tests.simulation.world import Change

BEGIN = 1767225600.0
NAME = "default"
FOLLOWED = (NODE, DEVICE_CLASS, RESOURCE_SLICE, RESOURCE_CLAIM, POD_GROUP, POD)
"""In the order in which a scheduler lists them."""
KINDS = (*FOLLOWED, RESOURCE_CLAIM_TEMPLATE)
ENDED = {"Succeeded", "Failed"}


class DeviceWorld:
    def __init__(self, seed):
        self.now = 0.0
        self.kinds = tuple(kind.struct for kind in FOLLOWED)
        self.objects = {kind.struct: {} for kind in KINDS}
        self.log = {kind.struct: [] for kind in KINDS}
        self.service = ApiService(Store(), lambda: BEGIN + self.now, random.Random(seed))
        self.service.create(NAMESPACE, "", {"metadata": {"name": NAME}})

    def timestamp(self):
        return (
            f"2026-01-01T{int(self.now) // 3600:02d}:{int(self.now) // 60 % 60:02d}:{int(self.now) % 60:02d}Z"
        )

    def do(self, action):
        """Have it done, and note what changed; garbage is collected at once."""
        answer = action()
        for kind in KINDS:
            self._note(kind)
        self._collect()
        return answer

    def create(self, kind, name, **parts):
        body = {"metadata": {"name": name}, **parts}
        return self.do(lambda: self.service.create(kind, NAME if kind.namespaced else "", body))

    def items(self, kind):
        return list(self.service.list(kind, None).items)

    def pods(self):
        return {pod["metadata"]["name"]: pod for pod in self.items(POD)}

    def set_phase(self, pod, phase):
        patch = Patch(MERGE_PATCH, {"status": {"phase": phase}})
        self.do(lambda: self.service.patch(POD, NAME, pod["metadata"]["name"], patch, subresource="status"))

    def delete(self, kind, name, uid=""):
        options = DeleteOptions(grace_seconds=0, uid=uid)
        self.do(lambda: self.service.delete(kind, NAME, name, options))

    def _note(self, kind):
        known, present = self.objects[kind.struct], {}
        for item in self.service.list(kind, None).items:
            name = item["metadata"]["name"]
            before = known.get(name)
            version = item["metadata"]["resourceVersion"]
            if before is not None and before.metadata.resource_version == version:
                present[name] = before
                continue
            present[name] = decode(kind.struct, item)
            self.log[kind.struct].append(Change(present[name], is_gone=False))
        for name in known.keys() - present.keys():
            self.log[kind.struct].append(Change(known[name], is_gone=True))
        self.objects[kind.struct] = present

    def _collect(self):
        owners = {item["metadata"]["uid"] for kind in (POD, POD_GROUP) for item in self.items(kind)}
        for claim in self.items(RESOURCE_CLAIM):
            metadata = claim["metadata"]
            owner = controller_uid(claim)
            if owner and owner not in owners and not metadata.get("deletionTimestamp"):
                self.delete(RESOURCE_CLAIM, metadata["name"])
                return


class DeviceServer:
    """Has writes done, unless the request or the answer gets lost; as the carrier and the server of the other simulation."""

    binds_whole = True

    def __init__(self, world, random):
        self._world = world
        self.random = random
        self.faults = None

    def bind(self, placements, _group, _beliefs):
        bodies = [
            {
                "metadata": {"name": one.pod.name, "uid": one.pod.uid},
                "target": {"kind": "Node", "name": one.node},
            }
            for one in placements
        ]

        def bind():
            for error in self._world.service.bind_together(NAME, bodies):
                if error is not None:
                    raise error

        return self._attempt(bind)[0]

    def write(self, write):
        error, answer = self._attempt(lambda: self._apply(write))
        if error is None:
            more = completion(write, answer) if not isinstance(write, ObjectDelete | ObjectCreate) else None
            return self.write(more) if more is not None else None
        if error.code == CONFLICT and write.reads_after_conflict:
            found = self._found(write)
            return error if found is False else conflict_resolved(write, error, found)
        if error.code == INVALID and (found := self._found(write)):
            instead = follow_up(write, found)
            return error if instead is None else self.write(instead)
        return error

    def find_claim(self, key):
        """The claim as it is now; None if there is none, False if there was no answer."""
        error, found = self._attempt(lambda: self._world.service.get(RESOURCE_CLAIM, key.namespace, key.name))
        if error is not None:
            return None if error.code == NOT_FOUND else False
        return decode(RESOURCE_CLAIM.struct, found)

    def _found(self, write):
        """The object; None if there is none, False if that is unknown."""
        error, found = self._attempt(lambda: self._world.service.get(write.kind, write.namespace, write.name))
        if error is None:
            return found
        return None if error.code == NOT_FOUND else False

    def _attempt(self, action):
        answer = self.faults.answer(self.random)
        lost = ApiError(503, "ServiceUnavailable", answer.value)
        if answer is Answer.LOST_REQUEST:
            return lost, None
        try:
            result = self._world.do(action)
        except ApiError as error:
            return error, None
        return (lost, None) if answer is Answer.LOST_ANSWER else (None, result)

    def _apply(self, write):
        service, place = self._world.service, (write.kind, write.namespace, write.name)
        if isinstance(write, ObjectCreate):
            return service.create(write.kind, write.namespace, _copied(write.obj))
        if isinstance(write, ObjectDelete):
            return service.delete(*place, DeleteOptions(uid=write.uid))
        return service.patch(*place, write.patch, subresource=write.subresource)


class ClaimControllers:
    """The controllers of claims, each of which sees the cluster as it was some time ago."""

    def __init__(self, world, random):
        self._world = world
        self._random = random
        self._reconcilers = [GroupClaims(), PodClaims(), ClaimRelease()]
        self._positions = {reconciler: dict.fromkeys(reconciler.kinds, 0) for reconciler in self._reconcilers}

    def step(self):
        reconciler = self._random.choice(self._reconcilers)
        self._observe(reconciler, self._random.choice((1, 3, 50)))
        self._plan(reconciler)

    def finish(self):
        """Return whether anything was left to do."""
        before = sum(map(len, self._world.log.values()))
        for reconciler in self._reconcilers:
            self._observe(reconciler, 10**6)
            self._plan(reconciler)
        return sum(map(len, self._world.log.values())) > before

    def _observe(self, reconciler, most):
        for kind, position in self._positions[reconciler].items():
            changes = self._world.log[kind.struct][position : position + most]
            self._positions[reconciler][kind] += len(changes)
            for change in changes:
                obj = msgspec.to_builtins(change.obj)
                if change.is_gone:
                    reconciler.lose(kind, obj)
                else:
                    reconciler.see(kind, obj)

    def _plan(self, reconciler):
        for key in reconciler.touched.take(100):
            plan = reconciler.plan(key, BEGIN + self._world.now)
            try:
                for step in (step for stage in plan.stages for step in stage):
                    self._world.do(lambda step=step: self._take(reconciler, step))
            except ApiError:
                reconciler.touched.add(key)

    def _take(self, reconciler, step):
        service = self._world.service
        if isinstance(step, ExpectAbsent):
            found = [each for each in self._world.items(step.kind) if each["metadata"]["uid"] == step.uid]
            if found:
                raise ApiError(CONFLICT, "Conflict", "it is there")
            return
        metadata = step.obj["metadata"]
        if isinstance(step, Create):
            reconciler.see(step.kind, service.create(step.kind, NAME, _copied(step.obj)))
        elif isinstance(step, Write):
            place = (step.kind, NAME, metadata["name"])
            reconciler.see(step.kind, service.update(*place, _copied(step.obj), subresource=step.subresource))
        elif isinstance(step, Amend):
            patch = Patch(STRATEGIC_MERGE_PATCH if step.is_strategic else MERGE_PATCH, step.patch)
            service.patch(step.kind, NAME, metadata["name"], patch, subresource=step.subresource)
        elif isinstance(step, Delete):
            service.delete(step.kind, NAME, metadata["name"], DeleteOptions(uid=metadata["uid"]))


def _copied(obj):
    return msgspec.json.decode(msgspec.json.encode(obj))
