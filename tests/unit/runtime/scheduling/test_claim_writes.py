"""Claims of devices in a real store: written before the binding, once for all who share them, and released."""

import asyncio

from posse.engine.decisions import (
    AllocateClaims,
    Bind,
    ClaimAllocation,
    ExtendedResourceClaim,
    Placement,
    ReleaseClaim,
)
from posse.engine.events import BindRefused, ClaimWritten
from posse.engine.keys import ClaimKey, PodRef
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import POD, RESOURCE_CLAIM
from posse.model.decoding import decode
from posse.model.pod import ContainerExtendedResourceRequest
from posse.model.resource_claim import (
    CLAIM_FINALIZER,
    AllocationResult,
    ResourceClaimConsumerReference,
    ResourceClaimSpec,
)
from posse.runtime.scheduling.carrier import Carrier
from posse.runtime.scheduling.observers import DecisionObservers, Round
from posse.runtime.watching.event_recorder import EventRecorder
from posse.transport.patches import MERGE_PATCH, Patch
from posse.writes.round_writes import writes_of

POD_SPEC = {"containers": [{"name": "main", "image": "pause"}]}
CLAIM_SPEC = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}
CLAIM = ClaimKey("default", "shared")
STAMP = "2026-01-01T00:00:00Z"


def allocation(device="gpu-0"):
    result = {"request": "gpu", "driver": "gpu.example.com", "pool": "n1", "device": device}
    return decode(AllocationResult, {"devices": {"results": [result]}})


def consumer(pod):
    return ResourceClaimConsumerReference(resource="pods", name=pod.name, uid=pod.uid)


async def create_pod(lab, name):
    made = await lab.transport.create(POD, "default", {"metadata": {"name": name}, "spec": POD_SPEC})
    return PodRef("default", name, made["metadata"]["uid"], "default-scheduler")


async def create_claim(lab, name=CLAIM.name):
    body = {"metadata": {"name": name}, "spec": CLAIM_SPEC}
    return (await lab.transport.create(RESOURCE_CLAIM, "default", body))["metadata"]["uid"]


async def get_claim(lab, name=CLAIM.name):
    return await lab.transport.get(RESOURCE_CLAIM, "default", name)


async def node_of(lab, name):
    return (await lab.transport.get(POD, "default", name))["spec"].get("nodeName")


def bind(pod, uid, device="gpu-0"):
    claims = (ClaimAllocation(CLAIM, uid, allocation(device), (consumer(pod),)),)
    return Bind((Placement(pod, "n1"),), claims=claims)


async def act(lab, decisions):
    recorder = EventRecorder(lab.transport, lambda: 1000.0)
    carrier = Carrier(lab.transport, recorder, DecisionObservers(), lambda: 1000.0)
    return await carried_out(carrier, decisions)


async def carried_out(carrier, decisions):
    """What was refused. What has become of the claims is told first."""
    news = await carrier.act(Round(0.0, 0.0, decisions, ()), writes_of(decisions))
    told = [one for one in news if isinstance(one, ClaimWritten)]
    assert news[: len(told)] == told
    assert {one.claim for one in told} == {
        one.claim for bind in decisions for one in getattr(bind, "claims", ())
    }
    assert all(one.found is not None and one.found.metadata.name == one.claim.name for one in told)
    return news[len(told) :]


def test_pods_that_share_a_claim_are_one_write(in_lab):
    async def scenario(lab):
        uid = await create_claim(lab)
        pods = [await create_pod(lab, f"p{number}") for number in range(5)]
        last = await lab.transport.get(POD, "default", "p4")
        decisions = [bind(pod, uid) for pod in pods]
        assert await act(lab, decisions) == []
        claim = await get_claim(lab)
        assert claim["metadata"]["finalizers"] == [CLAIM_FINALIZER]
        assert claim["status"]["allocation"]["allocationTimestamp"]
        assert [one["name"] for one in claim["status"]["reservedFor"]] == [pod.name for pod in pods]
        assert int(claim["metadata"]["resourceVersion"]) == int(last["metadata"]["resourceVersion"]) + 2
        assert [await node_of(lab, pod.name) for pod in pods] == ["n1"] * 5

    in_lab(scenario)


