"""The in-process transport: same seam as a network, same guarantees."""

import asyncio
import copy

import pytest

from posse.apiserver.committer import Committer
from posse.apiserver.local import LocalTransport
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import POD
from posse.transport.patches import MERGE_PATCH, Patch
from posse.transport.transport import PodBinding, Transport


def drive(service, body):
    """Run a coroutine function that takes a transport."""

    async def run():
        committer = Committer(service.store)
        transport: Transport = LocalTransport(service, committer)
        try:
            await body(transport)
        finally:
            await committer.close()

    asyncio.run(run())


def test_objects_are_created_read_changed_and_deleted(service, pod):
    async def body(transport):
        created = await transport.create(POD, "default", pod())
        assert await transport.get(POD, "default", "p") == created
        labels = Patch(MERGE_PATCH, {"metadata": {"labels": {"a": "1"}}})
        patched = await transport.patch(POD, "default", "p", labels)
        changed = copy.deepcopy(patched)
        changed["metadata"]["labels"]["a"] = "2"
        await transport.update(POD, "default", "p", changed)
        assert len((await transport.list(POD, labels="a=2")).items) == 1
        assert (await transport.list(POD, "default", fields="spec.nodeName=x")).items == []
        running = Patch(MERGE_PATCH, {"status": {"phase": "Running"}})
        await transport.patch(POD, "default", "p", running, subresource="status")
        assert labels.body == {"metadata": {"labels": {"a": "1"}}}
        uid = created["metadata"]["uid"]
        await transport.delete(POD, "default", "p", grace_seconds=0, uid=uid)
        with pytest.raises(ApiError, match="not found"):
            await transport.get(POD, "default", "p")

    drive(service, body)


def test_what_is_given_is_not_kept(service, pod):
    async def body(transport):
        mine = pod()
        before = copy.deepcopy(mine)
        await transport.create(POD, "default", mine)
        assert mine == before
        mine["spec"]["containers"].clear()
        assert (await transport.get(POD, "default", "p"))["spec"]["containers"]

    drive(service, body)


def test_a_watch_yields_what_comes_at_once_as_one_batch(service, pod):
    async def body(transport):
        version = (await transport.list(POD)).resource_version
        batches = transport.watch(POD, version)
        first = asyncio.create_task(anext(batches))
        await asyncio.sleep(0)
        for number in range(10):
            service.create(POD, "default", pod(f"p{number}"))
        assert len(await first) == 10
        service.delete(POD, "default", "p3")
        (event,) = await anext(batches)
        assert (event.type, event.obj["metadata"]["name"]) == ("DELETED", "p3")
        await batches.aclose()
        assert service.store._log._feeds["pods"] == []

    drive(service, body)


def test_a_watch_that_cannot_start_or_go_on_ends_with_410(service, pod):
    async def body(transport):
        with pytest.raises(ApiError) as caught:
            await anext(transport.watch(POD, str(service.store.version + 1)))
        assert caught.value.code == 410
        batches = transport.watch(POD, str(service.store.version), fields="spec.nodeName=")
        waiting = asyncio.create_task(anext(batches))
        await asyncio.sleep(0)
        for number in range(300):
            service.create(POD, "default", pod(f"p{number}"))
        with pytest.raises(ApiError) as caught:
            await waiting
        assert caught.value.code == 410

    drive(service, body)


def test_many_bindings_are_answered_in_order(service, pod):
    async def body(transport):
        for name in ("a", "b"):
            await transport.create(POD, "default", pod(name))
        uid = (await transport.get(POD, "default", "a"))["metadata"]["uid"]
        answers = await transport.bind_all(
            [
                [PodBinding("default", "a", uid, "n1")],
                [PodBinding("default", "gone", "", "n1")],
                [PodBinding("default", "b", "other", "n1")],
                [PodBinding("default", "b", "", "n2")],
            ]
        )
        assert [answer and answer.code for (answer,) in answers] == [None, 404, 409, None]
        bound = {
            each["metadata"]["name"]: each["spec"]["nodeName"] for each in (await transport.list(POD)).items
        }
        assert bound == {"a": "n1", "b": "n2"}

    drive(service, body)


def test_pods_of_a_group_are_bound_all_or_none(service, pod):
    async def body(transport):
        for name in ("a", "b"):
            await transport.create(POD, "default", pod(name))
        together = [PodBinding("default", name, "", "n1") for name in ("a", "gone", "b")]
        (answers,) = await transport.bind_all([together])
        assert [answer and answer.code for answer in answers] == [409, 404, 409]
        assert not any("nodeName" in each["spec"] for each in (await transport.list(POD)).items)
        (answers,) = await transport.bind_all([[together[0], together[2]]])
        assert list(answers) == [None, None]

    drive(service, body)


def test_a_single_binding_raises_its_refusal(service, pod):
    async def body(transport):
        await transport.create(POD, "default", pod())
        await transport.bind("default", "p", "", "n1")
        with pytest.raises(ApiError, match="already assigned"):
            await transport.bind("default", "p", "", "n2")

    drive(service, body)
