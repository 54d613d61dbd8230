"""Objects beside pods that hold far too much in one field."""

from tests.support import poisons
from tests.threats.attacks import DEFAULT, container, labels, meta, numbered, path_of

TEMPLATE = poisons.template()
BIG = 2_000_000_000


def made(api, kind, spec=None, metadata=None, **more):
    obj = {"apiVersion": api, "kind": kind, "metadata": meta(**(metadata or {})), **more}
    return obj if spec is None else obj | {"spec": spec}


def of(api, kind, plural, namespace=DEFAULT):
    def attack(spec=None, metadata=None, **more):
        return path_of(api, plural, namespace), made(api, kind, spec, metadata, **more)

    return attack


node = of("v1", "Node", "nodes", "")
pod_group = of("scheduling.k8s.io/v1beta1", "PodGroup", "podgroups")
composite = of("scheduling.k8s.io/v1alpha3", "CompositePodGroup", "compositepodgroups")
workload = of("scheduling.k8s.io/v1beta1", "Workload", "workloads")
slice_ = of("resource.k8s.io/v1", "ResourceSlice", "resourceslices", "")
device_class = of("resource.k8s.io/v1", "DeviceClass", "deviceclasses", "")
claim = of("resource.k8s.io/v1", "ResourceClaim", "resourceclaims")
claim_template = of("resource.k8s.io/v1", "ResourceClaimTemplate", "resourceclaimtemplates")
jobset = of("jobset.x-k8s.io/v1alpha2", "JobSet", "jobsets")
lws = of("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "leaderworkersets")
job = of("batch/v1", "Job", "jobs")
stateful_set = of("apps/v1", "StatefulSet", "statefulsets")
deployment = of("apps/v1", "Deployment", "deployments")
replica_set = of("apps/v1", "ReplicaSet", "replicasets")
budget = of("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets")
priority_class = of("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", "")
service = of("v1", "Service", "services")
claim_of_storage = of("v1", "PersistentVolumeClaim", "persistentvolumeclaims")
volume = of("v1", "PersistentVolume", "persistentvolumes", "")
namespace = of("v1", "Namespace", "namespaces", "")
event = of("v1", "Event", "events")
SELECTED = {"selector": {"matchLabels": {"app": "a"}}, "template": poisons.template(restartPolicy="Always")}
POOL = {
    "driver": "d.example.com",
    "nodeName": "node-0",
    "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
}


def deep_template(levels):
    leaf = {"name": "l", "schedulingPolicy": {"gang": {"minCount": 1}}}
    part = {"name": "t0", "schedulingPolicy": {"basic": {}}, "podGroupTemplates": [leaf]}
    for level in range(levels):
        part = {
            "name": f"t{level + 1}",
            "schedulingPolicy": {"basic": {}},
            "compositePodGroupTemplates": [part],
        }
    return part


def request(**fields):
    return {"name": "r", "exactly": {"deviceClassName": "c", **fields}}


def cel(text):
    return [{"cel": {"expression": text}}]


def _range(count):
    return "[" + ",".join(map(str, range(count))) + "]"


EXPRESSIONS = {
    "nested loops": f"{_range(100)}.all(a,{_range(100)}.all(b,{_range(100)}.all(c,a+b+c>=0)))",
    "a long list": f"{_range(1800)}.all(x,{_range(50)}.all(y,x!=y||true))",
    "many brackets": "(" * 3000 + "true" + ")" * 3000,
    "many nots": "!" * 9000 + "true",
    "many ors": "||".join(["true"] * 1600),
    "a long regular expression": "'" + "a" * 4000 + "'.matches('(a*)*b')",
    "a large repetition": "'a'.matches('" + "(a{1000}){1000}" + "')",
    "growing text": "".join(
        "cel.bind(x{0}, {1}+{1}, ".format(i, f"x{i - 1}" if i else "'aaaaaaaaaa'") for i in range(40)
    )
    + "true"
    + ")" * 40,
    "nested maps": "{1:" * 400 + "1" + "}" * 400 + " == 1",
    "macros in macros": "[1]" + ".map(x,[x]" * 60 + ")" * 60 + " == []",
    "unknown": "\x00\xff☃" * 500,
    "numbers": "1" * 9000 + " > 0",
}

OBJECT_ATTACKS = {
    "node: taints": (
        lambda n: node({"taints": numbered(n, lambda i: {"key": f"k{i}", "effect": "NoSchedule"})}),
        40_000,
    ),
    "node: labels": (lambda n: node({}, {"labels": labels(n)}), 90_000),
    "node: images": (
        lambda n: node({}, status={"images": numbered(n, lambda i: {"names": [f"i{i}"], "sizeBytes": 1})}),
        40_000,
    ),
    "node: resources": (lambda n: (node()[0], poisons.node(n)), 30_000),
    "node: conditions": (
        lambda n: node({}, status={"conditions": numbered(n, lambda i: {"type": f"t{i}", "status": "True"})}),
        40_000,
    ),
    "node: addresses": (
        lambda n: node(
            {}, status={"addresses": numbered(n, lambda i: {"type": "Hostname", "address": f"a{i}"})}
        ),
        40_000,
    ),
    "node: attached volumes": (
        lambda n: node({}, status={"volumesAttached": [{"name": "a", "devicePath": "b"}] * n}),
        60_000,
    ),
    "node: pod CIDRs": (lambda n: node({"podCIDRs": ["10.0.0.0/8"] * n}), 150_000),
    "group: topology": (
        lambda n: pod_group(
            {
                "schedulingPolicy": {"gang": {"minCount": 1}},
                "schedulingConstraints": {"topology": numbered(n, lambda i: {"key": f"k{i}"})},
            }
        ),
        100_000,
    ),
    "group: claims": (
        lambda n: pod_group(
            {
                "schedulingPolicy": {"gang": {"minCount": 1}},
                "resourceClaims": numbered(n, lambda i: {"name": f"c{i}", "resourceClaimName": f"c{i}"}),
            }
        ),
        40_000,
    ),
    "group: minimum": (lambda n: pod_group({"schedulingPolicy": {"gang": {"minCount": n}}}), 2**31 - 1),
    "group: annotations": (
        lambda n: pod_group({"schedulingPolicy": {"basic": {}}}, {"annotations": labels(n)}),
        20_000,
    ),
    "composite: minimum": (
        lambda n: composite({"schedulingPolicy": {"gang": {"minGroupCount": n}}}),
        2**31 - 1,
    ),
    "workload: depth": (lambda n: workload({"compositePodGroupTemplates": [deep_template(n)]}), 40),
    "workload: too deep": (lambda n: workload({"compositePodGroupTemplates": [deep_template(n)]}), 300),
    "workload: templates": (
        lambda n: workload(
            {"podGroupTemplates": numbered(n, lambda i: {"name": f"t{i}", "schedulingPolicy": {"basic": {}}})}
        ),
        40_000,
    ),
    "slice: devices": (
        lambda n: slice_({**POOL, "devices": numbered(n, lambda i: {"name": f"d{i}"})}),
        100_000,
    ),
    "slice: attributes": (
        lambda n: slice_(
            {**POOL, "devices": [{"name": "d", "attributes": {f"a{i}": {"int": i} for i in range(n)}}]}
        ),
        80_000,
    ),
    "slice: capacity": (
        lambda n: slice_(
            {**POOL, "devices": [{"name": "d", "capacity": {f"a{i}": {"value": "1"} for i in range(n)}}]}
        ),
        80_000,
    ),
    "slice: counters": (
        lambda n: slice_(
            {
                **POOL,
                "sharedCounters": [{"name": "s", "counters": {f"a{i}": {"value": "1"} for i in range(n)}}],
            }
        ),
        80_000,
    ),
    "slice: counter sets": (
        lambda n: slice_(
            {
                **POOL,
                "sharedCounters": numbered(n, lambda i: {"name": f"s{i}", "counters": {"a": {"value": "1"}}}),
            }
        ),
        40_000,
    ),
    "slice: taints": (
        lambda n: slice_(
            {
                **POOL,
                "devices": [
                    {"name": "d", "taints": numbered(n, lambda i: {"key": f"k{i}", "effect": "NoSchedule"})}
                ],
            }
        ),
        40_000,
    ),
    "claim: requests": (
        lambda n: claim({"devices": {"requests": numbered(n, lambda i: request() | {"name": f"r{i}"})}}),
        30_000,
    ),
    "claim: count": (lambda n: claim({"devices": {"requests": [request(count=n)]}}), 2**62),
    "claim: alternatives": (
        lambda n: claim(
            {
                "devices": {
                    "requests": [
                        {
                            "name": "r",
                            "firstAvailable": numbered(
                                n, lambda i: {"name": f"s{i}", "deviceClassName": "c"}
                            ),
                        }
                    ]
                }
            }
        ),
        40_000,
    ),
    "claim: constraints": (
        lambda n: claim(
            {"devices": {"requests": [request()], "constraints": [{"matchAttribute": "a.b/c"}] * n}}
        ),
        60_000,
    ),
    "claim: selectors": (
        lambda n: claim({"devices": {"requests": [request(selectors=cel("true") * n)]}}),
        50_000,
    ),
    "claim: configuration": (
        lambda n: claim(
            {
                "devices": {
                    "config": [
                        {"opaque": {"driver": "d.example.com", "parameters": {f"k{i}": i for i in range(n)}}}
                    ]
                }
            }
        ),
        150_000,
    ),
    "claim template: labels": (
        lambda n: claim_template({"metadata": {"labels": labels(n)}, "spec": {"devices": {}}}),
        90_000,
    ),
    "jobset: jobs": (
        lambda n: jobset({"replicatedJobs": numbered(n, lambda i: replicated(f"j{i}", 1))}),
        8_000,
    ),
    "jobset: replicas": (lambda n: jobset({"replicatedJobs": [replicated("j", n)]}), BIG),
    "jobset: replicas within the limit": (
        lambda n: jobset({"replicatedJobs": [replicated("j", n)]}),
        20_000,
    ),
    "jobset: pods": (lambda n: jobset({"replicatedJobs": [replicated("j", n, parallelism=n)]}), 100_000),
    "jobset: many large": (
        lambda n: jobset({"replicatedJobs": numbered(n, lambda i: replicated(f"j{i}", 100_000))}),
        1_000,
    ),
    "lws: size": (lambda n: lws({"replicas": 1, "leaderWorkerTemplate": workers(n)}), BIG),
    "lws: replicas": (lambda n: lws({"replicas": n, "leaderWorkerTemplate": workers(1)}), BIG),
    "lws: within the limits": (lambda n: lws({"replicas": n, "leaderWorkerTemplate": workers(n)}), 100_000),
    "lws: groups within the limit": (
        lambda n: lws({"replicas": n, "leaderWorkerTemplate": workers(2)}),
        100_000,
    ),
    "job: parallelism": (lambda n: job({"parallelism": n, "completions": n, "template": TEMPLATE}), BIG),
    "job: within the limit": (
        lambda n: job({"parallelism": n, "completions": n, "template": TEMPLATE}),
        100_000,
    ),
    "job: indexed": (
        lambda n: job(
            {"parallelism": n, "completions": n, "completionMode": "Indexed", "template": TEMPLATE}
        ),
        100_000,
    ),
    "job: completions": (
        lambda n: job(
            {"parallelism": 1, "completions": n, "completionMode": "Indexed", "template": TEMPLATE}
        ),
        2**31 - 1,
    ),
    "job: rules": (
        lambda n: job(
            {
                "template": TEMPLATE,
                "podFailurePolicy": {
                    "rules": [
                        {"action": "Ignore", "onExitCodes": {"operator": "In", "values": list(range(1, n))}}
                    ]
                },
            }
        ),
        300_000,
    ),
    "job: success indexes": (
        lambda n: job(
            {
                "template": TEMPLATE,
                "completions": 100_000,
                "parallelism": 1,
                "completionMode": "Indexed",
                "successPolicy": {"rules": [{"succeededIndexes": ",".join(map(str, range(0, n, 2)))}]},
            }
        ),
        100_000,
    ),
    "set: replicas": (lambda n: stateful_set({"replicas": n, "serviceName": "s", **SELECTED}), BIG),
    "set: within the limit": (
        lambda n: stateful_set(
            {"replicas": n, "serviceName": "s", "podManagementPolicy": "Parallel", **SELECTED}
        ),
        100_000,
    ),
    "set: start": (
        lambda n: stateful_set({"replicas": 1, "ordinals": {"start": n}, "serviceName": "s", **SELECTED}),
        2**31 - 1,
    ),
    "deployment: replicas": (lambda n: deployment({"replicas": n, **SELECTED}), BIG),
    "deployment: within the limit": (lambda n: deployment({"replicas": n, **SELECTED}), 100_000),
    "deployment: history": (
        lambda n: deployment({"replicas": 1, "revisionHistoryLimit": n, **SELECTED}),
        2**31 - 1,
    ),
    "replica set: replicas": (lambda n: replica_set({"replicas": n, **SELECTED}), BIG),
    "budget: selector": (
        lambda n: budget({"minAvailable": 1, "selector": {"matchLabels": labels(n)}}),
        90_000,
    ),
    "budget: values": (
        lambda n: budget(
            {
                "minAvailable": "100%",
                "selector": {
                    "matchExpressions": [
                        {"key": "a", "operator": "NotIn", "values": numbered(n, "v{}".format)}
                    ]
                },
            }
        ),
        200_000,
    ),
    "budget: everything": (lambda n: budget({"maxUnavailable": n, "selector": {}}), 0),
    "budget: odd number": (lambda n: budget({"minAvailable": f"{n}%", "selector": {}}), 10**12),
    "class: highest": (lambda n: priority_class(value=n), 1_000_000_000),
    "class: beyond": (lambda n: priority_class(value=n), 2**63),
    "class: lowest": (lambda n: priority_class(value=-n), 2**31),
    "service: ports": (
        lambda n: service({"ports": numbered(n, lambda i: {"name": f"p{i}", "port": i % 65535 + 1})}),
        40_000,
    ),
    "service: selector": (lambda n: service({"selector": labels(n), "ports": [{"port": 1}]}), 90_000),
    "service: addresses": (
        lambda n: service({"externalIPs": ["1.1.1.1"] * n, "ports": [{"port": 1}]}),
        150_000,
    ),
    "storage claim: modes": (lambda n: claim_of_storage({"accessModes": ["ReadWriteOnce"] * n}), 150_000),
    "storage claim: size": (
        lambda n: claim_of_storage(
            {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": f"1e{n}"}}}
        ),
        10**9,
    ),
    "volume: terms": (
        lambda n: volume(
            {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "hostPath": {"path": "/x"},
                "nodeAffinity": {
                    "required": {
                        "nodeSelectorTerms": numbered(
                            n, lambda i: {"matchExpressions": [{"key": f"k{i}", "operator": "Exists"}]}
                        )
                    }
                },
            }
        ),
        40_000,
    ),
    "namespace: finalizers": (lambda n: namespace({"finalizers": numbered(n, "a.b/{}".format)}), 100_000),
    "event: long": (
        lambda n: event(involvedObject={"kind": "Pod", "name": "a", "namespace": "default"}, message="x" * n),
        2_000_000,
    ),
    "objects: managed fields": (
        lambda n: (
            path_of("v1", "configmaps"),
            made(
                "v1",
                "ConfigMap",
                metadata={
                    "managedFields": numbered(
                        n,
                        lambda i: {
                            "manager": f"m{i}",
                            "operation": "Update",
                            "fieldsV1": {"f:data": {f"f:{i}": {}}},
                        },
                    )
                },
            ),
        ),
        30_000,
    ),
    **{
        f"CEL: {name}": (lambda _n, text=text: device_class({"selectors": cel(text)}), 0)
        for name, text in EXPRESSIONS.items()
    },
    **{
        f"CEL of a claim: {name}": (
            lambda _n, text=text: claim({"devices": {"requests": [request(selectors=cel(text))]}}),
            0,
        )
        for name, text in EXPRESSIONS.items()
    },
}


def replicated(name, replicas, **spec):
    return {"name": name, "replicas": replicas, "template": {"spec": {"template": TEMPLATE, **spec}}}


def workers(size):
    return {"size": size, "workerTemplate": {"spec": {"containers": container()}}}
