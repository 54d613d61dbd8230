"""Disruption budgets, leases, events, services and their like."""

import pytest

from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import CONFIG_MAP, EVENT, LEASE, POD_DISRUPTION_BUDGET, SECRET, SERVICE

METADATA = {"name": "x", "namespace": "ns"}


def budget(**spec):
    return {"metadata": METADATA, "spec": {"selector": {"matchLabels": {"a": "b"}}, **spec}}


def event(namespace, about):
    return {"metadata": {"name": "e", "namespace": namespace}, "involvedObject": {"namespace": about}}


REPORTED = {
    "eventTime": "2026-01-01T00:00:00.000000Z",
    "reportingComponent": "scheduler",
    "reportingInstance": "scheduler-host",
    "action": "Binding",
}
CASES = {
    "budget": (POD_DISRUPTION_BUDGET, budget(minAvailable="50%"), []),
    "budget without limits": (POD_DISRUPTION_BUDGET, budget(), []),
    "budget with both limits": (
        POD_DISRUPTION_BUDGET,
        budget(minAvailable=1, maxUnavailable=0),
        [
            (
                'spec: Invalid value: {"minAvailable":1,"selector":{"matchLabels":{"a":"b"}},"maxUnavailable":0}: '
                "minAvailable and maxUnavailable cannot be both set"
            )
        ],
    ),
    "negative budget": (
        POD_DISRUPTION_BUDGET,
        budget(maxUnavailable=-1),
        ["spec.maxUnavailable: Invalid value: -1: must be greater than or equal to 0"],
    ),
    "too much": (
        POD_DISRUPTION_BUDGET,
        budget(minAvailable="101%"),
        ['spec.minAvailable: Invalid value: "101%": must not be greater than 100%'],
    ),
    "selector": (
        POD_DISRUPTION_BUDGET,
        budget(selector={"matchExpressions": [{"key": "a", "operator": "In"}]}),
        [
            (
                "spec.selector.matchExpressions[0].values: Required value: "
                "must be specified when `operator` is 'In' or 'NotIn'"
            )
        ],
    ),
    "eviction policy": (
        POD_DISRUPTION_BUDGET,
        budget(unhealthyPodEvictionPolicy="X"),
        [
            (
                'spec.unhealthyPodEvictionPolicy: Unsupported value: "X": '
                'supported values: "AlwaysAllow", "IfHealthyBudget"'
            )
        ],
    ),
    "lease": (
        LEASE,
        {"metadata": METADATA, "spec": {"holderIdentity": "me", "leaseDurationSeconds": 15}},
        [],
    ),
    "lease without duration": (
        LEASE,
        {"metadata": METADATA, "spec": {"leaseDurationSeconds": 0, "leaseTransitions": -1}},
        [
            "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
            "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
        ],
    ),
    "event": (EVENT, event("ns", "ns"), []),
    "event about a node": (EVENT, event("default", ""), []),
    "event with its time": (EVENT, event("ns", "ns") | REPORTED, []),
    "event with its time alone": (
        EVENT,
        event("ns", "ns") | {"eventTime": REPORTED["eventTime"]},
        [f"{field}: Required value" for field in ("reportingComponent", "reportingInstance", "action")],
    ),
    "event elsewhere": (
        EVENT,
        event("ns", "other"),
        ['involvedObject.namespace: Invalid value: "other": does not match event.namespace'],
    ),
    "event about a node elsewhere": (
        EVENT,
        event("ns", ""),
        ['involvedObject.namespace: Invalid value: "": does not match event.namespace'],
    ),
    "service": (SERVICE, {"metadata": METADATA, "spec": {"ports": [{"port": 80}]}}, []),
    "service port": (
        SERVICE,
        {"metadata": METADATA, "spec": {"ports": [{"port": 0}], "type": "Any"}},
        [
            (
                'spec.type: Unsupported value: "Any": '
                'supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"'
            ),
            "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
        ],
    ),
    "config map": (CONFIG_MAP, {"metadata": METADATA, "data": {"a.b": "x"}, "binaryData": {"c": "eA=="}}, []),
    "same key twice": (
        CONFIG_MAP,
        {"metadata": METADATA, "data": {"a": "x"}, "binaryData": {"a": "eA=="}},
        ['binaryData[a]: Invalid value: "a": duplicate of key present in data'],
    ),
    "secret": (SECRET, {"metadata": METADATA, "stringData": {"a": "x"}}, []),
}


