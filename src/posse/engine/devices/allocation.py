"""The allocation that is written to a claim, from the devices that were found for it."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from posse.engine.devices.promises import Promise
from posse.engine.devices.records import DeviceRecord, quantity_of
from posse.engine.devices.shares import Consumption
from posse.engine.devices.wants import Grant
from posse.model.meta import Quantity
from posse.model.placement import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from posse.model.resource_claim import (
    FROM_CLAIM,
    FROM_CLASS,
    AllocationResult,
    DeviceAllocationConfiguration,
    DeviceAllocationResult,
    DeviceClass,
    DeviceRequestAllocationResult,
    ResourceClaimSpec,
)

_NAME = "metadata.name"
_MAX_NODES = 10_000


def allocation_of(
    promise: Promise, spec: ResourceClaimSpec, claim_uid: str, classes: Mapping[str, DeviceClass]
) -> AllocationResult:
    """Without the time, which the write adds."""
    grants = promise.grants
    return AllocationResult(
        devices=DeviceAllocationResult(
            results=tuple([_result(one, number, claim_uid) for number, one in enumerate(grants)]),
            config=(*_class_configuration(grants, classes), *_claim_configuration(grants, spec)),
        ),
        node_selector=node_selector(promise),
    )


def _result(grant: Grant, number: int, claim_uid: str) -> DeviceRequestAllocationResult:
    device, wanted, share = grant.device, grant.wanted, grant.consumed
    return DeviceRequestAllocationResult(
        request=wanted.name,
        driver=device.id.driver,
        pool=device.id.pool,
        device=device.id.name,
        admin_access=True if wanted.is_admin else None,
        tolerations=wanted.tolerations,
        binding_conditions=device.binding_conditions,
        binding_failure_conditions=device.failure_conditions,
        share_id=_share_id(claim_uid, str(device.id), number) if share is not None else None,
        consumed_capacity=_quantities(device, share) if share else {},
    )


def _quantities(device: DeviceRecord, share: Consumption) -> dict[str, Quantity]:
    stated = device.kind.facts.capacity
    return {name: quantity_of(amount, str(stated[name])) for name, amount in share.items()}


def _share_id(claim_uid: str, device: str, number: int) -> str:
    """Unique, and equal for equal decisions; in the form of a uid."""
    digest = hashlib.sha256(f"{claim_uid} {device} {number}".encode()).hexdigest()
    return "-".join((digest[:8], digest[8:12], f"5{digest[13:16]}", f"8{digest[17:20]}", digest[20:32]))


def _class_configuration(
    grants: Sequence[Grant], classes: Mapping[str, DeviceClass]
) -> Iterator[DeviceAllocationConfiguration]:
    named = dict.fromkeys([one.wanted.class_name for one in grants])
    configured = [name for name in named if name in classes and classes[name].spec.config]
    given = list(dict.fromkeys(one.wanted for one in grants)) if configured else []
    for name in configured:
        requests = tuple(one.name for one in given if one.class_name == name)
        for one in classes[name].spec.config:
            yield DeviceAllocationConfiguration(
                source=FROM_CLASS, requests=() if len(requests) == len(given) else requests, opaque=one.opaque
            )


def _claim_configuration(
    grants: Sequence[Grant], spec: ResourceClaimSpec
) -> Iterator[DeviceAllocationConfiguration]:
    given = dict.fromkeys(one.wanted.name for one in grants) if spec.devices.config else {}
    for one in spec.devices.config:
        covered = [name for name in given if name in one.requests or name.partition("/")[0] in one.requests]
        if one.requests and not covered:
            continue
        requests = () if len(covered) == len(given) else tuple(covered)
        yield DeviceAllocationConfiguration(source=FROM_CLAIM, requests=requests, opaque=one.opaque)


@lru_cache(maxsize=_MAX_NODES)
def _only(node: str) -> NodeSelector:
    here = NodeSelectorRequirement(key=_NAME, operator="In", values=(node,))
    return NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(here,)),))


def node_selector(promise: Promise) -> NodeSelector | None:
    """The nodes from which all devices can be used; None for all nodes."""
    devices = [one.device for one in promise.grants]
    if [device for device in devices if device.node_name or device.binds_to_node]:
        return _only(promise.node)
    selectors = dict.fromkeys(device.selector for device in devices if device.selector is not None)
    if not selectors:
        return None
    terms = [one.node_selector_terms[0] for one in selectors if one.node_selector_terms]
    expressions = dict.fromkeys(one for term in terms for one in term.match_expressions)
    fields = dict.fromkeys(one for term in terms for one in term.match_fields)
    return NodeSelector(
        node_selector_terms=(
            NodeSelectorTerm(match_expressions=tuple(expressions), match_fields=tuple(fields)),
        )
    )
