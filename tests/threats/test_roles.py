"""The scheduler under its role: it does nothing that the role does not allow, and without any rule something breaks."""

import asyncio

import pytest

from posse.installation.options import InstallOptions
from posse.installation.permissions import OF_DEVICES, OF_PODS, permissions_to_schedule
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import EVENT, NODE, POD, POD_GROUP, PRIORITY_CLASS
from posse.runtime.embedded import cluster as embedded
from posse.runtime.embedded.cluster import EmbeddedCluster
from posse.runtime.process.options import ClusterOptions

SECONDS = 60
ONLY_AFTER_FAULTS = {("pods", "get")}
"""A binding whose answer was lost."""
AT_START = {("resourcequotas", "list")}
"""Of `posse run`."""
RESERVED = {(kind, "patch") for kind in ("workloads", "podgroups", "compositepodgroups")}
"""Where groups wait for capacity."""
OF_TREES = {("compositepodgroups/status", "patch")}


RULES = (*OF_PODS, *(rule for rule in OF_DEVICES if rule.verbs == ("list", "watch")))


class UnderRole:
    """A transport that refuses what the role does not allow, and remembers what it allowed."""

    def __init__(self, transport, permissions):
        self._transport = transport
        self._permissions = permissions
        self.used = set()

    def _ask(self, verb, group, resource):
        rules = [
            rule
            for rule in self._permissions
            if rule.api_group == group and resource in rule.resources and verb in rule.verbs
        ]
        if not rules:
            raise ApiError(403, "Forbidden", f"cannot {verb} {resource} of {group!r}")
        self.used |= {(rule, resource, verb) for rule in rules}

    async def list(self, kind, namespace=None, **selection):
        self._ask("list", kind.group, kind.plural)
        return await self._transport.list(kind, namespace, **selection)

    def pages(self, kind, **selection):
        self._ask("list", kind.group, kind.plural)
        return self._transport.pages(kind, **selection)

    def watch(self, kind, resource_version, namespace=None, **selection):
        self._ask("watch", kind.group, kind.plural)
        return self._transport.watch(kind, resource_version, namespace, **selection)

    async def get(self, kind, namespace, name):
        self._ask("get", kind.group, kind.plural)
        return await self._transport.get(kind, namespace, name)

    async def create(self, kind, namespace, obj):
        self._ask("create", kind.group, kind.plural)
        return await self._transport.create(kind, namespace, obj)

    async def update(self, kind, namespace, name, obj, *, subresource=""):
        self._ask("update", kind.group, _resource(kind, subresource))
        return await self._transport.update(kind, namespace, name, obj, subresource=subresource)

    async def patch(self, kind, namespace, name, patch, *, subresource=""):
        self._ask("patch", kind.group, _resource(kind, subresource))
        return await self._transport.patch(kind, namespace, name, patch, subresource=subresource)

    async def delete(self, kind, namespace, name, **options):
        self._ask("delete", kind.group, kind.plural)
        return await self._transport.delete(kind, namespace, name, **options)

    async def bind_all(self, groups):
        self._ask("create", "", "pods/binding")
        return await self._transport.bind_all(groups)


def _resource(kind, subresource):
    return f"{kind.plural}/{subresource}" if subresource else kind.plural


def _pod(name, cpu, **spec):
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]
    return {"metadata": {"name": name}, "spec": {"containers": containers, **spec}}


async def _until(holds):
    while not holds():  # noqa: ASYNC110 - the cluster is not asked to tell
        await asyncio.sleep(0.01)


async def _a_gang_that_evicts(cluster):
    """What there is room for once a pod of lower priority has gone."""
    service = cluster._service

    def is_bound(*names):
        return all(service.get(POD, "default", name)["spec"].get("nodeName") for name in names)

    (node,) = service.list(NODE, None).items
    cpus = int(node["status"]["allocatable"]["cpu"])
    async with asyncio.timeout(SECONDS):
        await cluster.add([(POD, "default", _pod("low", str(cpus - 1)))])
        await _until(lambda: is_bound("low"))
        policy = {"schedulingPolicy": {"gang": {"minCount": 2}}, "priorityClassName": "high"}
        member = {"schedulingGroup": {"podGroupName": "g"}, "priorityClassName": "high"}
        await cluster.add([(PRIORITY_CLASS, "", {"metadata": {"name": "high"}, "value": 10})])
        await cluster.add([(POD_GROUP, "default", {"metadata": {"name": "g"}, "spec": policy})])
        await cluster.add([(POD, "default", _pod(name, "2", **member)) for name in ("a", "b")])
        await _until(lambda: is_bound("a", "b"))
        await _until(lambda: service.list(EVENT, None).items)


@pytest.fixture(scope="module")
def used(tmp_path_factory):
    """What the scheduler did with all rules in force."""
    role, loop = [], embedded.SchedulerLoop

    def guarded(transport, *arguments, **options):
        role.append(UnderRole(transport, permissions_to_schedule(InstallOptions())))
        return loop(role[0], *arguments, **options)

    async def main():
        data = tmp_path_factory.mktemp("role") / "data"
        cluster = EmbeddedCluster(ClusterOptions(data_dir=data, port=0, node_count=1))
        await cluster.start()
        try:
            await _a_gang_that_evicts(cluster)
        finally:
            await cluster.stop()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedded, "SchedulerLoop", guarded)
        asyncio.run(main())
    return role[0].used


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.reason)
def test_without_a_rule_something_breaks(used, rule):
    """Each resource and verb of it was used, or is for a case that has a test of its own."""
    granted = {(resource, verb) for resource in rule.resources for verb in rule.verbs}
    needed = {(resource, verb) for by, resource, verb in used if by == rule}
    assert granted - needed <= ONLY_AFTER_FAULTS | AT_START | RESERVED | OF_TREES