@pytest.mark.parametrize(("kind", "obj", "expected"), CASES.values(), ids=CASES.keys())
def test_on_create(problems, kind, obj, expected):
    assert problems(kind, obj) == expected


@pytest.mark.parametrize("share", ["half", "", "-1%"])
def test_shares_are_percentages(problems, share):
    found = problems(POD_DISRUPTION_BUDGET, budget(minAvailable=share))
    assert found[0].startswith(f'spec.minAvailable: Invalid value: "{share}": a valid percent string must be')


def test_bad_config_key(problems):
    found = problems(CONFIG_MAP, {"metadata": METADATA, "data": {"a b": "x"}})
    assert found[0].startswith('data[a b]: Invalid value: "a b": a valid config key must consist of')


def test_budget_status_and_spec_are_checked_when_they_change(update_problems):
    status = {"disruptionsAllowed": -1, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
    assert update_problems(POD_DISRUPTION_BUDGET, budget(minAvailable=1), {"status": status}) == [
        "status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0"
    ]
    assert (
        update_problems(POD_DISRUPTION_BUDGET, budget(minAvailable=-1), {"status": {"expectedPods": 1}}) == []
    )
    assert update_problems(POD_DISRUPTION_BUDGET, budget(), {"spec": {"minAvailable": -1}}) == [
        "spec.minAvailable: Invalid value: -1: must be greater than or equal to 0"
    ]


def test_lease_updates(update_problems):
    lease = {"metadata": METADATA, "spec": {"leaseDurationSeconds": 15}}
    assert update_problems(LEASE, lease, {"spec": {"renewTime": "2026-01-01T00:00:00.000000Z"}}) == []


def test_service_defaults():
    service = {"spec": {"ports": [{"port": 80}]}}
    SERVICE.rules.default(service)
    assert service["spec"] == {
        "type": "ClusterIP",
        "sessionAffinity": "None",
        "internalTrafficPolicy": "Cluster",
        "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}],
    }


def test_secrets_keep_no_plain_text():
    secret = {"data": {"a": "b2xk"}, "stringData": {"a": "new", "b": "ü"}}
    SECRET.rules.default(secret)
    assert secret == {"type": "Opaque", "data": {"a": "bmV3", "b": "w7w="}}


@pytest.mark.parametrize("text", ["not base64!", "abc", "ab=c", "ä==="])
def test_secrets_are_base64(text):
    with pytest.raises(ApiError, match="cannot be handled as a Secret: illegal base64 data at input byte"):
        SECRET.rules.default({"data": {"a": text}})


def test_frozen_data_stays(update_problems):
    config = {"metadata": METADATA, "immutable": True, "data": {"a": "x"}}
    secret = {"metadata": METADATA, "immutable": True, "data": {"a": "eA=="}}
    text = "field is immutable when `immutable` is set"
    assert update_problems(CONFIG_MAP, config, {"data": {"a": "y"}}) == [f"data: Forbidden: {text}"]
    assert update_problems(CONFIG_MAP, config, {"immutable": None}) == [f"immutable: Forbidden: {text}"]
    assert update_problems(SECRET, secret, {"data": {"a": "eQ=="}, "type": "x"}) == [
        f"data: Forbidden: {text}",
        'type: Invalid value: "x": field is immutable',
    ]


def test_keys_that_are_added_to_a_secret_are_judged(update_problems):
    secret = {"metadata": METADATA, "data": {"a": "eA=="}}
    [problem] = update_problems(SECRET, secret, {"data": {"a b": "eA=="}})
    assert problem.startswith('data[a b]: Invalid value: "a b": a valid config key must')
