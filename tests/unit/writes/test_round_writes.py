"""The writes of a round: their order, what depends on what, and what a failure returns as."""

import pytest

from posse.engine.decisions import (
    Bind,
    BindVolumes,
    Evict,
    KeepVolume,
    MarkDisrupted,
    Placement,
    ProvisionVolume,
    ReleaseClaim,
    ReportGroup,
    ReportPod,
    WarnGroup,
)
from posse.engine.events import (
    BindRefused,
    EvictionFailed,
    GroupReportFailed,
    MarkFailed,
    ReleaseFailed,
    ReportFailed,
    ReportWithheld,
)
from posse.engine.groups.forms import WORKLOAD_REF
from posse.engine.keys import ClaimKey, GroupKey, PodRef
from posse.engine.proof import Outcome
from posse.kinds.machinery.errors import ApiError, conflict, not_found
from posse.kinds.registry import PERSISTENT_VOLUME, POD, POD_GROUP, RESOURCE_CLAIM
from posse.transport.patches import MERGE_PATCH, Patch
from posse.writes.object_writes import ObjectPatch, conflict_resolved
from posse.writes.round_writes import writes_of

STAMP = "2026-01-01T00:00:00Z"
G1 = GroupKey("default", "g1")
P1, P2, P3 = (PodRef("default", f"p{number}", f"uid-{number}", "posse") for number in (1, 2, 3))
STARTED = ReportGroup(G1, "uid-g", scheduled=True, reason="Scheduled", message="")
WAITS = ReportPod(P3, "Unschedulable", "too little cpu")
MARK = MarkDisrupted(G1, "uid-g", "because", P3)
CLAIM = ClaimKey("default", "data")
KEEP = KeepVolume(CLAIM, "uid-c", "v1", "7", by_us=True)
VOLUMES = BindVolumes(P3, "n1", (KEEP, ProvisionVolume(CLAIM, "uid-c", "n1")))
RELEASE = ReleaseClaim(CLAIM, "uid-c", "7", (), deallocates=True)
UNAVAILABLE = ApiError(503, "ServiceUnavailable", "later")
FORBIDDEN = ApiError(403, "Forbidden", "never")


def bind(*pods, group=None):
    return Bind(tuple(Placement(pod, "n1") for pod in pods), group)


def verbs(part):
    return [
        (write.verbs[0], write.kind.plural, write.name, write.subresource) for write in part.writes(STAMP)
    ]


def only_part(decision):
    writes = writes_of([decision])
    (part,) = writes.reports or writes.stages[0]
    return part


def test_the_pods_of_a_decision_are_bound_in_one_write():
    writes = writes_of([bind(P1, P2, group=G1), bind(P3)])
    assert [[one.name for one in write.bindings()] for write in writes.bindings] == [["p1", "p2"], ["p3"]]
    assert writes.bound_pods() == [P1.uid, P2.uid, P3.uid]
    assert not writes.stages
    assert not writes.reports


def test_a_refused_binding_names_the_pod_and_the_node():
    (write,) = writes_of([bind(P1, P2)]).bindings
    assert write.failed([None, FORBIDDEN]) == [BindRefused(P2.uid, "n1", "never")]
    assert [note.reason for note in write.notes([None, FORBIDDEN])] == ["Scheduled", "FailedScheduling"]
    assert [note.reason for note in write.notes([not_found(POD, "p1"), None])] == ["Scheduled"]


def test_the_report_about_a_group_is_withheld_if_one_of_its_bindings_is_refused():
    writes = writes_of([STARTED, bind(P1, P2, group=G1), WAITS])
    withheld = writes.withheld([BindRefused(P2.uid, "n1", "no")])
    assert withheld == [ReportWithheld(G1)]
    assert [report.decision for report in writes.reports_after(withheld)] == [WAITS]
    assert writes.withheld([]) == []
    assert writes.reports_after([]) == writes.reports


def test_volumes_come_before_evictions_and_the_last_victim_last():
    evictions = [Evict(pod, P3, "n1") for pod in (P1, P2, P3)]
    stages = writes_of([*evictions, VOLUMES]).stages
    assert [[part.decision for part in stage] for stage in stages] == [
        [VOLUMES],
        evictions[:2],
        evictions[2:],
    ]


