"""A pod's claims must be usable, and the node must reach their volumes: those they have, or those they would get.

Claims that wait for their first pod get a volume together with its node. Which ones, is worked out in `volumes.choice`.
"""

from collections.abc import Sequence

import numpy as np

from posse.engine.nodes.arrays import BoolArray, Rows
from posse.engine.rules.context import RuleContext, SchedulingClass
from posse.engine.storage.claims import ClaimUse, VolumeNeeds
from posse.engine.storage.storage import Storage

_OUT_OF_REACH = "node(s) didn't match PersistentVolume's node affinity"
_NONE_TO_BIND = "node(s) didn't find available persistent volumes to bind"
_NO_SUCH_VOLUME = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
_UNBOUND = "pod has unbound immediate PersistentVolumeClaims"


class ClaimsUsable:
    name = "VolumeBinding"

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "UsabilityCheck | None":
        needs = scheduling_class.pod_class.volumes
        return UsabilityCheck(needs.claims, context.storage) if needs is not None and needs.claims else None


class UsabilityCheck:
    def __init__(self, uses: Sequence[ClaimUse], storage: Storage) -> None:
        self._uses = uses
        self._book = storage.book

    def objection(self) -> str:
        for use in self._uses:
            if problem := self._problem(use):
                return problem
        claims = [self._book.claims[use.key] for use in self._uses]
        unbound = any(not claim.is_bound and not self._book.is_delayed(claim) for claim in claims)
        return _UNBOUND if unbound else ""

    def _problem(self, use: ClaimUse) -> str:
        claim_name = f'persistentvolumeclaim "{use.key.name}"'
        record = self._book.claims.get(use.key)
        if record is None:
            return self._absence(use)
        claim = record.claim
        if claim.status.phase == "Lost":
            return f'{claim_name} bound to non-existent persistentvolume "{claim.spec.volume_name}"'
        if claim.metadata.deletion_timestamp:
            return f"{claim_name} is being deleted"
        owners = (owner.uid for owner in claim.metadata.owner_references if owner.controller)
        if use.owner is not None and use.owner.uid not in owners:
            pod = f"{use.owner.namespace}/{use.owner.name}"
            return f"PVC {use.key} was not created for pod {pod} (pod is not owner)"
        return ""

    def _absence(self, use: ClaimUse) -> str:
        if use.key in self._book.unreadable_claims:
            return f'persistentvolumeclaim "{use.key.name}": {self._book.unreadable_claims[use.key]}'
        if use.owner is None:
            return f'persistentvolumeclaim "{use.key.name}" not found'
        return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{use.key.name}"'


class VolumeBinding:
    name = "VolumeBinding"

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "ReachFilter | None":
        needs = scheduling_class.pod_class.volumes
        return ReachFilter(needs, context) if needs is not None and needs.claims else None


class ReachFilter:
    is_row_local = False
    """A claim that gets its volume with one pod decides where the next may go."""

    def __init__(self, needs: VolumeNeeds, context: RuleContext) -> None:
        self._needs = needs
        self._nodes = context.nodes
        self._storage = context.storage

    def passes(self, rows: Rows) -> BoolArray:
        out_of_reach, missing = self._bound_claims()
        return (self._storage.choices(self._needs).satisfied & ~out_of_reach & ~missing)[rows]

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        out_of_reach, missing = self._bound_claims()
        satisfied = self._storage.choices(self._needs).satisfied
        return (
            (_OUT_OF_REACH, out_of_reach[rows]),
            (_NONE_TO_BIND, ~satisfied[rows]),
            (_NO_SUCH_VOLUME, missing[rows]),
        )

    def hopeless(self, rows: Rows) -> BoolArray:
        return ~self.passes(rows)

    def _bound_claims(self) -> tuple[BoolArray, BoolArray]:
        """Where the first claim that cannot be used has a volume out of reach, and where it has none."""
        out_of_reach, missing = (np.zeros(self._nodes.alive.size, dtype=np.bool_) for _ in range(2))
        for claim in self._storage.bound_claims(self._needs):
            volume = self._storage.book.volume_of(claim)
            if volume is None:
                missing = ~out_of_reach
                break
            out_of_reach |= ~self._storage.reach.mask(volume.node_selector)
        return out_of_reach, missing
