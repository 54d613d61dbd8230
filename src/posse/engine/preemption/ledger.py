"""Preemptions under way: the preemptor, its victims, and the victims that have not left yet.

Each lasts until its preemptor has started or is gone; nominations reserve the capacity itself. The ledger
also records evicted pods that have not started again since, to detect evictions that cause further evictions.
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
"""Maximum number of remembered origins; the oldest are forgotten first."""


@dataclass(slots=True)
class Preemption:
    victims: dict[str, GroupKey | None] = field(default_factory=dict)
    """All pods evicted for the preemptor, by uid, with the group that is evicted as a whole, if any."""
    left: dict[str, None] = field(default_factory=dict)
    """Victims that have not left yet."""

    @property
    def progress(self) -> VictimsTerminating:
        whole = dict.fromkeys(group for group in self.victims.values() if group is not None)
        return VictimsTerminating(len(self.victims), len(whole), len(self.left))


class Ledger:
    def __init__(self, groups: GroupBook) -> None:
        self._groups = groups
        self.under_way: dict[str | GroupKey, Preemption] = {}
        """By preemptor: the uid of a pod, or a group."""
        self._waiting: dict[str, dict[str | GroupKey, None]] = {}
        """Preemptors that wait for a victim to leave, by its uid: one victim may serve several."""
        self.displaced: dict[str | GroupKey, None] = {}
        """Groups, and controllers of pods, with an evicted pod and no start since."""
        self.shrunk: dict[GroupKey, None] = {}
        """Groups for which some victims, but not all, have left since the last query."""

    def __len__(self) -> int:
        return len(self.under_way)

    def get(self, preemptor: str | GroupKey) -> Preemption | None:
        return self.under_way.get(preemptor)

    def is_waiting(self, preemptor: str | GroupKey) -> bool:
        """Whether one of its victims has not left yet."""
        preemption = self.under_way.get(preemptor)
        return preemption is not None and bool(preemption.left)

    def waiting_for(self, victim: PodRecord) -> list[str | GroupKey]:
        return list(self._waiting.get(victim.ref.uid, ()))

    def begin(self, preemptor: PodRecord | GroupKey, victims: Sequence[PodRecord]) -> bool:
        """Record the victims; returns whether the preemptor was itself evicted and has not started since."""
        key = preemptor if isinstance(preemptor, GroupKey) else preemptor.ref.uid
        origin = preemptor if isinstance(preemptor, GroupKey) else origin_of(preemptor)
        is_cascade = origin in self.displaced
        preemption = self.under_way.setdefault(key, Preemption())
        for victim in victims:
            preemption.victims[victim.ref.uid] = self._whole(victim)
            preemption.left[victim.ref.uid] = None
            self._waiting.setdefault(victim.ref.uid, {})[key] = None
            self.displaced[origin_of(victim)] = None
        while len(self.displaced) > _MAX_DISPLACED:
            del self.displaced[next(iter(self.displaced))]
        return is_cascade

    def _whole(self, victim: PodRecord) -> GroupKey | None:
        """Its group, if that is evicted as a whole."""
        return victim.group if victim.group and evicted_with(victim.group, self._groups) else None

    def gone(self, victim: PodRecord) -> list[str | GroupKey]:
        """The victim has left; returns the preemptors that waited for it."""
        waiting = list(self._waiting.pop(victim.ref.uid, ()))
        for preemptor in waiting:
            left = self.under_way[preemptor].left
            del left[victim.ref.uid]
            if isinstance(preemptor, GroupKey) and left:
                self.shrunk[preemptor] = None
        return waiting

    def stays(self, victim: PodRecord) -> None:
        """The victim will not leave after all, and counts as never evicted."""
        for preemptor in self.gone(victim):
            del self.under_way[preemptor].victims[victim.ref.uid]

    def take_shrunk(self) -> list[GroupKey]:
        taken, self.shrunk = list(self.shrunk), {}
        return taken

    def started(self, records: Sequence[PodRecord]) -> None:
        """The pods have nodes: their preemptions are over, and they are no longer victims."""
        for record in records if self.under_way or self.displaced else ():
            self.release(record.group or record.ref.uid)
            self.displaced.pop(origin_of(record), None)

    def release(self, preemptor: str | GroupKey) -> None:
        preemption = self.under_way.pop(preemptor, None)
        for victim in preemption.left if preemption is not None else ():
            del self._waiting[victim][preemptor]


def origin_of(record: PodRecord) -> str | GroupKey:
    """The origin of a pod, which replaces it when it is gone; the pod itself if nothing does."""
    return record.group or _controller(record.pod) or record.ref.uid


def _controller(pod: Pod) -> str:
    return next((owner.uid for owner in pod.metadata.owner_references if owner.controller), "")
