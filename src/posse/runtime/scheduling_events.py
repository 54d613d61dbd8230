"""What the scheduler tells people in Kubernetes Events, word for word as kube-scheduler does."""

from posse.engine.decisions import Evict, Placement, PodRef, ReportPod
from posse.runtime.event_recorder import Note, Subject


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
    text = f"Preempted by pod {preemptor.uid} on node {eviction.node}"
    return Note(
        preemptor.scheduler_name,
        _subject(eviction.pod),
        "Preempted",
        text,
        "Preempting",
        related=_subject(preemptor),
    )


def _failed(pod: PodRef, message: str) -> Note:
    return Note(pod.scheduler_name, _subject(pod), "FailedScheduling", message, "Scheduling", warning=True)


def _subject(pod: PodRef) -> Subject:
    return Subject("v1", "Pod", pod.namespace, pod.name, pod.uid)
