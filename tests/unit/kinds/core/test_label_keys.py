import pytest

from posse.kinds.core.label_keys import resolve_label_keys


def pod(term, kind="podAntiAffinity", labels=None):
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return {"metadata": {"labels": labels or {}}, "spec": {"affinity": {kind: required}}}


def expressions(obj, kind="podAntiAffinity"):
    (term,) = obj["spec"]["affinity"][kind]["requiredDuringSchedulingIgnoredDuringExecution"]
    return term["labelSelector"].get("matchExpressions", [])


@pytest.mark.parametrize("kind", ["podAffinity", "podAntiAffinity"])
@pytest.mark.parametrize(("field", "operator"), [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")])
def test_the_pods_own_value_narrows_the_selector(kind, field, operator):
    obj = pod({"labelSelector": {"matchLabels": {"app": "a"}}, field: ["hash"]}, kind, {"hash": "x"})
    resolve_label_keys(obj)
    assert expressions(obj, kind) == [{"key": "hash", "operator": operator, "values": ["x"]}]


def test_expressions_that_are_there_stay():
    kept = {"key": "app", "operator": "Exists"}
    obj = pod(
        {"labelSelector": {"matchExpressions": [kept]}, "matchLabelKeys": ["hash"]}, labels={"hash": "x"}
    )
    resolve_label_keys(obj)
    assert expressions(obj) == [kept, {"key": "hash", "operator": "In", "values": ["x"]}]


def test_a_label_the_pod_lacks_changes_nothing():
    obj = pod({"labelSelector": {}, "matchLabelKeys": ["hash"]})
    resolve_label_keys(obj)
    assert expressions(obj) == []


def test_preferred_terms_are_resolved_too():
    term = {"labelSelector": {}, "matchLabelKeys": ["hash"]}
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}
    resolve_label_keys(
        {"metadata": {"labels": {"hash": "x"}}, "spec": {"affinity": {"podAffinity": preferred}}}
    )
    assert term["labelSelector"] == {"matchExpressions": [{"key": "hash", "operator": "In", "values": ["x"]}]}


def test_spread_constraints_are_resolved_too():
    constraint = {"labelSelector": {"matchLabels": {"app": "a"}}, "matchLabelKeys": ["hash", "absent"]}
    resolve_label_keys(
        {"metadata": {"labels": {"hash": "x"}}, "spec": {"topologySpreadConstraints": [constraint]}}
    )
    assert constraint["labelSelector"] == {
        "matchLabels": {"app": "a"},
        "matchExpressions": [{"key": "hash", "operator": "In", "values": ["x"]}],
    }


def test_a_spread_constraint_without_a_selector_stays_without():
    constraint = {"matchLabelKeys": ["hash"]}
    resolve_label_keys(
        {"metadata": {"labels": {"hash": "x"}}, "spec": {"topologySpreadConstraints": [constraint, 3]}}
    )
    assert constraint == {"matchLabelKeys": ["hash"]}


@pytest.mark.parametrize("affinity", [None, [], {"podAffinity": 3}, {"podAffinity": {"x": 1}}])
def test_shapes_that_validation_will_refuse_are_left_alone(affinity):
    obj = {"metadata": {}, "spec": {"affinity": affinity}}
    resolve_label_keys(obj)
    assert obj["spec"]["affinity"] == affinity
