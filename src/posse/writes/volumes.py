"""Which volume is reserved for which claim, and on which node a volume is to be provisioned.

A controller in the cluster binds the claim itself; the scheduler sees when that is done.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from posse.engine.decisions import BindVolumes, KeepVolume, ProvisionVolume
from posse.engine.events import BindRefused
from posse.engine.storage.records import BOUND_BY_CONTROLLER, SELECTED_NODE
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM
from posse.transport.patches import MERGE_PATCH, Patch
from posse.writes.object_writes import ObjectPatch


@dataclass(frozen=True, slots=True)
class VolumeWrites:
    """What was written before a failure stays: the next attempt finds and uses it."""

    decision: BindVolumes

    def writes(self, _stamp: str) -> Sequence[ObjectPatch]:
        return [
            _keep(step) if isinstance(step, KeepVolume) else _provision(step) for step in self.decision.steps
        ]

    def failed(self, error: ApiError) -> BindRefused:
        return BindRefused(self.decision.pod.uid, self.decision.node, str(error))

    def note(self) -> None:
        """Volumes have no event of their own."""


def _keep(step: KeepVolume) -> ObjectPatch:
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
    # Another pod that uses the same claim may have been faster.
    wanted = {"spec": {"claimRef": {"uid": step.claim_uid}}}
    return ObjectPatch(PERSISTENT_VOLUME, "", step.volume, patch, reads_after_conflict=True, wanted=wanted)


def _provision(step: ProvisionVolume) -> ObjectPatch:
    metadata = {"uid": step.claim_uid, "annotations": {SELECTED_NODE: step.node}}
    patch = Patch(MERGE_PATCH, {"metadata": metadata})
    return ObjectPatch(PERSISTENT_VOLUME_CLAIM, step.claim.namespace, step.claim.name, patch)
