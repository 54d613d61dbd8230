"""Writes down which volume is kept for which claim, and for which node a volume is to be made.

Binding the claim itself is left to whoever binds claims in the cluster; the scheduler sees when that is done.
"""

from typing import Any

from posse.engine.decisions import BindVolumes, KeepVolume, ProvisionVolume
from posse.engine.events import BindRefused
from posse.engine.storage.records import BOUND_BY_CONTROLLER, SELECTED_NODE
from posse.kinds.machinery.errors import CONFLICT, ApiError
from posse.kinds.registry import PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM
from posse.transport.patches import MERGE_PATCH, Patch
from posse.transport.transport import Transport


async def bind_volumes(transport: Transport, decision: BindVolumes) -> BindRefused | None:
    """Take the steps in order. What was written before one failed stays: the next attempt finds and uses it."""
    try:
        for step in decision.steps:
            if isinstance(step, KeepVolume):
                await _keep(transport, step)
            else:
                await _provision(transport, step)
    except ApiError as error:
        return BindRefused(decision.pod.uid, decision.node, str(error))
    return None


async def _keep(transport: Transport, step: KeepVolume) -> None:
    reference = {
        "apiVersion": PERSISTENT_VOLUME_CLAIM.api_version,
        "kind": PERSISTENT_VOLUME_CLAIM.name,
        "namespace": step.claim.namespace,
        "name": step.claim.name,
        "uid": step.claim_uid,
    }
    metadata: dict[str, Any] = {"resourceVersion": step.version}
    if step.by_us:
        metadata["annotations"] = {BOUND_BY_CONTROLLER: "yes"}
    patch = Patch(MERGE_PATCH, {"metadata": metadata, "spec": {"claimRef": reference}})
    try:
        await transport.patch(PERSISTENT_VOLUME, "", step.volume, patch)
    except ApiError as error:
        if error.code != CONFLICT or not await _is_kept(transport, step):
            raise


async def _is_kept(transport: Transport, step: KeepVolume) -> bool:
    """Another pod that uses the same claim may have been faster."""
    volume = await transport.get(PERSISTENT_VOLUME, "", step.volume)
    return bool((volume["spec"].get("claimRef") or {}).get("uid") == step.claim_uid)


async def _provision(transport: Transport, step: ProvisionVolume) -> None:
    metadata = {"uid": step.claim_uid, "annotations": {SELECTED_NODE: step.node}}
    patch = Patch(MERGE_PATCH, {"metadata": metadata})
    await transport.patch(PERSISTENT_VOLUME_CLAIM, step.claim.namespace, step.claim.name, patch)
