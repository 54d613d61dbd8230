"""Texts of Kubernetes Events; those about bindings and failures are word for word those of kube-scheduler."""

from collections.abc import Sequence

from posse.engine.decisions import Evict, Placement, ReportPod
from posse.engine.keys import GroupKey, GroupRef, PodRef
from posse.engine.preemption.marks import described
from posse.engine.reporting.messages import counted
from posse.transport.notes import Note, Subject
from posse.writes.group_status import about, object_kind

_MAX_NAMED = 3


def scheduled(placement: Placement) -> Note:
    pod = placement.pod
    text = f"Successfully assigned {pod.namespace}/{pod.name} to {placement.node}"
    return Note(pod.scheduler_name, _subject(pod), "Scheduled", text, "Binding")


def not_bound(placement: Placement, refusal: str) -> Note:
    return _failed(placement.pod, f"binding rejected: {refusal}")


def not_scheduled(report: ReportPod) -> Note:
    return _failed(report.pod, report.message)


def preempted(eviction: Evict) -> Note:
    """With the name of the preemptor and the node; kube-scheduler gives only the uid."""
    who, related = _preemptor(eviction.preemptor)
    text = f"Preempted by {who} on node {eviction.node}"
    return _preempted(eviction.preemptor, _subject(eviction.pod), text, related)


def preempted_as_a_whole(victim: GroupRef, preemptor: PodRef | GroupRef) -> Note:
    """kube-scheduler has no event about a group that is preempted."""
    who, related = _preemptor(preemptor)
    text = about(victim.key, f"Preempted as a whole by {who}")
    return _preempted(preemptor, _group_subject(victim), text, related)


def _preempted(preemptor: PodRef | GroupRef, victim: Subject, text: str, related: Subject) -> Note:
    return Note(preemptor.scheduler_name, victim, "Preempted", text, "Preempting", related=related)


def _preemptor(preemptor: PodRef | GroupRef) -> tuple[str, Subject]:
    if isinstance(preemptor, GroupRef):
        return described(preemptor.key), _group_subject(preemptor)
    return described(preemptor), _subject(preemptor)


def preempting(evictions: Sequence[Evict], whole: Sequence[GroupKey] = ()) -> Note:
    """About the preemptor of all these victims; `whole` are groups that are evicted as a whole."""
    preemptor, count = evictions[0].preemptor, len(evictions)
    _, subject = _preemptor(preemptor)
    text = f"Preempting {counted(count, 'pod')} of lower priority: {_some([one.pod for one in evictions])}"
    groups = f"; as a whole {_some(whole)}" if whole else ""
    text = f"{text}{groups}"
    if isinstance(preemptor, GroupRef):
        text = about(preemptor.key, text)
    return Note(preemptor.scheduler_name, subject, "Preempting", text, "Preempting")


def _some(named: Sequence[PodRef | GroupKey]) -> str:
    shown = [f"{one.namespace}/{one.name}" if isinstance(one, PodRef) else described(one) for one in named]
    rest = f" and {len(named) - _MAX_NAMED} more" if len(named) > _MAX_NAMED else ""
    return f"{', '.join(shown[:_MAX_NAMED])}{rest}"


def _group_subject(group: GroupRef) -> Subject:
    kind = object_kind(group.key)
    return Subject(kind.api_version, kind.name, group.key.namespace, group.key.name, group.uid)


def _failed(pod: PodRef, message: str) -> Note:
    return Note(pod.scheduler_name, _subject(pod), "FailedScheduling", message, "Scheduling", warning=True)


def _subject(pod: PodRef) -> Subject:
    return Subject("v1", "Pod", pod.namespace, pod.name, pod.uid)