def test_rounds_that_overlap_on_a_claim_do_not_conflict(in_lab):
    async def scenario(lab):
        uid = await create_claim(lab)
        pods = [await create_pod(lab, f"p{number}") for number in range(3)]
        for number, pod in enumerate(pods):
            recorder = EventRecorder(lab.transport, lambda: 1000.0)
            clock = 1000.0 + number
            carrier = Carrier(lab.transport, recorder, DecisionObservers(), lambda clock=clock: clock)
            decisions = [bind(pod, uid)]
            assert await carried_out(carrier, decisions) == []
        claim = await get_claim(lab)
        assert len(claim["status"]["reservedFor"]) == 3

    in_lab(scenario)


def test_an_allocation_by_somebody_else_refuses_the_pod(in_lab):
    async def scenario(lab):
        uid = await create_claim(lab)
        first, second = await create_pod(lab, "p1"), await create_pod(lab, "p2")
        assert await act(lab, [bind(first, uid)]) == []
        (refusal,) = await act(lab, [bind(second, uid, "gpu-1")])
        assert isinstance(refusal, BindRefused)
        assert refusal.pod_uid == second.uid
        assert await node_of(lab, "p2") is None
        assert len((await get_claim(lab))["status"]["reservedFor"]) == 1

    in_lab(scenario)


def test_pods_do_not_wait_for_the_claims_of_others(in_lab, monkeypatch):
    async def scenario(lab):
        slow, quick = await create_pod(lab, "slow"), await create_pod(lab, "quick")
        held, other = await create_claim(lab), await create_claim(lab, "other")
        claims = (
            ClaimAllocation(ClaimKey("default", "other"), other, allocation("gpu-1"), (consumer(quick),)),
        )
        patch, go_on, bound = lab.transport.patch, asyncio.Event(), asyncio.Event()
        bind_all = lab.transport.bind_all

        async def wait(kind, namespace, name, *args, **kwargs):
            if (kind, name) == (RESOURCE_CLAIM, CLAIM.name):
                await go_on.wait()
            return await patch(kind, namespace, name, *args, **kwargs)

        async def note(groups):
            answers = await bind_all(groups)
            bound.set()
            return answers

        monkeypatch.setattr(lab.transport, "patch", wait)
        monkeypatch.setattr(lab.transport, "bind_all", note)
        acting = asyncio.create_task(
            act(lab, [bind(slow, held), Bind((Placement(quick, "n1"),), claims=claims)])
        )
        async with asyncio.timeout(20):
            await bound.wait()
            assert [await node_of(lab, name) for name in ("slow", "quick")] == [None, "n1"]
            go_on.set()
            assert await acting == []
        assert await node_of(lab, "slow") == "n1"

    in_lab(scenario)


def test_a_claim_that_fails_holds_back_only_the_pods_that_use_it(in_lab, monkeypatch):
    async def scenario(lab):
        uid = await create_claim(lab)
        gang, other = [await create_pod(lab, name) for name in ("p1", "p2")], await create_pod(lab, "p3")
        claims = (ClaimAllocation(CLAIM, uid, allocation(), (consumer(gang[0]),)),)
        patch = lab.transport.patch

        async def fail(kind, *args, **kwargs):
            if kind is RESOURCE_CLAIM:
                raise ApiError(503, "ServiceUnavailable", "later")
            return await patch(kind, *args, **kwargs)

        monkeypatch.setattr(lab.transport, "patch", fail)
        together = Bind(tuple(Placement(pod, "n1") for pod in gang), claims=claims)
        refusals = await act(lab, [together, Bind((Placement(other, "n1"),))])
        assert {refusal.pod_uid for refusal in refusals} == {pod.uid for pod in gang}
        assert [await node_of(lab, name) for name in ("p1", "p2", "p3")] == [None, None, "n1"]

    in_lab(scenario)


def test_claims_with_binding_conditions_are_written_before_anything_is_bound(in_lab):
    async def scenario(lab):
        uid = await create_claim(lab)
        pod = await create_pod(lab, "p1")
        claims = (ClaimAllocation(CLAIM, uid, allocation(), (consumer(pod),)),)
        assert await act(lab, [AllocateClaims((Placement(pod, "n1"),), claims)]) == []
        assert (await get_claim(lab))["status"]["reservedFor"]
        assert await node_of(lab, "p1") is None

    in_lab(scenario)


