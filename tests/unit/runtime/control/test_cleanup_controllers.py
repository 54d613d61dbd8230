import asyncio
import time

from posse.controllers.event_expiry import EventExpiry
from posse.controllers.group_protection import PodGroupProtection
from posse.controllers.namespace_deletion import NamespaceDeletion
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import CONFIG_MAP, EVENT, NAMESPACE, POD, POD_GROUP
from posse.runtime.control import work_queue
from posse.runtime.control.reconciling import ReconcilerRunner
from posse.transport.patches import MERGE_PATCH, Patch


def pod(name="p", group="gang", **spec):
    spec = {"containers": [{"name": "main", "image": "pause"}], **spec}
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    return {"metadata": {"name": name}, "spec": spec}


def group(name="gang"):
    return {"metadata": {"name": name}, "spec": {"schedulingPolicy": {"gang": {"minCount": 1}}}}


async def run(lab):
    await ReconcilerRunner(lab.transport, [PodGroupProtection(), NamespaceDeletion()], time.time).run()


def test_a_deleted_group_goes_when_its_last_pod_has_ended(in_lab):
    async def scenario(lab):
        await lab.transport.create(POD_GROUP, "default", group())
        await lab.transport.create(POD, "default", pod())
        await lab.transport.delete(POD_GROUP, "default", "gang")
        await asyncio.sleep(0.05)
        assert lab.find(POD_GROUP, "default", "gang")["metadata"]["deletionTimestamp"]
        ended = Patch(MERGE_PATCH, {"status": {"phase": "Succeeded"}})
        await lab.transport.patch(POD, "default", "p", ended, subresource="status")
        await lab.until(lambda: lab.find(POD_GROUP, "default", "gang") is None)

    in_lab(scenario, run)


def test_a_group_deleted_while_nobody_looked_goes_after_the_start(in_lab):
    async def scenario(lab):
        await lab.transport.create(POD_GROUP, "default", group())
        await lab.transport.delete(POD_GROUP, "default", "gang")
        assert lab.find(POD_GROUP, "default", "gang")
        driver = asyncio.create_task(run(lab))
        await lab.until(lambda: lab.find(POD_GROUP, "default", "gang") is None)
        driver.cancel()

    in_lab(scenario)


def test_a_group_that_is_not_deleted_stays(in_lab):
    async def scenario(lab):
        await lab.transport.create(POD_GROUP, "default", group())
        await lab.transport.create(POD, "default", pod())
        await lab.transport.delete(POD, "default", "p", grace_seconds=0)
        await asyncio.sleep(0.05)
        assert "deletionTimestamp" not in lab.find(POD_GROUP, "default", "gang")["metadata"]

    in_lab(scenario, run)


def test_a_deleted_namespace_is_emptied_and_goes(in_lab):
    async def scenario(lab):
        await lab.transport.create(NAMESPACE, "", {"metadata": {"name": "team"}})
        await lab.transport.create(POD_GROUP, "team", group())
        await lab.transport.create(POD, "team", pod())
        await lab.transport.create(CONFIG_MAP, "team", {"metadata": {"name": "settings"}})
        await lab.transport.delete(NAMESPACE, "", "team")
        assert lab.find(NAMESPACE, "", "team")["status"]["phase"] == "Terminating"
        await lab.until(lambda: lab.find(NAMESPACE, "", "team") is None)
        for kind, name in ((POD_GROUP, "gang"), (POD, "p"), (CONFIG_MAP, "settings")):
            assert lab.find(kind, "team", name) is None
        assert lab.find(NAMESPACE, "", "default")

    in_lab(scenario, run)


def test_a_namespace_waits_for_what_takes_its_time(in_lab):
    async def scenario(lab):
        await lab.transport.create(NAMESPACE, "", {"metadata": {"name": "team"}})
        await lab.transport.create(POD, "team", pod(group="", nodeName="somewhere"))
        await lab.transport.delete(NAMESPACE, "", "team")
        await lab.until(lambda: lab.find(POD, "team", "p")["metadata"].get("deletionTimestamp"))
        await asyncio.sleep(0.05)
        assert lab.find(NAMESPACE, "", "team")
        await lab.transport.delete(POD, "team", "p", grace_seconds=0)
        await lab.until(lambda: lab.find(NAMESPACE, "", "team") is None)

    in_lab(scenario, run)


def test_a_step_that_fails_stops_neither_the_others_nor_the_controllers(in_lab, monkeypatch, caplog):
    monkeypatch.setattr(work_queue, "RETRY_SECONDS", 0.02)

    async def background(lab):
        delete, failures = lab.transport.delete, [OverflowError("too far"), ApiError(500, "Internal", "no")]

        async def fail_first(kind, namespace, name, **options):
            if kind is POD and failures:
                raise failures.pop()
            return await delete(kind, namespace, name, **options)

        monkeypatch.setattr(lab.transport, "delete", fail_first)
        await run(lab)

    async def scenario(lab):
        await lab.transport.create(NAMESPACE, "", {"metadata": {"name": "team"}})
        await lab.transport.create(POD, "team", pod())
        lab.service.delete(NAMESPACE, "", "team")
        await lab.until(lambda: lab.find(NAMESPACE, "", "team") is None)

    in_lab(scenario, background)
    assert "namespace-controller team could not be handled and is left out" in caplog.text
    assert "OverflowError: too far" in caplog.text


def test_however_many_old_events_there_are_they_are_swept(in_lab):
    async def scenario(lab):
        reference = {"kind": "Pod", "namespace": "default", "name": "p"}
        for number in range(2500):
            event = {"metadata": {"name": f"e{number}"}, "involvedObject": reference, "reason": "Tested"}
            lab.service.create(EVENT, "default", event)
        an_hour_on = ReconcilerRunner(lab.transport, [EventExpiry()], lambda: time.time() + 3700)
        sweeping = asyncio.create_task(an_hour_on.run())
        await lab.until(lambda: not lab.service.list(EVENT, None).items)
        sweeping.cancel()

    in_lab(scenario)
