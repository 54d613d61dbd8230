"""The scheduler at work under the role that is installed: what that does not allow is refused, as in a real cluster."""

import asyncio
import time

from posse.controllers.volume_binding import VolumeBinder
from posse.engine.engine import Engine
from posse.engine.options import EngineOptions
from posse.installation.options import ForeignGroupApi, InstallOptions
from posse.installation.permissions import permissions_to_schedule
from posse.kinds.machinery import errors
from posse.kinds.registry import (
    COMPOSITE_POD_GROUP,
    COSCHEDULING_POD_GROUP,
    NODE,
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    POD,
    POD_GROUP,
    POSSE_COMPOSITE_POD_GROUP,
    POSSE_POD_GROUP,
    PRIORITY_CLASS,
    STORAGE_CLASS,
    VOLCANO_POD_GROUP,
    WORKLOAD,
)
from posse.runtime.control.reconciling import ReconcilerRunner
from posse.runtime.scheduling.scheduler import SchedulerLoop
from posse.runtime.watching.followed_kinds import FOLLOWED_KINDS

IN_THE_CLUSTER = permissions_to_schedule(InstallOptions(foreign_groups=tuple(ForeignGroupApi)))
GRANTED = {
    (permission.api_group, resource, verb)
    for permission in IN_THE_CLUSTER
    for resource in permission.resources
    for verb in permission.verbs
}
CUSTOM = [
    {(kind.group, kind.plural, "get"), (kind.group, f"{kind.plural}/status", "update")}
    for kind in (POSSE_POD_GROUP, POSSE_COMPOSITE_POD_GROUP, COSCHEDULING_POD_GROUP, VOLCANO_POD_GROUP)
]
# Used over HTTP alone: at the start, after an answer that did not come, and where the API server cannot merge for us.
AT_THE_START = {("", "resourcequotas", "list")}
OVER_HTTP = {
    *AT_THE_START,
    ("", "pods", "get"),
    ("authentication.k8s.io", "tokenreviews", "create"),
    ("authorization.k8s.io", "subjectaccessreviews", "create"),
}.union(*CUSTOM)
# Used for claims of devices; resourceclaims/binding is what an API server asks for in addition.
FOR_CLAIMS = {
    one for one in GRANTED if one[1].startswith("resourceclaims") and one[2] not in {"list", "watch"}
}
FOR_CLAIMS.add(("", "pods/finalizers", "update"))
# Used once a group has waited so long that capacity is reserved for it.
FOR_RESERVATIONS = {
    (kind.group, kind.plural, "patch")
    for kind in (
        WORKLOAD,
        POD_GROUP,
        COMPOSITE_POD_GROUP,
        POSSE_POD_GROUP,
        POSSE_COMPOSITE_POD_GROUP,
        COSCHEDULING_POD_GROUP,
        VOLCANO_POD_GROUP,
    )
}
# Used when two pods of one claim are placed in the same moment.
IN_A_RACE = {("", "persistentvolumes", "get")}


class Guarded:
    """A Transport that allows what the role allows, and remembers what was asked for."""

    def __init__(self, transport):
        self._transport = transport
        self.used = set()

    def _check(self, kind, verb, subresource=""):
        resource = f"{kind.plural}/{subresource}" if subresource else kind.plural
        asked = (kind.group, resource, verb)
        self.used.add(asked)
        if asked not in GRANTED:
            raise errors.forbidden(kind, "any", f"{asked} is not in the role")

    def pages(self, kind, **options):
        self._check(kind, "list")
        return self._transport.pages(kind, **options)

    def watch(self, kind, *args, **options):
        self._check(kind, "watch")
        return self._transport.watch(kind, *args, **options)

    async def get(self, kind, *args):
        self._check(kind, "get")
        return await self._transport.get(kind, *args)

    async def create(self, kind, *args):
        self._check(kind, "create")
        return await self._transport.create(kind, *args)

    async def patch(self, kind, *args, subresource=""):
        self._check(kind, "patch", subresource)
        return await self._transport.patch(kind, *args, subresource=subresource)

    async def delete(self, kind, *args, **options):
        self._check(kind, "delete")
        return await self._transport.delete(kind, *args, **options)

    async def bind_all(self, groups):
        self._check(POD, "create", "binding")
        return await self._transport.bind_all(groups)


def test_what_is_read_is_what_the_engine_has_to_know():
    reads = {one for one in GRANTED - AT_THE_START if one[2] in {"list", "watch"}}
    readable = {(group, resource) for group, resource, _ in reads}
    assert readable == {(kind.group, kind.plural) for kind, _ in FOLLOWED_KINDS}
    assert {(*pair, verb) for pair in readable for verb in ("list", "watch")} <= GRANTED


def test_nobody_is_given_everything():
    assert not any("*" in part for permission in IN_THE_CLUSTER for part in (*permission[1], *permission[2]))


def test_nothing_is_granted_twice():
    rules = [
        (permission.api_group, resource, verb)
        for permission in IN_THE_CLUSTER
        for resource in permission.resources
        for verb in permission.verbs
    ]
    assert len(rules) == len(GRANTED)


