"""Which kinds are served under which names, and how objects pass between versions."""

import pytest

from posse.kinds.machinery.conversion import to_storage, to_version
from posse.kinds.registry import (
    COMPOSITE_POD_GROUP,
    EVENT,
    EVENT_VIEW,
    KINDS,
    POD,
    POD_GROUP,
    PRIORITY_CLASS,
    WORKLOAD,
    by_kind,
    find,
)


@pytest.mark.parametrize(
    ("group", "version", "plural", "kind"),
    [
        ("", "v1", "pods", POD),
        ("scheduling.k8s.io", "v1", "priorityclasses", PRIORITY_CLASS),
        ("scheduling.k8s.io", "v1beta1", "podgroups", POD_GROUP),
        ("scheduling.k8s.io", "v1alpha3", "podgroups", POD_GROUP),
        ("scheduling.k8s.io", "v1alpha3", "workloads", WORKLOAD),
        ("scheduling.k8s.io", "v1alpha2", "workloads", WORKLOAD),
        ("scheduling.k8s.io", "v1alpha2", "podgroups", POD_GROUP),
        ("scheduling.k8s.io", "v1alpha1", "workloads", WORKLOAD),
        ("scheduling.k8s.io", "v1alpha1", "podgroups", None),
        ("scheduling.k8s.io", "v1alpha3", "compositepodgroups", COMPOSITE_POD_GROUP),
        ("scheduling.k8s.io", "v1beta1", "compositepodgroups", None),
        ("scheduling.k8s.io", "v1", "podgroups", None),
        ("events.k8s.io", "v1", "events", EVENT_VIEW),
        ("", "v1", "gizmos", None),
    ],
)
def test_find(group, version, plural, kind):
    assert find(group, version, plural) is kind


def test_by_kind():
    assert by_kind("", "Event") is EVENT
    assert by_kind("events.k8s.io", "Event") is EVENT_VIEW
    assert by_kind("apps", "DaemonSet") is None


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.group_resource)
def test_every_kind_is_complete(kind):
    assert kind.storage_version in kind.versions
    assert kind.columns[0].name in {"Name", "Last Seen"}
    assert kind.has_status == hasattr(kind.struct(), "status")
    assert kind.stored.view_of is None


def test_names():
    assert (POD_GROUP.singular, POD_GROUP.list_kind) == ("podgroup", "PodGroupList")
    assert POD_GROUP.api_version == "scheduling.k8s.io/v1beta1"
    assert POD_GROUP.api_version_of("v1alpha3") == "scheduling.k8s.io/v1alpha3"
    assert POD_GROUP.group_resource == "podgroups.scheduling.k8s.io"


def test_the_newest_versions_of_a_pod_group_differ_in_name_only():
    sent = {"apiVersion": "scheduling.k8s.io/v1alpha3", "kind": "PodGroup", "spec": {"future": 1}}
    stored = to_storage(POD_GROUP, sent)
    assert stored == {**sent, "apiVersion": "scheduling.k8s.io/v1beta1"}
    assert to_version(POD_GROUP, stored, "v1alpha3") == sent


EVENT_AS_SENT = {
    "apiVersion": "events.k8s.io/v1",
    "kind": "Event",
    "metadata": {"name": "e"},
    "eventTime": "2026-01-01T00:00:00.000000Z",
    "series": {"count": 2},
    "reportingController": "posse",
    "reportingInstance": "posse-0",
    "action": "Binding",
    "reason": "Scheduled",
    "regarding": {"kind": "Pod", "name": "p"},
    "note": "bound to n1",
    "type": "Normal",
    "deprecatedSource": {"component": "posse"},
    "deprecatedFirstTimestamp": "2026-01-01T00:00:00Z",
    "deprecatedLastTimestamp": "2026-01-01T00:00:01Z",
    "deprecatedCount": 2,
}


def test_events_are_stored_as_core_events():
    stored = to_storage(EVENT_VIEW, EVENT_AS_SENT)
    assert stored == {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "e"},
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "series": {"count": 2},
        "reportingComponent": "posse",
        "reportingInstance": "posse-0",
        "action": "Binding",
        "reason": "Scheduled",
        "involvedObject": {"kind": "Pod", "name": "p"},
        "message": "bound to n1",
        "type": "Normal",
        "source": {"component": "posse"},
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T00:00:01Z",
        "count": 2,
    }
    assert to_version(EVENT_VIEW, stored, "v1") == EVENT_AS_SENT
    assert to_version(EVENT, stored, "v1") == stored
