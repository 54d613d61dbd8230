"""The JobSet controller: observes JobSets with their Jobs, groups, Services and claims, and plans for each
JobSet.

Jobs are the JobSet's own when it is their controller. Groups, Workloads and Services are also looked up by
their names: what another controller has created there is respected, or told as an obstacle.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from posse.controllers.jobsets.children import ChildJob, read_job
from posse.controllers.jobsets.gang_objects import controller_reference, gangs_of, workload_parts
from posse.controllers.jobsets.gang_state import GangSurroundings
from posse.controllers.jobsets.names import JOBSET_NAME
from posse.controllers.jobsets.reconciling import plan
from posse.controllers.observed import ObservedObjects
from posse.controllers.reconciler import Reconciler, Touched
from posse.controllers.steps import Plan, controller_of, controller_uid, is_deleting
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import (
    COMPOSITE_POD_GROUP,
    JOB,
    JOB_SET,
    PERSISTENT_VOLUME_CLAIM,
    POD_GROUP,
    SERVICE,
    WORKLOAD,
)
from posse.kinds.sets.jobset_claims import claim_name, claim_templates
from posse.kinds.sets.jobset_gangs import without_gangs, without_trees
from posse.kinds.sets.jobsets import subdomain
from posse.model.decoding import decode
from posse.model.feature_gates import ALL_GATES, Gate, Gates
from posse.model.jobset import JobSet

Json = dict[str, Any]

UPSTREAM_MANAGER = "jobset.sigs.k8s.io/jobset-controller"
POSSE_MANAGER = "scheduling.posse.dev/jobset-controller"
"""As managedBy of a JobSet: Posse manages it."""
MANAGERS = (None, UPSTREAM_MANAGER, POSSE_MANAGER)
"""The controller that is meant where no other controller manages JobSets."""


class ObjectName(NamedTuple):
    kind: Kind
    namespace: str
    name: str


class KnownJobSet(NamedTuple):
    obj: Json
    jobset: JobSet
    jobs: Sequence[ChildJob]
    around: GangSurroundings


class JobSetController(Reconciler):
    subject_kind = JOB_SET
    reporter = "jobset-controller"

    def __init__(
        self,
        gates: Gates = ALL_GATES,
        managers: Collection[str | None] = MANAGERS,
        lacking: Sequence[Kind] = (),
    ) -> None:
        """Controls JobSets of these managers; makes no gangs if a kind is lacking."""
        self._gates = gates
        self._managers = managers
        self._lacking = lacking
        groups = () if lacking else served_groups(gates)
        # JobSets first: a Job is ignored until its JobSet is known.
        self.kinds = (JOB_SET, *groups, SERVICE, PERSISTENT_VOLUME_CLAIM, JOB)
        self.selectors = {JOB: JOBSET_NAME}
        self._observed = ObservedObjects()
        self._uids: dict[ObjectName, str] = {}
        # The Workloads (by uid) that say they are for the JobSet of this place.
        self._serving: defaultdict[ObjectName, dict[str, None]] = defaultdict(dict)
        # The JobSets (by uid) that want something of this name, even if another owns it.
        self._claimants: defaultdict[ObjectName, dict[str, None]] = defaultdict(dict)
        # Jobs (by uid) without a controller that an earlier JobSet of this place has left behind.
        self._orphans: defaultdict[ObjectName, dict[str, None]] = defaultdict(dict)
        # What was read from objects, by uid, as long as they are what they were.
        self._jobsets: dict[str, tuple[Json, JobSet]] = {}
        self._jobs: dict[str, ChildJob] = {}
        self.touched = Touched()

    def see(self, kind: Kind, obj: Json) -> None:
        uid = obj["metadata"]["uid"]
        if kind is JOB and self._observed.get(uid) is None and not _may_be_ours(obj):
            return
        if not self._observed.see(kind, obj):
            return
        self._uids[_place(kind, obj)] = uid
        if kind is JOB_SET:
            for place in self._wanted(self._jobset(uid)):
                self._claimants[place][uid] = None
        elif kind is WORKLOAD:
            for place in _served(obj):
                self._serving[place][uid] = None
        elif kind is JOB:
            self._note_orphan(obj)
        self._touch_concerned(kind, obj)

    def lose(self, kind: Kind, obj: Json) -> None:
        uid, place = obj["metadata"]["uid"], _place(kind, obj)
        if kind is JOB_SET and uid in self._jobsets:
            for wanted in self._wanted(self._jobset(uid)):
                _discard(self._claimants, wanted, uid)
        elif kind is WORKLOAD:
            for served in _served(obj):
                _discard(self._serving, served, uid)
        elif kind is JOB:
            _discard(self._orphans, _named_jobset(obj), uid)
        self._observed.lose(obj)
        self._jobsets.pop(uid, None)
        self._jobs.pop(uid, None)
        if self._uids.get(place) == uid:
            del self._uids[place]
        self._touch_concerned(kind, obj)

    def _note_orphan(self, job: Json) -> None:
        place, uid = _named_jobset(job), job["metadata"]["uid"]
        if controller_of(job):
            _discard(self._orphans, place, uid)
        else:
            self._orphans[place][uid] = None
            if place in self._uids:
                self.touched.add(self._uids[place])

    def _touch_concerned(self, kind: Kind, obj: Json) -> None:
        uid = obj["metadata"]["uid"] if kind is JOB_SET else controller_uid(obj, JOB_SET)
        if uid:
            self.touched.add(uid)
        for claimant in self._claimants.get(_place(kind, obj), ()):
            self.touched.add(claimant)
        for place in _served(obj) if kind is WORKLOAD else ():
            if place in self._uids:
                self.touched.add(self._uids[place])

    def subject(self, key: str) -> Json | None:
        return self._observed.get(key)

    def plan(self, key: str, now: float) -> Plan:
        known = self.known(key)
        if known is None or known.jobset.spec.managed_by not in self._managers:
            return Plan()
        return plan(known.obj, known.jobset, known.jobs, known.around, now)

    def known(self, uid: str) -> KnownJobSet | None:
        """Return what is known of a JobSet, None if it is not there to stay."""
        obj = self._observed.get(uid)
        if obj is None or is_deleting(obj):
            return None
        jobset = self._jobset(uid)
        jobs = sorted(map(self._child, self._observed.owned_by(uid, JOB)), key=lambda job: job.name)
        return KnownJobSet(obj, jobset, jobs, self._surroundings(jobset))

    def _jobset(self, uid: str) -> JobSet:
        """Return the JobSet without what the API does not have: gangs, or trees of them."""
        obj, known = self._observed.get(uid), self._jobsets.get(uid)
        if known is not None and (obj is None or known[0] is obj):
            return known[1]
        jobset = decode(JobSet, obj)
        if Gate.GENERIC_WORKLOAD not in self._gates:
            jobset = without_gangs(jobset)
        elif Gate.COMPOSITE_POD_GROUP not in self._gates:
            jobset = without_trees(jobset)
        self._jobsets[uid] = obj or {}, jobset
        return jobset

    def _child(self, obj: Json) -> ChildJob:
        uid = obj["metadata"]["uid"]
        known = self._jobs.get(uid)
        if known is None or known.obj is not obj:
            known = self._jobs[uid] = read_job(obj)
        return known

    def _surroundings(self, jobset: JobSet) -> GangSurroundings:
        metadata = jobset.metadata
        here = ObjectName(JOB_SET, metadata.namespace, metadata.name)
        present = [place for place in self._wanted(jobset) if place in self._uids]
        named = [self._uids[place] for place in present if place.kind is WORKLOAD]
        services = self._objects(self._uids[place] for place in present if place.kind is SERVICE)
        groups = {
            (kind, group["metadata"]["name"]): group
            for kind in (POD_GROUP, COMPOSITE_POD_GROUP)
            for group in self._observed.owned_by(metadata.uid, kind)
        }
        for place in present:
            found = self._observed.get(self._uids[place])
            if found is not None and place.kind in {POD_GROUP, COMPOSITE_POD_GROUP}:
                groups[place.kind, place.name] = found
        return GangSurroundings(
            workloads=self._objects(dict.fromkeys(named) | self._serving.get(here, {})),
            groups=groups,
            service=next(iter(services), None),
            claims=frozenset(self._usable_claims(jobset, present)),
            lacking=self._lacking,
            orphans=self._objects(self._orphans.get(here, ())),
        )

    def _usable_claims(self, jobset: JobSet, present: Iterable[ObjectName]) -> Iterator[str]:
        """Yield claims that exist; one without an owner may be retained from an earlier JobSet."""
        for place in present:
            found = self._observed.get(self._uids[place]) if place.kind is PERSISTENT_VOLUME_CLAIM else None
            if found is not None and controller_uid(found) in {"", jobset.metadata.uid}:
                yield place.name

    def _objects(self, uids: Iterable[str]) -> list[Json]:
        found = [self._observed.get(uid) for uid in uids]
        return [obj for obj in found if obj is not None]

    def _wanted(self, jobset: JobSet) -> Iterator[ObjectName]:
        """Yield the places of what a JobSet has beside its Jobs."""
        namespace, name = jobset.metadata.namespace, jobset.metadata.name
        yield ObjectName(SERVICE, namespace, subdomain(name, jobset.spec))
        for part in workload_parts(jobset):
            yield ObjectName(WORKLOAD, namespace, part.name)
        for template in claim_templates(jobset.spec):
            yield ObjectName(PERSISTENT_VOLUME_CLAIM, namespace, claim_name(template.metadata.name, name))
        for gang in gangs_of(jobset):
            yield ObjectName(gang.kind, namespace, gang.name)


def served_groups(gates: Gates) -> tuple[Kind, ...]:
    if Gate.GENERIC_WORKLOAD not in gates:
        return ()
    if Gate.COMPOSITE_POD_GROUP not in gates:
        return WORKLOAD, POD_GROUP
    return WORKLOAD, COMPOSITE_POD_GROUP, POD_GROUP


def _place(kind: Kind, obj: Json) -> ObjectName:
    return ObjectName(kind, obj["metadata"]["namespace"], obj["metadata"]["name"])


def _may_be_ours(job: Json) -> bool:
    """Jobs of a JobSet, and Jobs that were of one which is gone."""
    return bool(controller_uid(job, JOB_SET)) or not controller_of(job)


def _named_jobset(job: Json) -> ObjectName:
    """The JobSet that a Job says it is of."""
    metadata = job["metadata"]
    return ObjectName(JOB_SET, metadata["namespace"], (metadata.get("labels") or {}).get(JOBSET_NAME, ""))


def _served(workload: Json) -> Iterator[ObjectName]:
    """The JobSet that a Workload says it is for."""
    reference = workload["spec"].get("controllerRef") or {}
    if reference == controller_reference(reference.get("name", "")):
        yield ObjectName(JOB_SET, workload["metadata"]["namespace"], reference["name"])


def _discard(index: defaultdict[ObjectName, dict[str, None]], place: ObjectName, uid: str) -> None:
    index[place].pop(uid, None)
    if not index[place]:
        del index[place]
