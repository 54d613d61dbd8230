"""The simulated autoscaler: the nodes that a group lacks, after a delay, all or none, one group at a time."""

import asyncio
import time

from posse.cli.up.examples import read_example
from posse.engine.cycle.advice import MissingNodes
from posse.engine.keys import GroupKey
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import NODE
from posse.kubelet.nodes import simulated_node
from posse.runtime.embedded.autoscaler import MAX_ADDED, SimulatedAutoscaler
from tests.unit.runtime.embedded.test_cluster import during, node_names, options

DELAY = 30.0
PATIENCE_SECONDS = 60.0


def lacking(name, *nodes):
    return MissingNodes(GroupKey("default", name), nodes)


class Setting:
    """An autoscaler over a list of what is missing and a clock that the test sets."""

    def __init__(self, lab):
        self.missing = []
        self.now = 1000.0
        self._lab = lab
        self._autoscaler = SimulatedAutoscaler(self._ask, lab.transport, lambda: self.now, DELAY)

    async def _ask(self):
        return self.missing

    async def added_after(self, seconds):
        """The names of all nodes that it has added so far."""
        self.now += seconds
        await self._autoscaler.look()
        names = [node["metadata"]["name"] for node in self._lab.service.list(NODE, None).items]
        return [name for name in names if name.startswith("autoscaled-")]


def like(lab, *taints):
    shape = simulated_node(1, (), time.time())
    shape["metadata"]["labels"]["rack"] = "r1"
    shape["status"]["allocatable"] = {"cpu": "3", "pods": "5"}
    shape["spec"]["taints"] = list(taints)
    lab.service.create(NODE, "", shape)


def test_they_come_after_the_delay_with_the_shape_of_the_other(in_lab):
    async def scenario(lab):
        like(
            lab,
            {"key": "gpu", "effect": "NoSchedule"},
            {"key": "node.kubernetes.io/x", "effect": "NoSchedule"},
        )
        setting = Setting(lab)
        setting.missing = [lacking("a", ("node-0001", 2))]
        assert await setting.added_after(0) == []
        assert await setting.added_after(DELAY - 1) == []
        assert await setting.added_after(1) == ["autoscaled-0001", "autoscaled-0002"]
        node = lab.service.get(NODE, "", "autoscaled-0002")
        assert node["metadata"]["labels"]["rack"] == "r1"
        assert node["metadata"]["labels"]["kubernetes.io/hostname"] == "autoscaled-0002"
        assert node["status"]["allocatable"] == {"cpu": "3", "pods": "5"}
        assert [taint["key"] for taint in node["spec"]["taints"]] == ["gpu"]

    in_lab(scenario)


def test_a_group_that_starts_meanwhile_gets_none(in_lab):
    async def scenario(lab):
        like(lab)
        setting = Setting(lab)
        setting.missing = [lacking("a", ("node-0001", 2))]
        await setting.added_after(0)
        setting.missing = []
        await setting.added_after(DELAY)
        setting.missing = [lacking("a", ("node-0001", 2))]
        assert await setting.added_after(1) == []

    in_lab(scenario)


def test_the_next_group_is_served_when_the_first_has_started(in_lab):
    async def scenario(lab):
        like(lab)
        setting = Setting(lab)
        first, second = lacking("a", ("node-0001", 1)), lacking("b", ("node-0001", 1))
        setting.missing = [first]
        await setting.added_after(0)
        setting.missing = [first, second]
        assert len(await setting.added_after(DELAY)) == 1
        setting.missing = [second]
        assert len(await setting.added_after(1)) == 1
        assert len(await setting.added_after(DELAY)) == 2

    in_lab(scenario)


def test_too_many_are_not_added_in_part(in_lab):
    async def scenario(lab):
        like(lab)
        setting = Setting(lab)
        setting.missing = [lacking("a", ("node-0001", MAX_ADDED + 1))]
        await setting.added_after(0)
        assert await setting.added_after(DELAY) == []

    in_lab(scenario)


def test_a_group_that_still_waits_does_not_keep_others_from_their_nodes(in_lab):
    async def scenario(lab):
        like(lab)
        setting = Setting(lab)
        setting.missing = [lacking("a", ("node-0001", MAX_ADDED + 1))]
        await setting.added_after(0)
        setting.missing.append(lacking("b", ("node-0001", 1)))
        assert await setting.added_after(1) == []
        assert await setting.added_after(DELAY - 1) == []
        assert await setting.added_after(DELAY) == ["autoscaled-0001"]

    in_lab(scenario)


def test_a_refusal_of_the_api_server_does_not_end_it(in_lab, monkeypatch):
    async def scenario(lab):
        like(lab)
        setting = Setting(lab)
        setting.missing = [lacking("a", ("node-0001", 1))]
        await setting.added_after(0)

        async def refuse(*_):
            raise ApiError(503, "ServiceUnavailable", "not now")

        with monkeypatch.context() as patched:
            patched.setattr(lab.transport, "list", refuse)
            assert await setting.added_after(DELAY) == []
        assert await setting.added_after(DELAY) == ["autoscaled-0001"]

    in_lab(scenario)


def test_a_gang_that_is_too_big_starts_on_nodes_that_are_added(tmp_path):
    """Nine workers of a node each for eight nodes."""
    items = [(item.kind, "default", item.obj) for item in read_example("gang-too-big")]

    async def scenario(cluster):
        await cluster.add(items)
        states, deadline = [], time.monotonic() + PATIENCE_SECONDS
        while states != ["Scheduled"] and time.monotonic() < deadline:
            states = [group.state for group in (await cluster.scheduling()).groups]
            await asyncio.sleep(0.05)
        assert len(node_names(cluster)) == 9

    during(options(tmp_path, node_count=8, autoscale_seconds=0.0), scenario)