GANG = {"schedulingPolicy": {"gang": {"minCount": 2}}}
GROUPS = {
    "native": (POD_GROUP, GANG, {}, {"schedulingGroup": {"podGroupName": "native"}}),
    "posse": (POSSE_POD_GROUP, GANG, {"labels": {"scheduling.posse.dev/pod-group": "posse"}}, {}),
    "cosched": (
        COSCHEDULING_POD_GROUP,
        {"minMember": 2},
        {"labels": {"scheduling.x-k8s.io/pod-group": "cosched"}},
        {},
    ),
    "volcano": (
        VOLCANO_POD_GROUP,
        {"minMember": 2},
        {"annotations": {"scheduling.k8s.io/group-name": "volcano"}},
        {},
    ),
}


async def add_pod(lab, name, cpu, metadata=None, **spec):
    container = {"name": "main", "image": "pause", "resources": {"requests": {"cpu": cpu}}}
    body = {
        "metadata": {"name": name, **(metadata or {})},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 0, **spec},
    }
    await lab.transport.create(POD, "default", body)


async def add_node(lab, name):
    status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}
    labels = {"kubernetes.io/hostname": name}
    await lab.transport.create(NODE, "", {"metadata": {"name": name, "labels": labels}, "status": status})


def node_of(lab, name):
    found = lab.find(POD, "default", name)
    return found and found["spec"].get("nodeName")


async def gangs_of_every_form(lab):
    for name, (kind, spec, metadata, naming) in GROUPS.items():
        await lab.transport.create(kind, "default", {"metadata": {"name": name}, "spec": spec})
        for member in ("a", "b"):
            await add_pod(lab, f"{name}-{member}", "400m", metadata, **naming)
        await lab.until(lambda name=name: node_of(lab, f"{name}-a") and node_of(lab, f"{name}-b"))


async def trees_of_every_form(lab):
    policy = {"schedulingPolicy": {"gang": {"minGroupCount": 1}}}
    made_from = {"workloadRef": {"workloadName": "w", "templateName": "t"}}
    for kind, form in ((COMPOSITE_POD_GROUP, "native"), (POSSE_COMPOSITE_POD_GROUP, "posse")):
        await lab.transport.create(
            kind, "default", {"metadata": {"name": "tree"}, "spec": policy | made_from}
        )
        leaf_kind, spec, _, _ = GROUPS[form]
        leaf = {
            "metadata": {"name": "leaf"},
            "spec": spec | made_from | {"parentCompositePodGroupName": "tree"},
        }
        await lab.transport.create(leaf_kind, "default", leaf)
    for member in ("a", "b"):
        labels = {"labels": {"scheduling.posse.dev/pod-group": "leaf"}}
        await add_pod(lab, f"leaf-posse-{member}", "10m", labels)
        await add_pod(lab, f"leaf-native-{member}", "10m", schedulingGroup={"podGroupName": "leaf"})
    await lab.until(lambda: node_of(lab, "leaf-posse-a") and node_of(lab, "leaf-native-a"))


async def eviction(lab):
    await lab.transport.create(PRIORITY_CLASS, "", {"metadata": {"name": "high"}, "value": 100})
    await add_pod(lab, "whole-node", "4", priorityClassName="high")
    await lab.until(lambda: node_of(lab, "whole-node"))


async def volumes(lab):
    late = {"metadata": {"name": "late"}, "volumeBindingMode": "WaitForFirstConsumer"}
    await lab.transport.create(STORAGE_CLASS, "", late | {"provisioner": "kubernetes.io/no-provisioner"})
    await lab.transport.create(
        STORAGE_CLASS, "", late | {"metadata": {"name": "made"}, "provisioner": "maker"}
    )
    asked = {"accessModes": ["ReadWriteOnce"]}
    capacity = {"capacity": {"storage": "1Gi"}, "hostPath": {"path": "/data"}}
    await lab.transport.create(
        PERSISTENT_VOLUME,
        "",
        {"metadata": {"name": "v"}, "spec": asked | capacity | {"storageClassName": "late"}},
    )
    for name in ("late", "made"):
        claim = asked | {"storageClassName": name, "resources": {"requests": {"storage": "1Gi"}}}
        await lab.transport.create(
            PERSISTENT_VOLUME_CLAIM, "default", {"metadata": {"name": name}, "spec": claim}
        )
        volume = {"name": "data", "persistentVolumeClaim": {"claimName": name}}
        await add_pod(lab, f"uses-{name}", "10m", volumes=[volume])
    await lab.until(lambda: node_of(lab, "uses-late"))
    await lab.until(
        lambda: lab.find(PERSISTENT_VOLUME_CLAIM, "default", "made")["metadata"].get("annotations")
    )


def test_the_role_suffices_for_all_work_and_holds_nothing_else(in_lab):
    guarded = []

    async def run(lab):
        guarded.append(Guarded(lab.transport))
        scheduler = SchedulerLoop(guarded[0], Engine(EngineOptions()), time.time)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(scheduler.run())
            tasks.create_task(ReconcilerRunner(lab.transport, [VolumeBinder()], time.time).run())

    async def scenario(lab):
        await add_node(lab, "n1")
        await volumes(lab)
        await gangs_of_every_form(lab)
        await trees_of_every_form(lab)
        await eviction(lab)
        wanted = GRANTED - OVER_HTTP - IN_A_RACE - FOR_RESERVATIONS - FOR_CLAIMS
        await lab.until(lambda: wanted <= guarded[0].used)
        assert guarded[0].used - IN_A_RACE == wanted

    in_lab(scenario, run)
