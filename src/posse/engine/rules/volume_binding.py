"""Volumes that are chosen with the node: reachable volumes, zones of bound ones, and the best fit.

Claims that wait for their first pod get a volume together with its node; `storage.matching` says which. Nodes
with zone or region labels must agree with those of a bound volume, whose value may list several zones,
separated by two underscores. Preferred are nodes where the chosen volumes are least oversized, counted per
storage class.
"""

from collections.abc import Iterable, Sequence
from operator import attrgetter

import numpy as np

from posse.engine.nodes.arrays import BoolArray, IntArray, Rows
from posse.engine.nodes.label_columns import ABSENT
from posse.engine.pods.domain_counts import has_domain
from posse.engine.rules.context import RuleContext, SchedulingClass
from posse.engine.storage.book import ClaimUse, VolumeNeeds
from posse.engine.storage.matching import NOT_CHOSEN, Choices, ClaimChoice
from posse.engine.storage.records import VolumeRecord
from posse.engine.storage.storage import Storage

_OUT_OF_REACH = "node(s) didn't match PersistentVolume's node affinity"
_NONE_TO_BIND = "node(s) didn't find available persistent volumes to bind"
_NO_SUCH_VOLUME = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
_UNBOUND = "pod has unbound immediate PersistentVolumeClaims"


class ClaimsUsable:
    name = "VolumeBinding"
    applies_to = attrgetter("pod_class.volumes")

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
    applies_to = attrgetter("pod_class.volumes")

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

    def unresolvable(self, rows: Rows) -> BoolArray:
        return ~self.passes(rows)

    def _bound_claims(self) -> tuple[BoolArray, BoolArray]:
        """Where the first unusable claim has an unreachable volume, and where it has none."""
        out_of_reach, missing = (np.zeros(self._nodes.alive.size, dtype=np.bool_) for _ in range(2))
        for claim in self._storage.bound_claims(self._needs):
            volume = self._storage.book.volume_of(claim)
            if volume is None:
                missing = ~out_of_reach
                break
            out_of_reach |= ~self._storage.reach.mask(volume.node_selector)
        return out_of_reach, missing


_ELSEWHERE = "node(s) had no available volume zone"
_SEPARATOR = "__"
_ZONE, _REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
_PRESENT_KEY = {
    "failure-domain.beta.kubernetes.io/zone": _ZONE,
    "failure-domain.beta.kubernetes.io/region": _REGION,
    _ZONE: _ZONE,
    _REGION: _REGION,
}
"""Location label keys, with their current names."""


def _uses(scheduling_class: SchedulingClass) -> list[ClaimUse]:
    """Claim uses, without claims that are made for the pod itself."""
    needs = scheduling_class.pod_class.volumes
    return [use for use in needs.claims if use.owner is None] if needs is not None else []


class BoundVolumesExist:
    name = "VolumeZone"
    applies_to = attrgetter("pod_class.volumes")

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "VolumesCheck | None":
        uses = _uses(scheduling_class)
        return VolumesCheck(uses, context.storage) if uses else None


class VolumesCheck:
    def __init__(self, uses: Sequence[ClaimUse], storage: Storage) -> None:
        self._uses = uses
        self._book = storage.book

    def objection(self) -> str:
        for use in self._uses:
            claim = self._book.claims.get(use.key)
            name = claim.claim.spec.volume_name if claim is not None else ""
            if name and name not in self._book.volumes:
                return f'persistentvolume "{name}" not found'
        return ""


class VolumeZone:
    name = "VolumeZone"
    applies_to = attrgetter("pod_class.volumes")

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "ZoneFilter | None":
        uses = _uses(scheduling_class)
        return ZoneFilter(uses, context) if uses else None


