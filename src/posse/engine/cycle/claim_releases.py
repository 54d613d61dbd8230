"""Unused allocations: claims of pods that found no node, whose devices hold them where they are.

They are left over from an earlier attempt whose writes were interrupted, or from another scheduler. Without
them, the pods may find devices elsewhere.
"""

from collections.abc import Iterator, Sequence

from posse.engine.cycle.cycle import AttemptRecord
from posse.engine.decisions import ReleaseClaim
from posse.engine.devices.claims import ClaimBook, DeviceClaimRecord
from posse.engine.devices.needs import claim_keys
from posse.engine.groups.tree import root_of
from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import ClaimKey, GroupKey
from posse.engine.state.pod_record import PodRecord
from posse.model.resource_claim import EXTENDED_RESOURCE_CLAIM_ANNOTATION


class ClaimReleases:
    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._devices = knowledge.state.devices

    def of(self, attempts: Sequence[AttemptRecord]) -> Iterator[ReleaseClaim]:
        """Release what keeps the pods of refused attempts away from other nodes."""
        for attempt in attempts:
            if not attempt.verdict.succeeded:
                yield from self._of_pods(self._refused(attempt))
        for key in self._devices.book.take_suspects():
            yield from self._of_untried(key)

    def _of_untried(self, key: ClaimKey) -> Iterator[ReleaseClaim]:
        """Release a claim whose pods wait without being tried, such as the rest of a gang that lacks pods.

        Pods with scheduling gates keep theirs: they will be tried.
        """
        record = self._devices.book.claims.get(key)
        uids = record.pod_uids if record is not None else None
        pods = [self._knowledge.pods.get(uid) for uid in uids or ()]
        waiting = [one for one in pods if one is not None and not one.pod.spec.node_name]
        if record is None or record.allocation is None or not waiting or len(waiting) < len(pods):
            return
        self._devices.book.suspect(key)
        if not any(map(self._may_be_tried, waiting)) and not self._devices.held.is_written(key):
            yield from self._of_pods(waiting)

    def _may_be_tried(self, record: PodRecord) -> bool:
        is_queued = self._knowledge.queue_key(record) in self._knowledge.backlog
        return bool(record.node or record.pod.spec.scheduling_gates) or is_queued

    def _refused(self, attempt: AttemptRecord) -> list[PodRecord]:
        """Pods of the attempt, unless some of them run or wait for victims."""
        if isinstance(attempt.who, GroupKey):
            group = root_of(self._knowledge.groups, attempt.who)
            pods = list(group.members.values()) if group is not None else []
        else:
            record = self._knowledge.pods.get(attempt.who.uid)
            pods = [record] if record is not None else []
        return [] if any(one.node or one.nominated for one in pods) else pods

    def _of_pods(self, pods: Sequence[PodRecord]) -> Iterator[ReleaseClaim]:
        known = dict.fromkeys(one.ref.uid for one in pods)
        known |= dict.fromkeys(self._group_uid(one) for one in pods)
        keys = dict.fromkeys(
            key for one in pods if one.pod_class.devices is not None for key in self._keys(one)
        )
        for key in keys:
            record = self._devices.book.claims.get(key)
            if (
                record is None
                or record.allocation is None
                or not all(one.uid in known for one in record.consumers)
            ):
                continue
            if not self._devices.book.is_released(record):
                yield release_of(record, self._devices.book)

    def _keys(self, record: PodRecord) -> Iterator[ClaimKey]:
        yield from claim_keys(record.pod)
        yield from self._devices.book.made_for(record.ref.uid)

    def _group_uid(self, record: PodRecord) -> str:
        group = self._knowledge.groups.get(record.group) if record.group is not None else None
        return group.obj.metadata.uid if group is not None and group.obj is not None else record.ref.uid


def release_of(record: DeviceClaimRecord, book: ClaimBook) -> ReleaseClaim:
    book.note_release(record)
    return ReleaseClaim(
        record.key,
        record.uid,
        record.claim.metadata.resource_version,
        tuple(record.consumers),
        deallocates=True,
        deletes=EXTENDED_RESOURCE_CLAIM_ANNOTATION in record.claim.metadata.annotations,
    )
