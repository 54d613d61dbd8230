"""Gangs for JobSets of another controller: JobSets with an annotation get a Workload and groups.

Their Jobs, and everything else about them, are left alone. Pods that wait at the gate for it are put into
their group.
"""

from collections import defaultdict
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from posse.controllers.gated_pods import is_waiting, joined, let_through
from posse.controllers.jobsets.children import sort_children
from posse.controllers.jobsets.controller import UPSTREAM_MANAGER, JobSetController, KnownJobSet
from posse.controllers.jobsets.gang_state import GangState, observe_gangs
from posse.controllers.jobsets.names import JOBSET_NAME, attempt_of
from posse.controllers.jobsets.sizing import adjusted_groups
from posse.controllers.jobsets.starting import ObservedJobSet
from posse.controllers.reconciler import EventDedup, Reconciler
from posse.controllers.steps import News, Plan, Write, is_deleting
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import COMPOSITE_POD_GROUP, JOB, JOB_SET, POD, POD_GROUP, WORKLOAD
from posse.kinds.sets.jobset_gangs import gang_errors
from posse.model.feature_gates import Gates
from posse.model.jobset import GANG_MODE, REPLICATED_GANG

Json = dict[str, Any]

JOB_NAME = "batch.kubernetes.io/job-name"


class JobSetGangSidecar(Reconciler):
    """A Reconciler."""

    subject_kind = JOB_SET
    reporter = "posse-jobset-companion"
    kinds = (JOB_SET, WORKLOAD, COMPOSITE_POD_GROUP, POD_GROUP, JOB, POD)

    def __init__(self, gates: Gates) -> None:
        self.selectors = {JOB: JOBSET_NAME, POD: JOBSET_NAME}
        self._controller = JobSetController(gates)
        self.touched = self._controller.touched
        # By the namespace and name of the JobSet, pods that wait to be put into a group.
        self._waiting: defaultdict[tuple[str, str], dict[str, Json]] = defaultdict(dict)
        self._uids: dict[tuple[str, str], str] = {}
        self._reported = EventDedup()

    def see(self, kind: Kind, obj: Json) -> None:
        if kind is POD:
            self._see_pod(obj)
        elif kind is not JOB_SET:
            self._controller.see(kind, obj)
        elif asks_for_gangs(obj) or self.subject(obj["metadata"]["uid"]) is not None:
            self._uids[_place(obj)] = obj["metadata"]["uid"]
            self._controller.see(JOB_SET, with_gangs(obj))

    def lose(self, kind: Kind, obj: Json) -> None:
        if kind is POD:
            self._lose_pod(obj)
            return
        if kind is JOB_SET:
            self._reported.forget(obj["metadata"]["uid"])
            if self._uids.get(_place(obj)) == obj["metadata"]["uid"]:
                del self._uids[_place(obj)]
        self._controller.lose(kind, obj)

    def subject(self, key: str) -> Json | None:
        return self._controller.subject(key)

    def plan(self, key: str, _now: float) -> Plan:
        known = self._controller.known(key)
        if known is None or known.jobset.status.terminal_state:
            return Plan()
        if known.jobset.spec.managed_by not in (None, UPSTREAM_MANAGER):
            return Plan()
        errors = gang_errors(known.jobset.metadata.name, known.jobset.spec)
        if errors:
            return self._reported.plan(key, News("InvalidGang", "; ".join(map(str, errors)), is_warning=True))
        gangs = observe_gangs(
            known.obj, known.jobset, sort_children(known.jobs, known.jobset.status), known.around
        )
        if gangs.blocked is not None:
            return self._reported.plan(key, gangs.blocked)
        self._reported.forget(key)
        return self._prepared(known, gangs)

    def _prepared(self, known: KnownJobSet, gangs: GangState) -> Plan:
        result = Plan()
        result.then(*gangs.outdated)
        result.then(*gangs.outgrown)
        for kind in (WORKLOAD, COMPOSITE_POD_GROUP, POD_GROUP):
            result.then(*(step for step in gangs.missing if step.kind is kind))
        children = sort_children(known.jobs, known.jobset.status)
        result.then(*adjusted_groups(ObservedJobSet(known.obj, known.jobset, children, {}, gangs)))
        result.then(*self._admissions(known, gangs))
        return result

    def _admissions(self, known: KnownJobSet, gangs: GangState) -> Iterator[Write]:
        for pod in self._waiting.get(_place(known.obj), {}).values():
            gang = gangs.gang_of.get((pod["metadata"].get("labels") or {}).get(JOB_NAME, ""))
            if gang is None:
                yield Write(POD, let_through(pod, pod["metadata"]))
            elif gang.key in gangs.usable and attempt_of(pod) == known.jobset.status.restarts:
                yield Write(POD, joined(pod, gang.name))

    def _see_pod(self, pod: Json) -> None:
        place = _jobset_of(pod)
        if is_deleting(pod):
            self._lose_pod(pod)
        elif is_waiting(pod):
            self._waiting[place][pod["metadata"]["uid"]] = pod
            self._touch(place)
        else:
            self._waiting[place].pop(pod["metadata"]["uid"], None)

    def _lose_pod(self, pod: Json) -> None:
        """The plan may have ended at this pod before it came to others that wait."""
        place = _jobset_of(pod)
        if self._waiting[place].pop(pod["metadata"]["uid"], None) is not None:
            self._touch(place)

    def _touch(self, place: tuple[str, str]) -> None:
        if place in self._uids:
            self.touched.add(self._uids[place])


def asks_for_gangs(obj: Json) -> bool:
    parts = [job.get("template") or {} for job in obj["spec"].get("replicatedJobs") or ()]
    return any(_mode_of(holder) is not None for holder in (obj, *parts))


def with_gangs(obj: Json) -> Json:
    """Return a JobSet as it would be written if it had the field that the annotation stands for."""
    filled = deepcopy(obj)
    JOB_SET.rules.default(filled)
    spec, mode = filled["spec"], _mode_of(obj)
    # Each Job as a gang of its own is asked for in the replicatedJobs.
    if mode not in (None, REPLICATED_GANG):
        spec["gangConfig"] = {"gangMode": mode}
    for job in spec.get("replicatedJobs") or ():
        own = _mode_of(job["template"]) or (mode if mode == REPLICATED_GANG else None)
        if own is not None:
            job["gangConfig"] = {"gangMode": own}
    return filled


def _mode_of(holder: Json) -> str | None:
    annotations = (holder.get("metadata") or {}).get("annotations") or {}
    mode = annotations.get(GANG_MODE)
    return None if mode is None else str(mode)


def _place(obj: Json) -> tuple[str, str]:
    return obj["metadata"]["namespace"], obj["metadata"]["name"]


def _jobset_of(pod: Json) -> tuple[str, str]:
    return pod["metadata"]["namespace"], (pod["metadata"].get("labels") or {}).get(JOBSET_NAME, "")