def test_a_finalizer_that_a_controller_removed_meanwhile_comes_back(in_lab, monkeypatch):
    async def scenario(lab):
        uid, pod = await create_claim(lab), await create_pod(lab, "p1")
        patch = lab.transport.patch

        async def remove_before(kind, namespace, name, change, *, subresource=""):
            if kind is RESOURCE_CLAIM and subresource:
                claim = await get_claim(lab)
                metadata = {each: value for each, value in claim["metadata"].items() if each != "finalizers"}
                await lab.transport.update(kind, namespace, name, {**claim, "metadata": metadata})
            return await patch(kind, namespace, name, change, subresource=subresource)

        monkeypatch.setattr(lab.transport, "patch", remove_before)
        assert await act(lab, [bind(pod, uid)]) == []
        assert (await get_claim(lab))["metadata"]["finalizers"] == [CLAIM_FINALIZER]

    in_lab(scenario)


def test_releasing_a_claim(in_lab):
    async def scenario(lab):
        uid = await create_claim(lab)
        pods = [await create_pod(lab, name) for name in ("p1", "p2")]
        await act(lab, [bind(pod, uid) for pod in pods])
        stale = (await get_claim(lab))["metadata"]["resourceVersion"]
        await act(lab, [ReleaseClaim(CLAIM, uid, stale, (consumer(pods[0]),), deallocates=False)])
        claim = await get_claim(lab)
        assert [one["name"] for one in claim["status"]["reservedFor"]] == ["p2"]
        # A decision about an older version does nothing.
        await act(lab, [ReleaseClaim(CLAIM, uid, stale, (consumer(pods[1]),), deallocates=True)])
        assert await get_claim(lab) == claim
        fresh = claim["metadata"]["resourceVersion"]
        await act(lab, [ReleaseClaim(CLAIM, uid, fresh, (consumer(pods[1]),), deallocates=True)])
        assert "status" not in await get_claim(lab)

    in_lab(scenario)


def test_what_a_driver_reported_goes_with_the_devices_that_are_released(in_lab):
    async def scenario(lab):
        uid, pod = await create_claim(lab), await create_pod(lab, "p1")
        await act(lab, [bind(pod, uid)])
        failed = {"type": "failed", "status": "True", "reason": "Broken", "lastTransitionTime": STAMP}
        report = {"driver": "gpu.example.com", "pool": "n1", "device": "gpu-0", "conditions": [failed]}
        patch = Patch(MERGE_PATCH, {"status": {"devices": [report]}})
        await lab.transport.patch(RESOURCE_CLAIM, "default", CLAIM.name, patch, subresource="status")
        version = (await get_claim(lab))["metadata"]["resourceVersion"]
        assert await act(lab, [ReleaseClaim(CLAIM, uid, version, (consumer(pod),), deallocates=True)]) == []
        assert "status" not in await get_claim(lab)

    in_lab(scenario)


def test_a_claim_for_extended_resources_is_created_once(in_lab):
    async def scenario(lab):
        pod = await create_pod(lab, "p1")
        key = ClaimKey("default", "p1-extended-resources-abcde")
        mappings = (
            ContainerExtendedResourceRequest(container_name="main", resource_name="cpu", request_name="gpu"),
        )
        created = ExtendedResourceClaim(pod, decode(ResourceClaimSpec, CLAIM_SPEC), mappings)
        claims = (ClaimAllocation(key, "", allocation(), (consumer(pod),), created),)
        # The first attempt got as far as creating the claim.
        await act(lab, [AllocateClaims((Placement(pod, "n1"),), claims)])
        assert await act(lab, [Bind((Placement(pod, "n1"),), claims=claims)]) == []
        claim = await get_claim(lab, key.name)
        assert claim["spec"]["devices"]["requests"][0]["exactly"]["allocationMode"] == "ExactCount"
        assert claim["metadata"]["ownerReferences"][0]["uid"] == pod.uid
        assert claim["status"]["reservedFor"][0]["uid"] == pod.uid
        status = (await lab.transport.get(POD, "default", "p1"))["status"]
        assert status["extendedResourceClaimStatus"]["resourceClaimName"] == key.name
        assert await node_of(lab, "p1") == "n1"

    in_lab(scenario)


def test_150_pods_that_share_a_claim_start_in_one_round(in_lab):
    async def scenario(lab):
        uid = await create_claim(lab)
        pods = await asyncio.gather(*(create_pod(lab, f"p{number}") for number in range(150)))
        assert await act(lab, [bind(pod, uid) for pod in pods]) == []
        assert len((await get_claim(lab))["status"]["reservedFor"]) == 150

    in_lab(scenario)
