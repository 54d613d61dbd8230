"""The gangs of a JobSet: groups that exist, groups to create, and what prevents that.

A group is of one run of the JobSet. It goes with the Jobs of that run, and a new one of the same name is made
when the last of them has gone; so pods of different runs are never taken for one gang. A Workload that the
user has made is taken as it is; one that does not fit the JobSet keeps everything from being made, and that
is told.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from posse.controllers.jobsets.children import Children
from posse.controllers.jobsets.gang_objects import (
    Gang,
    GroupKey,
    gangs_of,
    new_group,
)
from posse.controllers.jobsets.gang_workloads import find_workloads, is_mine
from posse.controllers.jobsets.names import attempt_of
from posse.controllers.steps import Create, Delete, News, Write, is_deleting
from posse.engine.groups.forms import INITIALLY_SCHEDULED, TREE_INITIALLY_SCHEDULED
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import COMPOSITE_POD_GROUP, POD_GROUP
from posse.model.jobset import JobSet

Json = dict[str, Any]


class GangSurroundings(NamedTuple):
    """What there is in the namespace besides the Jobs of the JobSet."""

    # Those that are called as its own would be, or say that they are for it.
    workloads: Sequence[Json]
    # All that are of the JobSet, or are called as one of its groups would be.
    groups: Mapping[GroupKey, Json]
    # The one of the name by which its pods find each other.
    service: Json | None
    # Its own claims and those that may be used by several; by name.
    claims: frozenset[str]
    # What gangs would be made of, but the cluster does not serve.
    lacking: Sequence[Kind]
    # Jobs without a controller that name this JobSet.
    orphans: Sequence[Json] = ()


@dataclass(slots=True)
class GangState:
    """What is to be done about the gangs before Jobs are made, and for which Jobs that suffices."""

    # Where the Jobs belong, by their names; Jobs that are in no gang are missing.
    gang_of: dict[str, Gang] = field(default_factory=dict)
    # Why nothing can be made, if that is so.
    blocked: News | None = None
    # The Workload that each template is in.
    workload_of: dict[str, Json] = field(default_factory=dict)
    # Workloads of another size than they should have; one that the user has made is never touched.
    outgrown: list[Write] = field(default_factory=list)
    # To be made, in this order.
    missing: list[Create] = field(default_factory=list)
    # Of an earlier run, to be deleted.
    outdated: list[Delete] = field(default_factory=list)
    # Groups of this run that exist, and groups whose Jobs may be created after the missing groups.
    existing: dict[GroupKey, Json] = field(default_factory=dict)
    usable: set[GroupKey] = field(default_factory=set)

    def may_start(self, job: str) -> bool:
        gang = self.gang_of.get(job)
        if gang is None:
            return True
        return self.has_root(gang) and gang.key in self.usable

    def has_root(self, gang: Gang) -> bool:
        return not gang.parent or (COMPOSITE_POD_GROUP, gang.parent) in self.usable

    def group_of(self, job: str) -> str:
        return self.gang_of[job].name if job in self.gang_of else ""


def observe_gangs(obj: Json, jobset: JobSet, children: Children, around: GangSurroundings) -> GangState:
    gangs = gangs_of(jobset)
    leaves = [gang for gang in gangs if gang.kind is POD_GROUP]
    state = GangState(gang_of={job: gang for gang in leaves for job in gang.jobs})
    mine = {key: group for key, group in around.groups.items() if is_mine(group, jobset)}
    state.outdated = [
        Delete(kind, group)
        for (kind, _), group in mine.items()
        if _is_outdated(group, jobset) and not is_deleting(group)
    ]
    if not gangs:
        return state
    state.blocked = _absence(around.lacking) or _conflict(gangs, around.groups, mine)
    found = find_workloads(obj, jobset, around.workloads)
    state.workload_of, state.outgrown = found.by_template, found.outgrown
    if found.problem and state.blocked is None:
        state.blocked = News("WorkloadMismatch", found.problem, is_warning=True)
    if state.blocked is None:
        state.missing += found.missing
    if state.blocked is None and not jobset.spec.suspend:
        previous = {job.name for job in children.previous}
        for gang in gangs:
            _find_group(state, gang, mine.get(gang.key), (obj, jobset), previous)
    return state


def belated_groups(jobset: JobSet, children: Children, around: GangSurroundings) -> list[Delete]:
    """Groups of a finished JobSet that were recreated after their last pods had ended."""
    first = min((job.job.metadata.creation_timestamp for job in children.current), default="")
    return [
        Delete(kind, group)
        for (kind, _), group in around.groups.items()
        if is_mine(group, jobset)
        and not is_deleting(group)
        and not _has_started(group)
        and group["metadata"].get("creationTimestamp", "") > first
    ]


def _has_started(group: Json) -> bool:
    conditions = (group.get("status") or {}).get("conditions") or ()
    return any(
        condition.get("type") in {INITIALLY_SCHEDULED, TREE_INITIALLY_SCHEDULED}
        and condition.get("status") == "True"
        for condition in conditions
    )


def _is_outdated(group: Json, jobset: JobSet) -> bool:
    """A JobSet that is suspended has no groups, so that none is left half full when it goes on."""
    return bool(jobset.spec.suspend) or attempt_of(group) < jobset.status.restarts


def _absence(lacking: Sequence[Kind]) -> News | None:
    if not lacking:
        return None
    names = ", ".join(kind.group_resource for kind in lacking)
    return News("APINotAvailable", f"gangs need {names}, which the cluster does not serve", is_warning=True)


def _conflict(
    gangs: Iterable[Gang], groups: Mapping[GroupKey, Json], mine: Mapping[GroupKey, Json]
) -> News | None:
    for gang in gangs:
        if gang.key in groups and gang.key not in mine:
            text = f"{gang.kind.name} {gang.name} exists and is not of this JobSet"
            return News("PodGroupConflict", text, is_warning=True)
    return None


def _find_group(
    state: GangState, gang: Gang, group: Json | None, of: tuple[Json, JobSet], previous: set[str]
) -> None:
    if group is not None:
        if not _is_outdated(group, of[1]) and not is_deleting(group):
            state.existing[gang.key] = group
            state.usable.add(gang.key)
        return
    workload = state.workload_of.get(gang.template)
    if workload is not None and state.has_root(gang) and previous.isdisjoint(gang.jobs):
        # A root that is being deleted would stay for the sake of a new group, and with it the whole tree.
        state.missing.append(Create(gang.kind, new_group(*of, gang, workload)))
        state.usable.add(gang.key)
