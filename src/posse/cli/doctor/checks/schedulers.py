"""Schedulers and controllers that act on the same pods as Posse, or that pods name but that do not run."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from posse.cli.doctor.facts import ClusterFacts
from posse.cli.doctor.findings import DoctorFinding, error, names, note, warning
from posse.model.pod import ENDED_PHASES, Pod
from posse.model.timestamps import TimestampError, parse_timestamp

Json = dict[str, Any]

DEFAULT_SCHEDULER = "default-scheduler"
KUBE_SCHEDULER = "kube-scheduler"
POSSE_LEASE = "posse"
LEASE_SECONDS = 15.0
"""Of a lease that does not say how long it holds."""
STALE_DURATIONS = 2
"""A lease that was not renewed for so many times its duration has no living holder."""
_KNOWN: tuple[tuple[str, str, str], ...] = (
    (
        "kueue-controller-manager",
        "Kueue admits workloads first: until then Jobs stay suspended, without pods, and bare pods are gated",
        "let Kueue decide on quota and Posse on nodes; use topology constraints on one side only",
    ),
    (
        "volcano-scheduler",
        "Volcano schedules pods that name the scheduler volcano, and writes the status of its PodGroups",
        "give each PodGroup of scheduling.volcano.sh to one of both, by schedulerName of its pods",
    ),
    (
        "scheduler-plugins-controller",
        "the controller of coscheduling writes the status of PodGroups of scheduling.x-k8s.io",
        "give each such PodGroup to one scheduler, by schedulerName of its pods",
    ),
    (
        "yunikorn-admission-controller",
        "the admission controller of YuniKorn changes schedulerName of new pods to yunikorn",
        "exclude the namespaces of Posse's pods (admissionController.filtering.bypassNamespaces)",
    ),
    (
        "kai-scheduler",
        "KAI schedules pods that name kai-scheduler; its binder does not know Posse's reservations",
        "keep the pods of both on different nodes, by labels or taints",
    ),
)


def check_other_schedulers(facts: ClusterFacts) -> Iterator[DoctorFinding]:
    """Installations add to these names, as in kai-scheduler-default."""
    for deployment in facts.deployments or ():
        name, namespace = deployment["metadata"]["name"], deployment["metadata"].get("namespace", "")
        for known, what, advice in _KNOWN:
            if name.startswith(known):
                yield note(f"Deployment {namespace}/{name}: {what}", advice)


def check_leases(facts: ClusterFacts) -> Iterator[DoctorFinding]:
    holders = {lease["metadata"]["name"]: lease for lease in facts.leases or () if _is_held(lease, facts.now)}
    if DEFAULT_SCHEDULER in facts.scheduler_names and KUBE_SCHEDULER in holders and POSSE_LEASE in holders:
        yield error(
            f"kube-scheduler and Posse both schedule pods of schedulerName {DEFAULT_SCHEDULER}",
            "run Posse with --scheduler-name posse and name it in pods, or stop kube-scheduler",
        )
    known = {lease["metadata"]["name"]: lease for lease in facts.leases or ()}
    if POSSE_LEASE in known and POSSE_LEASE not in holders:
        yield error(
            f"no replica of Posse holds the lease {POSSE_LEASE}{_since(known[POSSE_LEASE], facts.now)}",
            "look at its pods (kubectl get pods -A -l app.kubernetes.io/name=posse), or at the log of "
            "`posse run` or `posse up`",
        )


def check_scheduler_names(facts: ClusterFacts) -> Iterator[DoctorFinding]:
    """Waiting pods of groups that name no scheduler of Posse, and gangs whose pods name several."""
    foreign: dict[str, list[str]] = defaultdict(list)
    mixed = []
    for key, members in facts.survey.members.items():
        pods = [pod for pod in members.values() if pod.status.phase not in ENDED_PHASES]
        used = {pod.spec.scheduler_name for pod in pods}
        if len(used) > 1:
            mixed.append(f"{key.namespace}/{key.name} ({', '.join(sorted(used))})")
        elif used and not used & set(facts.scheduler_names) and any(map(_waits, pods)):
            foreign[used.pop()].append(f"{key.namespace}/{key.name}")
    if mixed:
        yield error(
            f"pods of one group name several schedulers, so none of these starts it whole: {names(mixed)}",
            "give all pods of a group the same schedulerName",
        )
    for scheduler, groups in sorted(foreign.items()):
        yield warning(
            f"waiting groups name the scheduler {scheduler}, which is not Posse's: {names(groups)}",
            f"set schedulerName to {facts.scheduler_names[0]} in their pods, unless {scheduler} runs here",
        )


def _waits(pod: Pod) -> bool:
    return not pod.spec.node_name


def _is_held(lease: Json, now: float) -> bool:
    spec, age = lease.get("spec") or {}, _age(lease, now)
    lasts = STALE_DURATIONS * (spec.get("leaseDurationSeconds") or LEASE_SECONDS)
    return bool(spec.get("holderIdentity")) and age is not None and age < lasts


def _since(lease: Json, now: float) -> str:
    age = _age(lease, now)
    return f"; it was renewed {age:.0f} seconds ago" if age is not None else ""


def _age(lease: Json, now: float) -> float | None:
    """Seconds since it was renewed; None if it never was."""
    try:
        return now - parse_timestamp((lease.get("spec") or {}).get("renewTime") or "")
    except TimestampError:
        return None
