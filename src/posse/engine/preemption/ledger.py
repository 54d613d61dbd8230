"""Preemptions under way: for whom, who has to leave, and who of them is still there.

Each lasts until its preemptor has started or is gone; the room itself is held by nominations. The ledger also knows who was
evicted and has not started again since, so that one eviction which leads to the next can be told from one that does not.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from posse.engine.groups.group_book import GroupBook
from posse.engine.keys import GroupKey
from posse.engine.preemption.units import evicted_with
from posse.engine.state.pod_record import PodRecord
from posse.engine.verdict import VictimsTerminating
from posse.model.pod import Pod

_MAX_DISPLACED = 10_000
"""Origins that are remembered; the oldest are forgotten first."""


@dataclass(slots=True)
class Preemption:
    victims: dict[str, GroupKey | None] = field(default_factory=dict)
    """All pods that were evicted for the preemptor, by uid, and with which group each has to go, if with any."""
    left: dict[str, None] = field(default_factory=dict)
    """Victims that have not gone yet."""

    @property
    def progress(self) -> VictimsTerminating:
        whole = dict.fromkeys(group for group in self.victims.values() if group is not None)
        return VictimsTerminating(len(self.victims), len(whole), len(self.left))


class Ledger:
    def __init__(self, groups: GroupBook) -> None:
        self._groups = groups
        self._under_way: dict[str | GroupKey, Preemption] = {}
        """By preemptor: the uid of a pod, or a group."""
        self._waiting: dict[str, dict[str | GroupKey, None]] = {}
        """Who waits for a victim to go, by its uid: one may make room for several."""
        self._displaced: dict[str | GroupKey, None] = {}
        """Groups, and controllers of pods, of which somebody was evicted and nobody has started since."""
        self._shrunk: dict[GroupKey, None] = {}
        """Groups of whose victims some have gone, but not all, since somebody last asked."""

    def __len__(self) -> int:
        return len(self._under_way)

    def get(self, preemptor: str | GroupKey) -> Preemption | None:
        return self._under_way.get(preemptor)

    def is_waiting(self, preemptor: str | GroupKey) -> bool:
        """Whether somebody whose room it waits for has not gone yet."""
        preemption = self._under_way.get(preemptor)
        return preemption is not None and bool(preemption.left)

    def waiting_for(self, victim: PodRecord) -> list[str | GroupKey]:
        return list(self._waiting.get(victim.ref.uid, ()))

    def begin(self, preemptor: PodRecord | GroupKey, victims: Sequence[PodRecord]) -> bool:
        """Note who is evicted for whom; returns whether the preemptor was itself evicted and has not started since."""
        key = preemptor if isinstance(preemptor, GroupKey) else preemptor.ref.uid
        origin = preemptor if isinstance(preemptor, GroupKey) else origin_of(preemptor)
        is_cascade = origin in self._displaced
        preemption = self._under_way.setdefault(key, Preemption())
        for victim in victims:
            preemption.victims[victim.ref.uid] = self._whole(victim)
            preemption.left[victim.ref.uid] = None
            self._waiting.setdefault(victim.ref.uid, {})[key] = None
            self._displaced[origin_of(victim)] = None
        while len(self._displaced) > _MAX_DISPLACED:
            del self._displaced[next(iter(self._displaced))]
        return is_cascade

    def _whole(self, victim: PodRecord) -> GroupKey | None:
        """Its group, if that is not evicted one pod at a time."""
        return victim.group if victim.group and evicted_with(victim.group, self._groups) else None

    def gone(self, victim: PodRecord) -> list[str | GroupKey]:
        """It has left; returns who waited for it."""
        waiting = list(self._waiting.pop(victim.ref.uid, ()))
        for preemptor in waiting:
            left = self._under_way[preemptor].left
            del left[victim.ref.uid]
            if isinstance(preemptor, GroupKey) and left:
                self._shrunk[preemptor] = None
        return waiting

    def stays(self, victim: PodRecord) -> None:
        """It will not leave after all, and counts as if it had never been evicted."""
        for preemptor in self.gone(victim):
            del self._under_way[preemptor].victims[victim.ref.uid]

    def take_shrunk(self) -> list[GroupKey]:
        taken, self._shrunk = list(self._shrunk), {}
        return taken

    def started(self, records: Sequence[PodRecord]) -> None:
        """They have nodes: nothing more is made for them, and they are nobody's victims any more."""
        for record in records:
            self.release(record.group or record.ref.uid)
            self._displaced.pop(origin_of(record), None)

    def release(self, preemptor: str | GroupKey) -> None:
        preemption = self._under_way.pop(preemptor, None)
        for victim in preemption.left if preemption is not None else ():
            del self._waiting[victim][preemptor]


def origin_of(record: PodRecord) -> str | GroupKey:
    """What a pod comes from, and what brings another like it when it is gone; itself if nothing does."""
    return record.group or _controller(record.pod) or record.ref.uid


def _controller(pod: Pod) -> str:
    return next((owner.uid for owner in pod.metadata.owner_references if owner.controller), "")
