"""Priority classes that undo gangs: unknown ones, a default above gangs, and members below their group."""

from collections import defaultdict
from collections.abc import Iterator

from posse.cli.doctor.facts import ClusterFacts
from posse.cli.doctor.findings import DoctorFinding, error, names, warning
from posse.engine.groups.forms import form_of
from posse.kinds.registry import PRIORITY_CLASS
from posse.model.priority_class import PriorityClass

SYSTEM_PREFIX = "system-"
NEVER = "Never"


def user_classes(facts: ClusterFacts) -> list[PriorityClass]:
    found = facts.all_of(PRIORITY_CLASS, PriorityClass)
    return [one for one in found if not one.metadata.name.startswith(SYSTEM_PREFIX)]


def check_priorities(facts: ClusterFacts) -> Iterator[DoctorFinding]:
    yield from _unknown_classes(facts)
    yield from _default_above_gangs(facts)
    yield from _members_below(facts)


def _unknown_classes(facts: ClusterFacts) -> Iterator[DoctorFinding]:
    known = {one.metadata.name for one in facts.all_of(PRIORITY_CLASS, PriorityClass)}
    unknown: dict[str, list[str]] = defaultdict(list)
    for now in facts.survey.situations():
        spec = (facts.survey.object_of(now.key) or {}).get("spec") or {}
        name = spec.get("priorityClassName") or ""
        if name and name not in known and not name.startswith(SYSTEM_PREFIX):
            unknown[name].append(f"{now.key.namespace}/{now.key.name}")
    for name, groups in sorted(unknown.items()):
        yield error(
            f"PriorityClass {name} does not exist, and these groups name it: {names(groups)}",
            f"create it: kubectl create priorityclass {name} --value=N",
        )


def _default_above_gangs(facts: ClusterFacts) -> Iterator[DoctorFinding]:
    for one in user_classes(facts):
        if not one.global_default or one.preemption_policy == NEVER:
            continue
        below = [
            f"{now.key.namespace}/{now.key.name}"
            for now in facts.survey.situations()
            if now.policy == "Gang" and now.priority < one.value
        ]
        if below:
            yield warning(
                f"PriorityClass {one.metadata.name} ({one.value}) is the default of all pods and above "
                f"these gangs: any pod without a class may evict them: {names(below)}",
                "give gangs a class above the default, or set preemptionPolicy of the default to Never",
            )


def _members_below(facts: ClusterFacts) -> Iterator[DoctorFinding]:
    """Other schedulers and the kubelet evict pod by pod, by the priority of the pod."""
    below = []
    for now in facts.survey.situations():
        if now.key.is_composite or not form_of(now.key).has_admission:
            continue
        pods = facts.survey.members.get(now.key, {}).values()
        if any((pod.spec.priority or 0) < now.priority for pod in pods):
            below.append(f"{now.key.namespace}/{now.key.name}")
    if below:
        yield warning(
            f"pods have a lower priority than their group: {names(below)}",
            "give the pods the priorityClassName of their group: kube-scheduler and kubelets evict by the "
            "priority of each pod",
        )
