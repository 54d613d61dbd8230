"""Gangs that need all of their pods, may be evicted pod by pod, and have preemptors."""

from collections.abc import Iterator

from posse.cli.doctor.checks.priorities import NEVER, user_classes
from posse.cli.doctor.facts import ClusterFacts
from posse.cli.doctor.findings import DoctorFinding, names, warning
from posse.engine.explain.group_status import GroupStatus
from posse.model.feature_gates import Gate


def check_disruption(facts: ClusterFacts) -> Iterator[DoctorFinding]:
    if Gate.WORKLOAD_AWARE_PREEMPTION not in facts.gates:
        return
    preempting = [one.value for one in user_classes(facts) if one.preemption_policy != NEVER]
    highest = max(preempting, default=None)
    if highest is None:
        return
    fragile = [
        f"{now.key.namespace}/{now.key.name}"
        for now in facts.survey.situations()
        if now.priority < highest and _needs_every_pod(now) and _is_single(facts, now)
    ]
    if fragile:
        yield warning(
            f"gangs that need all of their pods may be evicted pod by pod: {names(fragile)}",
            "set disruptionMode: {all: {}} in their PodGroups, so that they are evicted as one or not at all",
        )


def _needs_every_pod(now: GroupStatus) -> bool:
    return now.policy == "Gang" and 1 < now.minimum >= now.counts.members > 0 and now.groups is None


def _is_single(facts: ClusterFacts, now: GroupStatus) -> bool:
    """PodGroups of other projects have no such mode, and parts of a tree follow its root."""
    spec = (facts.survey.object_of(now.key) or {}).get("spec") or {}
    if "schedulingPolicy" not in spec or spec.get("parentCompositePodGroupName"):
        return False
    return "all" not in (spec.get("disruptionMode") or {})
