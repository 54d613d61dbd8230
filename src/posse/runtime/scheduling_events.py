"""What the scheduler tells people in Kubernetes Events, where kube-scheduler does word for word as it does."""

from collections.abc import Sequence

from posse.engine.decisions import Evict, GroupRef, Placement, PodRef, ReportPod
from posse.runtime.event_recorder import Note, Subject
from posse.runtime.group_reports import object_kind

_MOST_NAMED = 3


def scheduled(placement: Placement) -> Note:
    pod = placement.pod
    text = f"Successfully assigned {pod.namespace}/{pod.name} to {placement.node}"
    return Note(pod.scheduler_name, _subject(pod), "Scheduled", text, "Binding")


def not_bound(placement: Placement, refusal: str) -> Note:
    return _failed(placement.pod, f"binding rejected: {refusal}")


def not_scheduled(report: ReportPod) -> Note:
    return _failed(report.pod, report.message)


def preempted(eviction: Evict) -> Note:
    preemptor = eviction.preemptor
    if isinstance(preemptor, GroupRef):
        # Room for a group is made in the whole cluster.
        kind = object_kind(preemptor.key).singular
        text, related = f"Preempted by {kind} {preemptor.uid} on node cluster", _group_subject(preemptor)
    else:
        text, related = f"Preempted by pod {preemptor.uid} on node {eviction.node}", _subject(preemptor)
    subject = _subject(eviction.pod)
    return Note(preemptor.scheduler_name, subject, "Preempted", text, "Preempting", related=related)


def preempted_as_a_whole(victim: GroupRef, preemptor: PodRef | GroupRef) -> Note:
    """In our own words: kube-scheduler tells the pods alone."""
    related = _group_subject(preemptor) if isinstance(preemptor, GroupRef) else _subject(preemptor)
    who = f"{related.kind.lower()} {related.namespace}/{related.name}"
    return Note(
        preemptor.scheduler_name,
        _group_subject(victim),
        "Preempted",
        f"Preempted as a whole by {who}",
        "Preempting",
        related=related,
    )


def preempting(evictions: Sequence[Evict]) -> Note:
    """Told to the one for whom all of these are evicted."""
    preemptor, count = evictions[0].preemptor, len(evictions)
    subject = _group_subject(preemptor) if isinstance(preemptor, GroupRef) else _subject(preemptor)
    named = ", ".join(f"{one.pod.namespace}/{one.pod.name}" for one in evictions[:_MOST_NAMED])
    rest = f" and {count - _MOST_NAMED} more" if count > _MOST_NAMED else ""
    text = f"Preempting {count} {'pod' if count == 1 else 'pods'} of lower priority: {named}{rest}"
    return Note(preemptor.scheduler_name, subject, "Preempting", text, "Preempting")


def _group_subject(group: GroupRef) -> Subject:
    kind = object_kind(group.key)
    return Subject(kind.api_version, kind.name, group.key.namespace, group.key.name, group.uid)


def _failed(pod: PodRef, message: str) -> Note:
    return Note(pod.scheduler_name, _subject(pod), "FailedScheduling", message, "Scheduling", warning=True)


def _subject(pod: PodRef) -> Subject:
    return Subject("v1", "Pod", pod.namespace, pod.name, pod.uid)
