"""Pods: each rule with the field and the words it is refused with."""

import pytest

from posse.kinds.registry import POD

POD_OBJECT = {
    "metadata": {"name": "p", "namespace": "ns"},
    "spec": {"containers": [{"name": "c", "image": "busybox:1"}]},
}


def container(**fields):
    return {"spec": {"containers": [{"name": "c", "image": "busybox:1", **fields}]}}


def spec(**fields):
    return {"spec": fields}


def required_nodes(*expressions, **term):
    terms = [{"matchExpressions": list(expressions), **term}]
    affinity = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return spec(affinity={"nodeAffinity": affinity})


def pod_affinity(kind="podAffinity", **term):
    return spec(affinity={kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})


SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
NODES = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
PODS = "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]"

GOOD = {
    "minimal": {},
    "resources": container(
        resources={
            "limits": {"cpu": "2", "example.com/gpu": 1},
            "requests": {"cpu": "500m", "memory": "1Gi", "example.com/gpu": "1", "ephemeral-storage": "1e9"},
        }
    ),
    "ports": container(ports=[{"containerPort": 80, "hostPort": 80, "name": "web"}, {"containerPort": 81}]),
    "tolerations": spec(
        tolerations=[
            {"operator": "Exists"},
            {"key": "a", "value": "b", "effect": "NoSchedule"},
            {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": -1},
        ]
    ),
    "node affinity": required_nodes(
        {"key": "a", "operator": "In", "values": ["x"]},
        {"key": "b", "operator": "DoesNotExist"},
        {"key": "c", "operator": "Gt", "values": ["-3"]},
        matchFields=[{"key": "metadata.name", "operator": "In", "values": ["n1"]}],
    ),
    "pod affinity": pod_affinity(
        topologyKey="zone", labelSelector={"matchLabels": {"a": "b"}}, namespaces=["x"], matchLabelKeys=["v"]
    ),
    "spread": spec(topologySpreadConstraints=[SPREAD, SPREAD | {"whenUnsatisfiable": "ScheduleAnyway"}]),
    "group": spec(schedulingGroup={"podGroupName": "not-yet-there"}),
    "group of 1.35": spec(workloadRef={"name": "wl", "podGroup": "g", "podGroupReplicaKey": "0"}),
    "gates": spec(schedulingGates=[{"name": "example.com/a"}]),
    "volumes": {
        "spec": {
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
            "containers": [
                {"name": "c", "image": "i", "volumeMounts": [{"name": "v", "mountPath": "/data"}]},
            ],
        }
    },
}


@pytest.mark.parametrize("patch", GOOD.values(), ids=GOOD.keys())
def test_good(problems, patch):
    assert problems(POD, POD_OBJECT, patch) == []


REFUSED = {
    "no containers": (spec(containers=[]), "spec.containers: Required value"),
    "no container name": (container(name=""), "spec.containers[0].name: Required value"),
    "container name": (
        container(name="a.b"),
        'spec.containers[0].name: Invalid value: "a.b": must not contain dots',
    ),
    "same name as an init container": (
        spec(initContainers=[{"name": "c", "image": "i"}]),
        'spec.initContainers[0].name: Duplicate value: "c"',
    ),
    "no image": (container(image=None), "spec.containers[0].image: Required value"),
    "blank around image": (
        container(image=" i"),
        'spec.containers[0].image: Invalid value: " i": must not have leading or trailing whitespace',
    ),
    "pull policy": (
        container(imagePullPolicy="Sometimes"),
        (
            'spec.containers[0].imagePullPolicy: Unsupported value: "Sometimes": '
            'supported values: "Always", "IfNotPresent", "Never"'
        ),
    ),
    "no port": (
        container(ports=[{"hostPort": 1}]),
        "spec.containers[0].ports[0].containerPort: Required value",
    ),
    "port range": (
        container(ports=[{"containerPort": 65536}]),
        "spec.containers[0].ports[0].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive",
    ),
    "host port range": (
        container(ports=[{"containerPort": 1, "hostPort": -1}]),
        "spec.containers[0].ports[0].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive",
    ),
    "host port twice": (
        container(ports=[{"containerPort": 1, "hostPort": 9}, {"containerPort": 2, "hostPort": 9}]),
        'spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//9"',
    ),
    "host network": (
        {"spec": container(ports=[{"containerPort": 1, "hostPort": 9}])["spec"] | {"hostNetwork": True}},
        (
            "spec.containers[0].ports[0].hostPort: Invalid value: 9: "
            "must match `containerPort` when `hostNetwork` is true"
        ),
    ),
    "protocol": (
        container(ports=[{"containerPort": 1, "protocol": "ICMP"}]),
        'spec.containers[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
    ),
    "port name twice": (
        container(ports=[{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}]),
        'spec.containers[0].ports[1].name: Duplicate value: "a"',
    ),
    "nameless variable": (container(env=[{"value": "x"}]), "spec.containers[0].env[0].name: Required value"),
    "unknown mount": (
        container(volumeMounts=[{"name": "v", "mountPath": "/x"}]),
        'spec.containers[0].volumeMounts[0].name: Not found: "v"',
    ),
    "negative amount": (
        container(resources={"requests": {"cpu": "-1"}}),
        'spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    ),
    "unknown resource": (
        container(resources={"requests": {"gpu": "1"}}),
        (
            'spec.containers[0].resources.requests[gpu]: Invalid value: "gpu": '
            "must be a standard resource for containers"
        ),
    ),
    "request above limit": (
        container(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1500m"}}),
        (
            'spec.containers[0].resources.requests: Invalid value: "2": '
            "must be less than or equal to cpu limit of 1500m"
        ),
    ),
    "part of a device": (
        container(resources={"limits": {"example.com/gpu": "500m"}, "requests": {"example.com/gpu": "1"}}),
        'spec.containers[0].resources.limits[example.com/gpu]: Invalid value: "500m": must be an integer',
    ),
    "device request differs": (
        container(resources={"limits": {"example.com/gpu": "2"}, "requests": {"example.com/gpu": "1"}}),
        'spec.containers[0].resources.requests: Invalid value: "1": must be equal to example.com/gpu limit of 2',
    ),
    "device without limit": (
        container(resources={"requests": {"example.com/gpu": "1"}}),
        "spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources",
    ),
    "overhead": (
        spec(overhead={"cpu": -1}),
        'spec.overhead[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    ),
    "restart policy": (
        spec(restartPolicy="Maybe"),
        'spec.restartPolicy: Unsupported value: "Maybe": supported values: "Always", "Never", "OnFailure"',
    ),
    "dns policy": (
        spec(dnsPolicy="X"),
        (
            'spec.dnsPolicy: Unsupported value: "X": '
            'supported values: "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"'
        ),
    ),
    "preemption policy": (
        spec(preemptionPolicy="X"),
        'spec.preemptionPolicy: Unsupported value: "X": supported values: "Never", "PreemptLowerPriority"',
    ),
    "operating system": (
        spec(os={"name": "plan9"}),
        'spec.os.name: Unsupported value: "plan9": supported values: "linux", "windows"',
    ),
    "deadline": (
        spec(activeDeadlineSeconds=0),
        "spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive",
    ),
    "grace": (
        spec(terminationGracePeriodSeconds=2**62),
        f"spec.terminationGracePeriodSeconds: Invalid value: {2**62}: must be less than or equal to 2147483647",
    ),
    "hostname": (spec(hostname="a.b"), 'spec.hostname: Invalid value: "a.b": must not contain dots'),
    "node selector": (
        spec(nodeSelector={"/a": ""}),
        'spec.nodeSelector: Invalid value: "/a": prefix part must be non-empty',
    ),
    "toleration without key": (
        spec(tolerations=[{"value": "x"}]),
        (
            'spec.tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, '
            'which means "match all values and all keys"'
        ),
    ),
    "toleration operator": (
        spec(tolerations=[{"key": "a", "operator": "Lt", "value": "1"}]),
        'spec.tolerations[0].operator: Unsupported value: "Lt": supported values: "Equal", "Exists"',
    ),
    "toleration with needless value": (
        spec(tolerations=[{"key": "a", "operator": "Exists", "value": "1"}]),
        (
            'spec.tolerations[0].operator: Invalid value: {"key":"a","operator":"Exists","value":"1"}: '
            "value must be empty when `operator` is 'Exists'"
        ),
    ),
    "toleration seconds": (
        spec(tolerations=[{"key": "a", "effect": "NoSchedule", "tolerationSeconds": 1}]),
        (
            'spec.tolerations[0].effect: Invalid value: "NoSchedule": '
            "effect must be 'NoExecute' when `tolerationSeconds` is set"
        ),
    ),
    "toleration effect": (
        spec(tolerations=[{"key": "a", "effect": "X"}]),
        (
            'spec.tolerations[0].effect: Unsupported value: "X": '
            'supported values: "NoExecute", "NoSchedule", "PreferNoSchedule"'
        ),
    ),
    "no terms": (
        spec(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {}}}),
        f"{NODES}: Required value: must have at least one node selector term",
    ),
    "In without values": (
        required_nodes({"key": "a", "operator": "In"}),
        (
            f"{NODES}[0].matchExpressions[0].values: Required value: "
            "must be specified when `operator` is 'In' or 'NotIn'"
        ),
    ),
    "Exists with values": (
        required_nodes({"key": "a", "operator": "Exists", "values": ["x"]}),
        (
            f"{NODES}[0].matchExpressions[0].values: Forbidden: "
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        ),
    ),
    "Gt with two values": (
        required_nodes({"key": "a", "operator": "Gt", "values": ["1", "2"]}),
        (
            f"{NODES}[0].matchExpressions[0].values: Required value: "
            "must be specified single value when `operator` is 'Lt' or 'Gt'"
        ),
    ),
    "Lt with a word": (
        required_nodes({"key": "a", "operator": "Lt", "values": ["x"]}),
        (
            f'{NODES}[0].matchExpressions[0].values[0]: Invalid value: "x": '
            "for 'Gt', 'Lt' operators, the value must be an integer"
        ),
    ),
    "node operator": (
        required_nodes({"key": "a", "operator": "Like"}),
        f'{NODES}[0].matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator',
    ),
    "node field": (
        required_nodes(matchFields=[{"key": "spec.x", "operator": "In", "values": ["n"]}]),
        f'{NODES}[0].matchFields[0].key: Invalid value: "spec.x": not a valid field selector key',
    ),
    "node field operator": (
        required_nodes(matchFields=[{"key": "metadata.name", "operator": "Exists"}]),
        f'{NODES}[0].matchFields[0].operator: Invalid value: "Exists": not a valid selector operator',
    ),
    "two node names": (
        required_nodes(matchFields=[{"key": "metadata.name", "operator": "In", "values": ["n", "m"]}]),
        (
            f"{NODES}[0].matchFields[0].values: Required value: must be only one value when `operator` is "
            "'In' or 'NotIn' for node field selector"
        ),
    ),
    "node weight": (
        spec(
            affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 101}]}}
        ),
        (
            "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: "
            "Invalid value: 101: must be in the range 1-100"
        ),
    ),
    "pod weight": (
        spec(
            affinity={
                "podAntiAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {"podAffinityTerm": {"topologyKey": "z"}}
                    ]
                }
            }
        ),
        (
            "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: "
            "Invalid value: 0: must be in the range 1-100"
        ),
    ),
    "no topology key": (
        pod_affinity(labelSelector={}),
        f"{PODS}.topologyKey: Required value: can not be empty",
    ),
    "affinity namespace": (
        pod_affinity(topologyKey="z", namespaces=["a.b"]),
        f'{PODS}.namespaces[0]: Invalid value: "a.b": must not contain dots',
    ),
    "label keys without selector": (
        pod_affinity(topologyKey="z", matchLabelKeys=["a"]),
        f"{PODS}.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
    ),
    "label key in the selector too": (
        pod_affinity(
            topologyKey="z",
            matchLabelKeys=["b", "a"],
            labelSelector={
                "matchLabels": {"a": "x"},
                "matchExpressions": [{"key": "a", "operator": "Exists"}],
            },
        ),
        f'{PODS}[1]: Invalid value: "a": exists in both matchLabelKeys and labelSelector',
    ),
    "label key wanted and unwanted": (
        pod_affinity(topologyKey="z", labelSelector={}, matchLabelKeys=["a"], mismatchLabelKeys=["a"]),
        f'{PODS}.matchLabelKeys[0]: Invalid value: "a": exists in both matchLabelKeys and mismatchLabelKeys',
    ),
    "label key of a constraint in its selector too": (
        spec(
            topologySpreadConstraints=[
                SPREAD
                | {
                    "matchLabelKeys": ["a"],
                    "labelSelector": {"matchExpressions": [{"key": "a", "operator": "Exists"}] * 2},
                }
            ]
        ),
        (
            'spec.topologySpreadConstraints[0][0]: Invalid value: "a": '
            "exists in both matchLabelKeys and labelSelector"
        ),
    ),
    "label selector operator": (
        pod_affinity(topologyKey="z", labelSelector={"matchExpressions": [{"key": "a", "operator": "Gt"}]}),
        f'{PODS}.labelSelector.matchExpressions[0].operator: Invalid value: "Gt": not a valid selector operator',
    ),
    "skew": (
        spec(topologySpreadConstraints=[SPREAD | {"maxSkew": 0}]),
        "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
    ),
    "spread key": (
        spec(topologySpreadConstraints=[SPREAD | {"topologyKey": ""}]),
        "spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty",
    ),
    "when unsatisfiable": (
        spec(topologySpreadConstraints=[SPREAD | {"whenUnsatisfiable": "Cry"}]),
        (
            'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "Cry": '
            'supported values: "DoNotSchedule", "ScheduleAnyway"'
        ),
    ),
    "spread twice": (
        spec(topologySpreadConstraints=[SPREAD, SPREAD]),
        (
            "spec.topologySpreadConstraints[1].{topologyKey, whenUnsatisfiable}: "
            'Duplicate value: "{zone, DoNotSchedule}"'
        ),
    ),
    "domains": (
        spec(topologySpreadConstraints=[SPREAD | {"minDomains": 0}]),
        "spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: must be greater than zero",
    ),
    "domains of a soft constraint": (
        spec(topologySpreadConstraints=[SPREAD | {"minDomains": 2, "whenUnsatisfiable": "ScheduleAnyway"}]),
        (
            "spec.topologySpreadConstraints[0].minDomains: Invalid value: 2: "
            "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway"
        ),
    ),
    "inclusion policy": (
        spec(topologySpreadConstraints=[SPREAD | {"nodeTaintsPolicy": "Like"}]),
        (
            'spec.topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value: "Like": '
            'supported values: "Honor", "Ignore"'
        ),
    ),
    "empty group": (
        spec(schedulingGroup={}),
        "spec.schedulingGroup.podGroupName: Invalid value: null: must specify one of: `podGroupName`",
    ),
    "group and responders": (
        spec(schedulingGroup={"podGroupName": "g"}, evictionResponders=[{"name": "r"}]),
        "spec.schedulingGroup: Forbidden: may not be set when evictionResponders is set",
    ),
    "gate twice": (
        spec(schedulingGates=[{"name": "a.b/c"}, {"name": "a.b/c"}]),
        'spec.schedulingGates[1]: Duplicate value: "a.b/c"',
    ),
    "gated on a node": (
        spec(schedulingGates=[{"name": "a.b/c"}], nodeName="n"),
        "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared",
    ),
    "volume twice": (
        spec(volumes=[{"name": "v"}, {"name": "v"}]),
        'spec.volumes[1].name: Duplicate value: "v"',
    ),
    "claim without name": (
        spec(volumes=[{"name": "v", "persistentVolumeClaim": {}}]),
        "spec.volumes[0].persistentVolumeClaim.claimName: Required value",
    ),
    "workload without group": (
        spec(workloadRef={"name": "w"}),
        "spec.workloadRef.podGroup: Required value",
    ),
    "group of a workload without workload": (
        spec(workloadRef={"podGroup": "g"}),
        "spec.workloadRef.name: Required value",
    ),
    "replica key with dots": (
        spec(workloadRef={"name": "w", "podGroup": "g", "podGroupReplicaKey": "a.b"}),
        'spec.workloadRef.podGroupReplicaKey: Invalid value: "a.b": must not contain dots',
    ),
    "groups of two forms": (
        spec(workloadRef={"name": "w", "podGroup": "g"}, schedulingGroup={"podGroupName": "g"}),
        "spec.workloadRef: Forbidden: may not be set when schedulingGroup is set",
    ),
}


@pytest.mark.parametrize(("patch", "problem"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(problems, patch, problem):
    assert problems(POD, POD_OBJECT, patch) == [problem]


def test_malformed_amount_is_named(problems):
    found = problems(POD, POD_OBJECT, container(resources={"limits": {"cpu": "one"}}))
    assert [text.split(": 'one'")[0] for text in found] == [
        'spec.containers[0].resources.limits[cpu]: Invalid value: "one"',
        'spec.containers[0].resources.requests[cpu]: Invalid value: "one"',
    ]


@pytest.mark.parametrize("name", ["", "A_b"])
def test_group_name(problems, name):
    found = problems(POD, POD_OBJECT, spec(schedulingGroup={"podGroupName": name}))
    assert found[0].startswith(
        f'spec.schedulingGroup.podGroupName: Invalid value: "{name}": a lowercase RFC 1123 subdomain must consist'
    )


@pytest.mark.parametrize("name", ["x" * 16, "80", "a--b", "-a", "A"])
def test_port_name(problems, name):
    found = problems(POD, POD_OBJECT, container(ports=[{"containerPort": 1, "name": name}]))
    assert found[0].startswith(
        f'spec.containers[0].ports[0].name: Invalid value: "{name}": must be at most 15'
    )
