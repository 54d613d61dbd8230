"""What one tenant sends to a whole `posse up`, one attack after the other, and what it does to everybody else."""

import json

from tests.support import poisons

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
DEFAULT = "/namespaces/default"
PODS = f"/api/v1{DEFAULT}/pods"
MAPS = f"/api/v1{DEFAULT}/configmaps"
MB = 1024 * 1024


def path_of(api, plural, namespace=DEFAULT):
    return f"/{'apis/' if '/' in api else 'api/'}{api}{namespace}/{plural}"


def meta(name="poison", **more):
    return {"name": name, **more}


def numbered(count, make):
    return [make(index) for index in range(count)]


def labels(count, text="k{}"):
    return {text.format(i): "v" for i in range(count)}


def pod(name="poison", metadata=None, **spec):
    made = poisons.pod(name, **spec)
    made["metadata"] |= metadata or {}
    return made


def container(**fields):
    return [{"name": "c", "image": "i", **fields}]


def create(path, obj, media_type=JSON):
    return [("POST", path, media_type, obj if isinstance(obj, bytes) else json.dumps(obj).encode())]


def apply(path, obj, manager="a", force="true"):
    return ("PATCH", f"{path}?fieldManager={manager}&force={force}", APPLY, json.dumps(obj).encode())


def config_map(data=None, **metadata):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta(**metadata), "data": data or {}}


# Pods: fields that cost nothing to write.

POD_ATTACKS = {f"pod: {name}": (make, 20_000) for name, make in poisons.PODS.items()}
POD_ATTACKS |= {
    "pod: env": (
        lambda n: pod(containers=container(env=numbered(n, lambda i: {"name": f"E{i}", "value": ""}))),
        90_000,
    ),
    "pod: empty env": (lambda n: pod(containers=container(env=[{}] * n)), 700_000),
    "pod: envFrom": (lambda n: pod(containers=container(envFrom=[{"prefix": "a"}] * n)), 100_000),
    "pod: args": (lambda n: pod(containers=container(args=["a"] * n)), 700_000),
    "pod: mounts": (
        lambda n: pod(
            containers=container(volumeMounts=numbered(n, lambda i: {"name": "v", "mountPath": f"/{i}"}))
        ),
        60_000,
    ),
    "pod: annotations": (lambda n: pod(metadata={"annotations": labels(n)}), 20_000),
    "pod: long annotation": (lambda n: pod(metadata={"annotations": {"a": "x" * n}}), 2 * MB),
    "pod: owners": (
        lambda n: pod(
            metadata={
                "ownerReferences": numbered(
                    n, lambda i: {"apiVersion": "v1", "kind": "Pod", "name": f"p{i}", "uid": f"u{i}"}
                )
            }
        ),
        30_000,
    ),
    "pod: finalizers": (
        lambda n: pod(metadata={"finalizers": numbered(n, "example.com/f{}".format)}),
        100_000,
    ),
    "pod: repeated finalizers": (lambda n: pod(metadata={"finalizers": ["example.com/f"] * n}), 100_000),
    "pod: gates that are equal": (lambda n: pod(schedulingGates=[{"name": "a.b/c"}] * n), 100_000),
    "pod: volumes of many sources": (
        lambda n: pod(
            volumes=[{"name": "v", "projected": {"sources": [{"secret": {"name": "s", "items": [{}] * n}}]}}]
        ),
        500_000,
    ),
    "pod: ephemeral claims": (
        lambda n: pod(
            volumes=numbered(
                n,
                lambda i: {
                    "name": f"v{i}",
                    "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["a"]}}},
                },
            )
        ),
        20_000,
    ),
    "pod: host aliases": (lambda n: pod(hostAliases=[{"ip": "1.1.1.1", "hostnames": ["a"]}] * n), 50_000),
    "pod: image pull secrets": (lambda n: pod(imagePullSecrets=[{"name": "a"}] * n), 100_000),
    "pod: readiness gates": (lambda n: pod(readinessGates=[{"conditionType": "a"}] * n), 100_000),
    "pod: unknown fields": (lambda n: pod(**{f"x{i}": 1 for i in range(n)}), 200_000),
    "pod: unknown deep": (lambda n: pod(x=_deep(n)), 90),
    "pod: too deep": (lambda n: pod(x=_deep(n)), 900),
    "pod: huge number": (lambda n: pod(priority=10**n), 4000),
    "pod: huge quantity": (
        lambda n: pod(containers=container(resources={"requests": {"cpu": "9" * n}})),
        1_000_000,
    ),
    "pod: quantity of large exponent": (
        lambda n: pod(containers=container(resources={"requests": {"cpu": f"1e{n}"}})),
        99_999_999,
    ),
    "pod: quantity of small exponent": (
        lambda n: pod(containers=container(resources={"requests": {"cpu": f"1e-{n}"}})),
        99_999_999,
    ),
    "pod: long name of a node": (lambda n: pod(nodeName="x" * n), 2 * MB),
    "pod: long scheduler name": (lambda n: pod(schedulerName="x" * n), 2 * MB),
    "pod: long label value": (lambda n: pod(metadata={"labels": {"a": "x" * n}}), 2 * MB),
    "pod: security groups": (lambda n: pod(securityContext={"supplementalGroups": [1] * n}), 900_000),
    "pod: sysctls": (lambda n: pod(securityContext={"sysctls": [{"name": "a.b", "value": "1"}] * n}), 80_000),
    "pod: list of nulls": (lambda n: pod(tolerations=[None] * n), 500_000),
    "pod: claims of containers": (
        lambda n: pod(
            containers=container(resources={"claims": numbered(n, lambda i: {"name": f"c{i}"})}),
            resourceClaims=numbered(100, lambda i: {"name": f"c{i}", "resourceClaimName": "x"}),
        ),
        100_000,
    ),
    "pod: limits": (
        lambda n: pod(
            containers=container(resources={"limits": {f"example.com/r{i}": "1" for i in range(n)}})
        ),
        60_000,
    ),
}


def _deep(levels):
    obj = {}
    for _ in range(levels):
        obj = {"a": obj}
    return obj


def largest_pods():
    """Just within all limits at once: what one pod may cost at most."""
    return [pod(f"poison-{number}", **_within_limits()) for number in range(20)]


def _within_limits():
    spread = poisons.PODS["spread constraints"](64)["spec"]["topologySpreadConstraints"]
    affinity = poisons.PODS["affinity terms"](100)["spec"]["affinity"]
    affinity |= poisons.PODS["anti-affinity terms"](100)["spec"]["affinity"]
    affinity |= poisons.PODS["node selector terms"](1000)["spec"]["affinity"]
    return {
        "topologySpreadConstraints": spread,
        "affinity": affinity,
        "tolerations": poisons.PODS["tolerations"](500)["spec"]["tolerations"],
    }
