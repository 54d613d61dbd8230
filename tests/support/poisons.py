"""Objects with far more in one field than any user means: what one tenant may write to slow down all others.

As JSON, one for each field, so that the API server, the engine and a real cluster are given the same.
"""

MANY = 20_000

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def pod(name="poison", **spec):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": "i"}], **spec},
    }


def _containers(**fields):
    return [{"name": "c", "image": "i", **fields}]


def _numbered(count, make):
    return [make(index) for index in range(count)]


def _spread(count, otherwise="DoNotSchedule"):
    return _numbered(
        count,
        lambda i: {
            "maxSkew": 1,
            "topologyKey": f"k{i}",
            "whenUnsatisfiable": otherwise,
            "labelSelector": {"matchLabels": {"app": f"a{i}"}},
        },
    )


def _terms(count):
    return _numbered(
        count, lambda i: {"topologyKey": f"k{i}", "labelSelector": {"matchLabels": {"app": f"a{i}"}}}
    )


def _weighted(count):
    return [{"weight": 1, "podAffinityTerm": term} for term in _terms(count)]


def _expressions(count):
    return _numbered(count, lambda i: {"key": f"k{i}", "operator": "In", "values": ["a"]})


def _node_terms(count):
    return [{"matchExpressions": [one]} for one in _expressions(count)]


def _values(count):
    return [{"key": "k", "operator": "In", "values": _numbered(count, "v{}".format)}]


def _one_term(selector, key="topology.kubernetes.io/zone"):
    return [{"topologyKey": key, "labelSelector": selector}]


PODS = {
    "spread constraints": lambda n: pod(topologySpreadConstraints=_spread(n)),
    "soft spread constraints": lambda n: pod(topologySpreadConstraints=_spread(n, "ScheduleAnyway")),
    "values of a spread constraint": lambda n: pod(
        topologySpreadConstraints=[_spread(1)[0] | {"labelSelector": {"matchExpressions": _values(n)}}]
    ),
    "host ports": lambda n: pod(
        containers=_containers(ports=_numbered(n, lambda i: {"containerPort": i + 1, "hostPort": i + 1}))
    ),
    "ports of sidecars": lambda n: pod(
        initContainers=[
            {"name": "s", "image": "i", "restartPolicy": "Always"}
            | {"ports": _numbered(n, lambda i: {"containerPort": i + 1, "hostPort": i + 1})}
        ]
    ),
    "resource names": lambda n: pod(
        containers=_containers(
            resources={name: {f"example.com/r{i}": "1" for i in range(n)} for name in ("requests", "limits")}
        )
    ),
    "limits of resources": lambda n: pod(
        containers=_containers(resources={"limits": {f"example.com/r{i}": "1" for i in range(n)}})
    ),
    "limits of the pod as a whole": lambda n: pod(
        resources={"limits": {f"example.com/r{i}": "1" for i in range(n)}}
    ),
    "affinity terms": lambda n: pod(affinity={"podAffinity": {_REQUIRED: _terms(n)}}),
    "anti-affinity terms": lambda n: pod(affinity={"podAntiAffinity": {_REQUIRED: _terms(n)}}),
    "preferred affinity terms": lambda n: pod(affinity={"podAffinity": {_PREFERRED: _weighted(n)}}),
    "preferred anti-affinity terms": lambda n: pod(affinity={"podAntiAffinity": {_PREFERRED: _weighted(n)}}),
    "expressions of an affinity term": lambda n: pod(
        affinity={"podAffinity": {_REQUIRED: _one_term({"matchExpressions": _expressions(n)})}}
    ),
    "labels of an anti-affinity term": lambda n: pod(
        affinity={
            "podAntiAffinity": {_REQUIRED: _one_term({"matchLabels": {f"k{i}": "v" for i in range(n)}})}
        }
    ),
    "namespaces of an affinity term": lambda n: pod(
        affinity={
            "podAffinity": {_REQUIRED: [_one_term({})[0] | {"namespaces": _numbered(n, "ns{}".format)}]}
        }
    ),
    "label keys of an affinity term": lambda n: pod(
        affinity={
            "podAffinity": {_REQUIRED: [_one_term({})[0] | {"matchLabelKeys": _numbered(n, "k{}".format)}]}
        }
    ),
    "node selector": lambda n: pod(nodeSelector={f"k{i}": "v" for i in range(n)}),
    "node selector terms": lambda n: pod(
        affinity={"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": _node_terms(n)}}}
    ),
    "node expressions": lambda n: pod(
        affinity={"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": _expressions(n)}]}}}
    ),
    "values of a node expression": lambda n: pod(
        affinity={"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": _values(n)}]}}}
    ),
    "preferred node terms": lambda n: pod(
        affinity={
            "nodeAffinity": {_PREFERRED: [{"weight": 1, "preference": term} for term in _node_terms(n)]}
        }
    ),
    "tolerations": lambda n: pod(tolerations=_numbered(n, lambda i: {"key": f"k{i}", "operator": "Exists"})),
    "containers": lambda n: pod(containers=_numbered(n, lambda i: {"name": f"c{i}", "image": f"i{i}"})),
    "init containers": lambda n: pod(
        initContainers=_numbered(n, lambda i: {"name": f"s{i}", "image": f"i{i}"})
    ),
    "claims": lambda n: pod(
        volumes=_numbered(n, lambda i: {"name": f"v{i}", "persistentVolumeClaim": {"claimName": f"c{i}"}})
    ),
    "volumes": lambda n: pod(volumes=_numbered(n, lambda i: {"name": f"v{i}", "emptyDir": {}})),
    "scheduling gates": lambda n: pod(schedulingGates=_numbered(n, lambda i: {"name": f"example.com/g{i}"})),
    "overhead": lambda n: pod(overhead={f"example.com/r{i}": "1" for i in range(n)}),
    "device claims": lambda n: pod(
        resourceClaims=_numbered(n, lambda i: {"name": f"d{i}", "resourceClaimName": f"c{i}"})
    ),
    "labels": lambda n: (
        pod()
        | {"metadata": {"name": "poison", "namespace": "default", "labels": {f"k{i}": "v" for i in range(n)}}}
    ),
}
"""Pods beyond a limit with that many items in the field, by what there is too much of."""


def template(**spec):
    return {"metadata": {"labels": {"app": "a"}}, "spec": pod(**{"restartPolicy": "Never"} | spec)["spec"]}


def node(count):
    offered = {"cpu": "4", "memory": "8Gi", "pods": "110"} | {f"example.com/r{i}": "1" for i in range(count)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "poison"},
        "status": {"allocatable": offered, "capacity": offered},
    }