def test_a_victim_is_marked_before_it_is_deleted():
    assert verbs(only_part(Evict(P1, P3, "n1"))) == [
        ("patch", "pods", "p1", "status"),
        ("delete", "pods", "p1", ""),
    ]


def test_claims_are_written_in_the_order_of_the_steps():
    assert verbs(only_part(VOLUMES)) == [
        ("patch", "persistentvolumes", "v1", ""),
        ("patch", "persistentvolumeclaims", "data", ""),
    ]


@pytest.mark.parametrize(
    ("decision", "error", "event"),
    [
        (VOLUMES, FORBIDDEN, BindRefused(P3.uid, "n1", "never")),
        (Evict(P1, P3, "n1"), FORBIDDEN, EvictionFailed(P1.uid, "never")),
        (Evict(P1, P3, "n1"), not_found(POD, "p1"), None),
        (WAITS, UNAVAILABLE, ReportFailed(P3.uid)),
        (WAITS, FORBIDDEN, None),
        (STARTED, UNAVAILABLE, GroupReportFailed(STARTED)),
        (STARTED, not_found(POD_GROUP, "g1"), None),
        (MARK, UNAVAILABLE, MarkFailed(MARK)),
        (MARK, FORBIDDEN, None),
        (RELEASE, UNAVAILABLE, ReleaseFailed(RELEASE.claim)),
        (RELEASE, FORBIDDEN, ReleaseFailed(RELEASE.claim)),
        (RELEASE, not_found(RESOURCE_CLAIM, "c"), None),
    ],
)
def test_what_a_failure_returns_as(decision, error, event):
    assert only_part(decision).failed(error) == event


def test_reports_hold_only_for_the_object_with_their_uid():
    for decision, uid in ((WAITS, P3.uid), (STARTED, "uid-g"), (MARK, "uid-g")):
        (write,) = only_part(decision).writes(STAMP)
        assert write.uid == uid


def test_a_group_without_an_object_of_its_own_has_an_event_alone():
    report = ReportGroup(GroupKey("default", "w", WORKLOAD_REF.name, "a"), "u", True, "Scheduled", "")
    part = only_part(report)
    assert part.writes(STAMP) == ()
    assert part.note().reason == "Scheduled"


def test_what_is_reported_about_is_named_once():
    writes = writes_of([WAITS, STARTED, MARK, WarnGroup(G1, "uid-g", "Stuck", "why")])
    assert list(writes.subjects()) == [P3.uid, G1]
    assert [note.reason for note in writes.warnings] == ["Stuck"]


def test_a_conflict_with_a_successor_of_the_victim_means_that_the_victim_is_gone():
    (mark, delete) = only_part(Evict(P1, P3, "n1")).writes(STAMP)
    error = conflict(POD, "p1")
    for write in (mark, delete):
        assert conflict_resolved(write, error, None).code == 404
        assert conflict_resolved(write, error, {"metadata": {"uid": "other"}}).code == 404
        assert conflict_resolved(write, error, {"metadata": {"uid": P1.uid}}) is error


def test_a_conflict_over_a_volume_is_none_if_the_volume_has_the_claim():
    (keep, provision) = only_part(VOLUMES).writes(STAMP)
    error = conflict(PERSISTENT_VOLUME, "v1")
    kept = {"metadata": {"uid": "v"}, "spec": {"claimRef": {"uid": "uid-c"}}}
    assert conflict_resolved(keep, error, kept) is None
    assert conflict_resolved(keep, error, kept | {"spec": {"claimRef": {"uid": "uid-d"}}}) is error
    assert conflict_resolved(keep, error, kept | {"spec": {}}) is error
    assert keep.reads_after_conflict
    assert not provision.reads_after_conflict


def test_a_preemptor_learns_only_of_victims_that_were_evicted():
    evictions = [Evict(P1, P3, "n1"), Evict(P2, P3, "n1")]
    (note,) = writes_of([*evictions, MARK]).preempting_notes(evictions[1:])
    text = "Preempting 1 pod of lower priority: default/p2; as a whole podgroup default/g1"
    assert (note.subject.name, note.message) == ("p3", text)


def test_a_patch_is_printed_as_json():
    body = {"status": {"outcome": Outcome.PLACED, "message": None}}
    patch = ObjectPatch(POD, "default", "p", Patch(MERGE_PATCH, body), "status")
    assert str(patch) == 'patch status of pod default/p: {"status":{"outcome":"Placed","message":null}}'
