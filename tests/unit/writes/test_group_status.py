"""Every form of groups has its second half: a kind, and a status to write."""

import pytest

from posse.engine.decisions import MarkDisrupted, NotePriorities, ReportGroup
from posse.engine.groups.forms import FORMS, form_of
from posse.engine.keys import GroupKey, PodRef
from posse.kinds.registry import POSSE_COMPOSITE_POD_GROUP, POSSE_POD_GROUP, WORKLOAD
from posse.writes.group_status import (
    FORM_STATUSES,
    disruption_status,
    forms_of,
    group_status,
    object_kind,
    priority_status,
)
from posse.writes.reports import PriorityNoteWrite

STAMP = "2026-01-01T00:00:00Z"
LIKE_KUBERNETES = ("scheduling.k8s.io", "scheduling.posse.dev")


def keys():
    return [GroupKey("default", "g", form.name) for form in FORMS]


def test_each_form_has_one_status_and_composites_where_its_api_has_them():
    assert [one.form for one in FORM_STATUSES] == list(FORMS)
    assert [one.composite_kind is not None for one in FORM_STATUSES] == [
        form.has_composites for form in FORMS
    ]


def test_kinds_and_forms_name_each_other():
    for key in keys():
        assert key.form in forms_of(object_kind(key))
    assert forms_of(WORKLOAD) == ("workloadRef",)
    assert forms_of(POSSE_COMPOSITE_POD_GROUP) == forms_of(POSSE_POD_GROUP) == ("scheduling.posse.dev",)


@pytest.mark.parametrize("key", keys(), ids=lambda key: key.form)
def test_a_refusal_reads_back_as_the_condition_that_the_form_names(key):
    status = group_status(ReportGroup(key, "uid", False, "Unschedulable", "too big"), STAMP)
    written = {(one["type"], one["status"]) for one in (status or {}).get("conditions", ())}
    assert (form_of(key).refusal in written) == form_of(key).has_message


@pytest.mark.parametrize("key", keys(), ids=lambda key: key.form)
def test_only_statuses_like_those_of_kubernetes_hold_a_disruption(key):
    mark = MarkDisrupted(key, "uid", "because", PodRef("default", "p", "u"))
    assert (disruption_status(mark, STAMP) is not None) == (key.form in LIKE_KUBERNETES)


@pytest.mark.parametrize("key", keys(), ids=lambda key: key.form)
def test_only_statuses_like_those_of_kubernetes_hold_a_note_on_priorities_and_all_get_an_event(key):
    write = PriorityNoteWrite(NotePriorities(key, "uid", "they differ"))
    told, gone = priority_status(write.decision, STAMP), priority_status(NotePriorities(key, "uid"), STAMP)
    assert write.note().reason == "PodsNotMatchingPriority"
    if key.form in LIKE_KUBERNETES:
        assert [(one["type"], one["status"]) for one in told["conditions"]] == [
            ("PodsNotMatchingPriority", "True")
        ]
        assert gone == {"conditions": [{"type": "PodsNotMatchingPriority", "$patch": "delete"}]}
        assert len(write.writes(STAMP)) == 1
    else:
        assert told is gone is None
        assert write.writes(STAMP) == ()
