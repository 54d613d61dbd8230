import asyncio
import time

from posse.apiserver.kind_store import key_of
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import EVENT, LEASE, NODE, POD
from posse.kubelet import heartbeats
from posse.kubelet.nodes import simulated_node
from posse.runtime.embedded import simulated_nodes
from posse.runtime.embedded.simulated_nodes import SimulatedNodes
from posse.store.store import ABSENT


def pod(name="p", annotations=None, **spec):
    return {
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {"containers": [{"name": "main", "image": "pause"}], "nodeName": "node-0001", **spec},
    }


async def run(lab):
    await SimulatedNodes(lab.transport, time.time).run()


async def add_node(lab, ordinal=1):
    await lab.transport.create(NODE, "", simulated_node(ordinal, (), time.time()))


async def phase_of(lab, phase, name="p"):
    def reached():
        found = lab.find(POD, "default", name)
        return found if found and found["status"].get("phase") == phase else None

    return await lab.until(reached)


def test_a_pod_runs_and_ends_as_its_annotations_say(in_lab):
    async def scenario(lab):
        await add_node(lab)
        plan = {"posse.dev/run-seconds": "0.2", "posse.dev/exit-code": "3"}
        await lab.transport.create(POD, "default", pod(annotations=plan, restartPolicy="Never"))
        running = await phase_of(lab, "Running")
        assert running["status"]["hostIP"] == "172.16.0.1"
        failed = await phase_of(lab, "Failed")
        assert failed["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 3

    in_lab(scenario, run)


def test_what_was_there_before_is_taken_over(in_lab):
    async def scenario(lab):
        await add_node(lab)
        await lab.transport.create(POD, "default", pod())
        driver = asyncio.create_task(run(lab))
        await phase_of(lab, "Running")
        driver.cancel()

    in_lab(scenario)


def test_a_deleted_pod_goes_when_its_containers_have_stopped(in_lab):
    async def scenario(lab):
        await add_node(lab)
        await lab.transport.create(POD, "default", pod(annotations={"posse.dev/stop-seconds": "0.1"}))
        await phase_of(lab, "Running")
        await lab.transport.delete(POD, "default", "p")
        assert lab.find(POD, "default", "p")["metadata"]["deletionTimestamp"]
        await lab.until(lambda: lab.find(POD, "default", "p") is None)

    in_lab(scenario, run)


def test_a_node_deleted_by_the_user_goes_with_its_pods_and_lease(in_lab, monkeypatch):
    monkeypatch.setattr("posse.kubelet.fleet.LOST_NODE_SECONDS", 0.05)

    async def scenario(lab):
        await add_node(lab)
        await lab.transport.create(POD, "default", pod())
        await phase_of(lab, "Running")
        await lab.until(lambda: lab.find(LEASE, "kube-node-lease", "node-0001"))
        await lab.transport.delete(NODE, "", "node-0001")
        await lab.until(lambda: lab.find(POD, "default", "p") is None)
        await lab.until(lambda: lab.find(LEASE, "kube-node-lease", "node-0001") is None)

    in_lab(scenario, run)


def test_leases_are_made_and_then_renewed(in_lab, monkeypatch):
    monkeypatch.setattr("posse.kubelet.heartbeats.SHORTEST_INTERVAL_SECONDS", 0.05)

    async def scenario(lab):
        await add_node(lab)
        first = await lab.until(lambda: lab.find(LEASE, "kube-node-lease", "node-0001"))
        renewed = await lab.until(
            lambda: (found := lab.find(LEASE, "kube-node-lease", "node-0001")) != first and found
        )
        assert renewed["spec"]["renewTime"] > first["spec"]["renewTime"]
        assert renewed["metadata"]["uid"] == first["metadata"]["uid"]

    in_lab(scenario, run)


def test_a_bare_node_with_the_label_is_made_ready(in_lab):
    async def scenario(lab):
        bare = {"metadata": {"name": "mine", "labels": {"posse.dev/simulated": "true"}}}
        await lab.transport.create(NODE, "", bare)
        await lab.transport.create(POD, "default", pod(nodeName="mine"))
        running = await phase_of(lab, "Running")
        node = lab.find(NODE, "", "mine")
        assert node["status"]["allocatable"]["nvidia.com/gpu"] == "8"
        assert running["status"]["hostIP"] == node["status"]["addresses"][0]["address"]

    in_lab(scenario, run)


def test_objects_stored_before_they_were_checked_do_not_stop_the_nodes(in_lab):
    async def scenario(lab):
        half = {"metadata": {"name": "mine", "uid": "u1", "labels": {"posse.dev/simulated": "true"}}}
        half |= {"apiVersion": "v1", "kind": "Node", "status": {"conditions": [{"type": "Ready"}, {}]}}
        lab.store.put(key_of(NODE, half), half, ABSENT)
        created = await lab.transport.create(POD, "default", pod(nodeName="mine"))
        told = created | {"status": {"phase": "Pending", "conditions": [{"status": "True"}]}}
        lab.store.put(key_of(POD, created), told, int(created["metadata"]["resourceVersion"]))
        driver = asyncio.create_task(run(lab))
        await phase_of(lab, "Running")
        driver.cancel()

    in_lab(scenario)


def test_a_write_that_fails_stops_neither_the_others_nor_the_nodes(in_lab, caplog):
    async def background(lab):
        patch = lab.transport.patch

        async def fail_for_one(kind, namespace, name, *args, **options):
            if name == "odd":
                raise TypeError("odd indeed")
            return await patch(kind, namespace, name, *args, **options)

        lab.transport.patch = fail_for_one
        await SimulatedNodes(lab.transport, time.time).run()

    async def scenario(lab):
        await add_node(lab)
        for name in ("odd", "p"):
            await lab.transport.create(POD, "default", pod(name))
        await phase_of(lab, "Running")

    in_lab(scenario, background)
    assert "name='odd'" in caplog.text
    assert "TypeError: odd indeed" in caplog.text


def test_nodes_of_others_are_left_alone(in_lab):
    async def scenario(lab):
        stranger = simulated_node(1, (), time.time())
        del stranger["metadata"]["labels"]["posse.dev/simulated"]
        await lab.transport.create(NODE, "", stranger)
        await add_node(lab, 2)
        await lab.transport.create(POD, "default", pod("theirs"))
        await lab.transport.create(POD, "default", pod("ours", nodeName="node-0002"))
        await phase_of(lab, "Running", "ours")
        assert lab.find(POD, "default", "theirs")["status"]["phase"] == "Pending"

    in_lab(scenario, run)


def test_bad_annotations_are_told_in_an_event(in_lab):
    async def scenario(lab):
        await add_node(lab)
        await lab.transport.create(POD, "default", pod(annotations={"posse.dev/run-seconds": "soon"}))
        await phase_of(lab, "Running")
        events = await lab.until(lambda: lab.service.list(EVENT, "default").items)
        assert events[0]["reason"] == "InvalidAnnotation"
        assert events[0]["involvedObject"]["name"] == "p"
        assert "posse.dev/run-seconds" in events[0]["message"]

    in_lab(scenario, run)


def test_a_refused_write_is_tried_again(in_lab, monkeypatch):
    monkeypatch.setattr(simulated_nodes, "RETRY_SECONDS", 0.02)

    async def background(lab):
        transport, refusals = lab.transport, [ApiError(500, "InternalError", "not now")]
        patch = transport.patch

        async def refuse_once(*args, **kwargs):
            if refusals:
                raise refusals.pop()
            return await patch(*args, **kwargs)

        transport.patch = refuse_once
        await SimulatedNodes(transport, time.time).run()

    async def scenario(lab):
        await add_node(lab)
        await lab.transport.create(POD, "default", pod())
        await phase_of(lab, "Running")

    in_lab(scenario, background)


def test_a_pod_changed_by_another_at_the_same_time_still_starts(in_lab):
    async def background(lab):
        transport, patch = lab.transport, lab.transport.patch

        async def late(kind, namespace, name, body, **kwargs):
            if kind is POD and not lab.find(POD, "default", "p")["metadata"].get("labels"):
                labels = {"metadata": {"labels": {"by": "another"}}}
                await patch(POD, "default", "p", type(body)(body.media_type, labels))
            return await patch(kind, namespace, name, body, **kwargs)

        transport.patch = late
        await SimulatedNodes(transport, time.time).run()

    async def scenario(lab):
        await add_node(lab)
        await lab.transport.create(POD, "default", pod())
        running = await phase_of(lab, "Running")
        assert running["metadata"]["labels"] == {"by": "another"}

    in_lab(scenario, background)


def test_many_pods_start_together(in_lab):
    async def scenario(lab):
        await add_node(lab)
        for number in range(100):
            lab.service.create(POD, "default", pod(f"p{number}"))
        await lab.committer.durable()

        def all_running():
            phases = [item["status"]["phase"] for item in lab.service.list(POD, "default").items]
            return phases == ["Running"] * 100

        await lab.until(all_running)
        addresses = {item["status"]["podIP"] for item in lab.service.list(POD, "default").items}
        assert len(addresses) == 100

    in_lab(scenario, run)


def test_heartbeats_go_through_a_transport_of_their_own_if_there_is_one(in_lab, monkeypatch):
    """Writes of pods take all places of the other one."""
    monkeypatch.setattr(heartbeats, "SHORTEST_INTERVAL_SECONDS", 0.05)

    class Full:
        def __init__(self, transport):
            self._transport = transport

        def __getattr__(self, name):
            return getattr(self._transport, name)

        async def patch(self, *_, **__):
            await asyncio.Event().wait()

        async def create(self, *_, **__):
            await asyncio.Event().wait()

    async def background(lab):
        await SimulatedNodes(Full(lab.transport), time.time, lab.transport).run()

    async def scenario(lab):
        await add_node(lab)
        first = await lab.until(lambda: lab.find(LEASE, "kube-node-lease", "node-0001"))
        await lab.until(lambda: lab.find(LEASE, "kube-node-lease", "node-0001") != first)

    in_lab(scenario, background)


def test_nodes_beat_while_the_writes_of_pods_are_not_answered(in_lab, monkeypatch):
    """50,000 pods kept all nodes from beating: they were taken for dead, and no pod could be placed."""
    monkeypatch.setattr(heartbeats, "SHORTEST_INTERVAL_SECONDS", 0.05)

    async def background(lab):
        patch = lab.transport.patch

        async def never_for_pods(kind, *args, **options):
            if kind is POD:
                await asyncio.Event().wait()
            return await patch(kind, *args, **options)

        lab.transport.patch = never_for_pods
        await SimulatedNodes(lab.transport, time.time).run()

    async def scenario(lab):
        await add_node(lab)
        await lab.transport.create(POD, "default", pod())
        renewals = set()

        def renewed():
            lease = lab.find(LEASE, "kube-node-lease", "node-0001")
            renewals.update([lease["spec"]["renewTime"]] if lease else [])
            return len(renewals) > 3

        await lab.until(renewed)

    in_lab(scenario, background)