class ZoneFilter:
    is_row_local = False
    """The volume of a claim, and its labels, can change at any time."""

    def __init__(self, uses: Sequence[ClaimUse], context: RuleContext) -> None:
        self._uses = uses
        self._nodes = context.nodes
        self._book = context.storage.book

    def passes(self, rows: Rows) -> BoolArray:
        wanted = [place for volume in self._volumes() for place in _places(volume)]
        if not wanted:
            return np.ones(self._nodes.alive[rows].shape, dtype=np.bool_)
        fits: BoolArray = np.logical_and.reduce([self._is_at(key, values) for key, values in wanted])
        # Nodes without location labels are assumed to be where the volume is.
        return (fits | ~self._is_anywhere())[rows]

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        return ((_ELSEWHERE, ~self.passes(rows)),)

    def unresolvable(self, rows: Rows) -> BoolArray:
        return ~self.passes(rows)

    def _volumes(self) -> list[VolumeRecord]:
        claims = (self._book.claims.get(use.key) for use in self._uses)
        volumes = (self._book.volume_of(claim) for claim in claims if claim is not None)
        return [volume for volume in volumes if volume is not None]

    def _is_anywhere(self) -> BoolArray:
        columns = [self._nodes.labels.column(key) for key in _PRESENT_KEY]
        anywhere: BoolArray = np.logical_or.reduce([has_domain(column) for column in columns])
        return anywhere

    def _is_at(self, key: str, values: Sequence[str]) -> BoolArray:
        old, present = (self._nodes.labels.column(name) for name in (key, _PRESENT_KEY[key]))
        there, there_today = (
            np.isin(column.ids, [column.id_of(value) for value in values]) for column in (old, present)
        )
        return np.where(np.equal(old.ids, ABSENT), there_today, there)


def _places(volume: VolumeRecord) -> list[tuple[str, list[str]]]:
    labels = volume.volume.metadata.labels
    listed = [
        (key, [value.strip() for value in labels[key].split(_SEPARATOR)])
        for key in _PRESENT_KEY
        if key in labels
    ]
    return [(key, values) for key, values in listed if all(values)]


_FULL_MARKS = 100


class VolumePreference:
    name = "VolumeBinding"
    applies_to = attrgetter("pod_class.volumes")

    def __init__(self, weight: int = 1) -> None:
        self.weight = weight

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "RoomScore | None":
        needs = scheduling_class.pod_class.volumes
        return RoomScore(needs, context.storage) if needs is not None and needs.claims else None


class RoomScore:
    def __init__(self, needs: VolumeNeeds, storage: Storage) -> None:
        self._needs = needs
        self._storage = storage

    def points(self, feasible: BoolArray) -> IntArray:
        choices = self._storage.choices(self._needs)
        total, counted = (np.zeros(feasible.size, dtype=np.int64) for _ in range(2))
        if not choices.volumes:
            return total
        for together in _by_class(choices.choices):
            wanted, offered, served = _amounts(choices, together)
            spare = _FULL_MARKS - wanted * _FULL_MARKS // np.maximum(offered, 1)
            total += np.where(np.greater(offered, 0), np.maximum(spare, 0), 0)
            counted += served
        # The average, with halves rounded up.
        return (2 * total + counted) // np.maximum(2 * counted, 1)


def _by_class(choices: Iterable[ClaimChoice]) -> Iterable[list[ClaimChoice]]:
    classes: dict[str, list[ClaimChoice]] = {}
    for choice in choices:
        classes.setdefault(choice.claim.storage_class, []).append(choice)
    return classes.values()


def _amounts(choices: Choices, together: Iterable[ClaimChoice]) -> tuple[IntArray, IntArray, BoolArray]:
    """Requested and chosen capacity of claims of one class that get a volume, and where any of them does."""
    capacities = np.array([volume.capacity for volume in choices.volumes], dtype=np.int64)
    wanted, offered = (np.zeros(choices.satisfied.size, dtype=np.int64) for _ in range(2))
    served = np.zeros(choices.satisfied.size, dtype=np.bool_)
    for choice in together:
        has_volume = np.not_equal(choice.chosen, NOT_CHOSEN)
        served |= has_volume
        wanted += np.where(has_volume, choice.claim.size, 0)
        offered += np.where(has_volume, capacities[choice.chosen], 0)
    return wanted, offered, served
