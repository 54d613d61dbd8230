"""The status of a LeaderWorkerSet: numbers of replicas that exist, are ready and are updated, and conditions.

Conditions appear when they first hold. The set is available, or it makes progress, or it is being updated.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from posse.controllers.leader_worker_sets.keys import LEADER, NAME, WORKER_INDEX
from posse.controllers.leader_worker_sets.observed_set import ObservedLeaderWorkerSet
from posse.controllers.leader_worker_sets.rollout import GroupState, RolloutLimits
from posse.controllers.steps import News
from posse.model.timestamps import format_timestamp

Json = dict[str, Any]

AVAILABLE, PROGRESSING, UPDATE_IN_PROGRESS = "Available", "Progressing", "UpdateInProgress"
SCHEDULING_READY = "WorkloadSchedulingReady"


class ConditionReport(NamedTuple):
    """A condition that holds, and how that is told."""

    type: str
    reason: str
    message: str
    status: str = "True"


ALL_READY = ConditionReport(AVAILABLE, "AllGroupsReady", "All replicas are ready")
IN_PROGRESS = ConditionReport(PROGRESSING, "GroupsProgressing", "Replicas are progressing")
UPDATING = ConditionReport(UPDATE_IN_PROGRESS, "GroupsUpdating", "Rolling Upgrade is in progress")
UPDATE_PROGRESS = ConditionReport(PROGRESSING, "GroupsUpdating", "Rolling Upgrade is in progress")
PREREQUISITES_READY = ConditionReport(
    SCHEDULING_READY, "SchedulingPrerequisitesReady", "Everything that groups are made from exists"
)


class SetProgress(NamedTuple):
    """The replicas of a set, whether some are still to be updated, and why groups cannot be created."""

    groups: Sequence[GroupState]
    is_updating: bool
    obstacle: ConditionReport | None = None


class NextSetStatus(NamedTuple):
    status: Json
    news: list[News]


def next_status(
    observed: ObservedLeaderWorkerSet, limits: RolloutLimits, progress: SetProgress, now: float
) -> NextSetStatus:
    """Return the whole status."""
    groups, obstacle = progress.groups, progress.obstacle
    before = observed.lws.get("status") or {}
    leaders = (observed.leader_set or {}).get("status") or {}
    findings = _findings(limits, progress)
    known = {item["type"]: item for item in before.get("conditions") or ()}
    if obstacle is not None:
        findings.append(obstacle)
    elif SCHEDULING_READY in known:
        findings.append(PREREQUISITES_READY)
    status = {
        "replicas": leaders.get("replicas") or 0,
        "readyReplicas": sum(group.is_ready for group in groups),
        "updatedReplicas": sum(group.is_updated for group in groups),
        "hpaPodSelector": f"{NAME}={observed.name},{WORKER_INDEX}={LEADER}",
        "observedGeneration": observed.lws["metadata"].get("generation") or 0,
        "conditions": _conditions(observed, known, findings, now),
    }
    news = [
        News(finding.reason, finding.message, is_warning=finding.status == "False")
        for finding in findings
        if finding not in (UPDATE_PROGRESS, PREREQUISITES_READY)
        and (known.get(finding.type) or {}).get("status") != finding.status
    ]
    return NextSetStatus(status, news)


def _findings(limits: RolloutLimits, progress: SetProgress) -> list[ConditionReport]:
    groups = progress.groups
    wanted = [
        groups[index] if index < len(groups) else GroupState(is_ready=False, is_updated=False)
        for index in range(limits.replicas)
    ]
    reached = [
        group.is_ready and (group.is_updated or index < limits.partition)
        for index, group in enumerate(wanted)
    ]
    if all(reached):
        return [ALL_READY]
    if progress.is_updating:
        return [UPDATING, UPDATE_PROGRESS]
    return [IN_PROGRESS]


def _conditions(
    observed: ObservedLeaderWorkerSet, known: dict[str, Json], findings: Sequence[ConditionReport], now: float
) -> list[Json]:
    """What does not hold any more says so; what has never held is not mentioned."""
    generation, time = observed.lws["metadata"].get("generation") or 0, format_timestamp(now)
    found = {finding.type: finding for finding in findings}
    result = []
    for kind in dict.fromkeys((*known, *found)):
        condition, finding = known.get(kind, {}), found.get(kind)
        status = finding.status if finding is not None else "False"
        if kind not in (AVAILABLE, PROGRESSING, UPDATE_IN_PROGRESS) and finding is None:
            status = condition["status"]
        words = {"reason": finding.reason, "message": finding.message} if finding is not None else {}
        changed = {} if condition.get("status") == status else {"lastTransitionTime": time}
        result.append(
            {
                "type": kind,
                **condition,
                "status": status,
                **words,
                **changed,
                "observedGeneration": generation,
            }
        )
    return result
