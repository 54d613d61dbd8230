"""Zone and region labels of a bound volume: a node that has such labels must have the same.

A value may list several zones, separated by two underscores. A list with a gap says nothing.
"""

from collections.abc import Sequence

import numpy as np

from posse.engine.nodes.arrays import BoolArray, Rows
from posse.engine.nodes.label_columns import ABSENT
from posse.engine.pods.domain_counts import has_domain
from posse.engine.rules.context import RuleContext, SchedulingClass
from posse.engine.storage.claims import ClaimUse
from posse.engine.storage.records import VolumeRecord
from posse.engine.storage.storage import Storage

_ELSEWHERE = "node(s) had no available volume zone"
_SEPARATOR = "__"
_ZONE, _REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
_PRESENT_KEY = {
    "failure-domain.beta.kubernetes.io/zone": _ZONE,
    "failure-domain.beta.kubernetes.io/region": _REGION,
    _ZONE: _ZONE,
    _REGION: _REGION,
}
"""Label keys that tell where something is, with what each is called today."""


def _uses(scheduling_class: SchedulingClass) -> list[ClaimUse]:
    """Claims that pods make for themselves are not looked at."""
    needs = scheduling_class.pod_class.volumes
    return [use for use in needs.claims if use.owner is None] if needs is not None else []


class BoundVolumesExist:
    name = "VolumeZone"

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

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "ZoneFilter | None":
        uses = _uses(scheduling_class)
        return ZoneFilter(uses, context) if uses else None


class ZoneFilter:
    is_row_local = False
    """Which volume is behind a claim, and how it is labelled, can change at any time."""

    def __init__(self, uses: Sequence[ClaimUse], context: RuleContext) -> None:
        self._uses = uses
        self._nodes = context.nodes
        self._book = context.storage.book

    def passes(self, rows: Rows) -> BoolArray:
        wanted = [place for volume in self._volumes() for place in _places(volume)]
        if not wanted:
            return np.ones(self._nodes.alive[rows].shape, dtype=np.bool_)
        fits: BoolArray = np.logical_and.reduce([self._is_at(key, values) for key, values in wanted])
        # Nodes that say nothing about where they are, are taken to be wherever the volume is.
        return (fits | ~self._is_anywhere())[rows]

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        return ((_ELSEWHERE, ~self.passes(rows)),)

    def hopeless(self, rows: Rows) -> BoolArray:
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
