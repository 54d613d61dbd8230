"""Many small objects that are a burden together, and fields that no other attack fills."""

import json

from tests.threats.attacks import (
    DEFAULT,
    JSON,
    MAPS,
    MB,
    MERGE,
    PODS,
    config_map,
    container,
    create,
    labels,
    numbered,
    path_of,
    pod,
)
from tests.threats.object_attacks import (
    SELECTED,
    budget,
    composite,
    deployment,
    job,
    jobset,
    namespace,
    node,
    pod_group,
    priority_class,
    replicated,
    service,
    stateful_set,
    workload,
)

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
GROUPS = path_of("scheduling.k8s.io/v1beta1", "podgroups")
OF_A_WORKLOAD = {"workloadRef": {"workloadName": "w", "templateName": "t"}}
BIG_TEXT = "x" * (MB - 5000)


def crowd(count, make):
    """As many pods, the first of which is called poison."""
    return [one for number in range(count) for one in create(PODS, make(f"poison{number or ''}", number))]


def named(pair, name):
    path, made = pair
    made["metadata"]["name"] = name
    return create(path, made)


def requesting(cpu, **spec):
    return {"containers": container(resources={"requests": {"cpu": cpu}}), **spec}


def opposed(number, kind="podAntiAffinity"):
    term = {"topologyKey": HOST, "labelSelector": {"matchLabels": {f"k{number}": "v"}}}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def preferring(number):
    term = {
        "topologyKey": ZONE,
        "labelSelector": {"matchExpressions": [{"key": f"k{number}", "operator": "Exists"}]},
    }
    weighted = [{"weight": 1, "podAffinityTerm": term}]
    return {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": weighted}}


def spread(number):
    selector = {"matchLabels": {f"k{number}": "v"}}
    return [
        {"maxSkew": 1, "topologyKey": HOST, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    ]


def gangs(count, members, cpu, **spec):
    found = []
    for number in range(count):
        name = f"poison{number or ''}"
        found += named(pod_group({"schedulingPolicy": {"gang": {"minCount": members}}, **spec}), name)
        for member in range(members):
            fields = requesting(cpu(number, member), schedulingGroup={"podGroupName": name})
            found += create(PODS, pod(f"{name}-{member}", **fields))
    return found


def chain(count, width=1):
    found = []
    for number in range(count):
        parent = {"parentCompositePodGroupName": f"poison{number - 1 or ''}"} if number else {}
        spec = {"schedulingPolicy": {"gang": {"minGroupCount": width}}, **OF_A_WORKLOAD, **parent}
        found += named(composite(spec), f"poison{number or ''}")
    return found


def ring(count):
    found = []
    for number in range(count):
        parent = (number - 1) % count
        spec = {"schedulingPolicy": {"basic": {}}, "parentCompositePodGroupName": f"poison{parent or ''}"}
        found += named(composite(OF_A_WORKLOAD | spec), f"poison{number or ''}")
    return found


def star(count):
    leaves = {"schedulingPolicy": {"gang": {"minCount": 1}}, "parentCompositePodGroupName": "poison"}
    top = {"schedulingPolicy": {"gang": {"minGroupCount": count}}}
    found = named(composite(OF_A_WORKLOAD | top), "poison")
    for number in range(count):
        found += named(pod_group(OF_A_WORKLOAD | leaves), f"poison{number}")
        found += create(PODS, pod(f"poison{number}", schedulingGroup={"podGroupName": f"poison{number}"}))
    return found


def patched(path, times, make, media_type=MERGE):
    return [("PATCH", path, media_type, json.dumps(make(number)).encode()) for number in range(times)]


def updates(times, make):
    return [*create(PODS, pod(**requesting("1000"))), *patched(f"{PODS}/poison", times, make)]


CONCERT_ATTACKS = {
    "crowd: anti-affinity of its own": lambda: crowd(
        300, lambda name, i: pod(name, affinity=opposed(i), metadata={"labels": {f"k{i + 1}": "v"}})
    ),
    "crowd: preferred affinity of its own": lambda: crowd(
        200, lambda name, i: pod(name, affinity=preferring(i))
    ),
    "crowd: spread of its own": lambda: crowd(
        300,
        lambda name, i: pod(name, topologySpreadConstraints=spread(i), metadata={"labels": {f"k{i}": "v"}}),
    ),
    "crowd: selects nothing": lambda: crowd(300, lambda name, i: pod(name, nodeSelector={f"k{i}": "v"})),
    "crowd: requests of its own": lambda: crowd(300, lambda name, i: pod(name, **requesting(f"{100 + i}"))),
    "crowd: resources of its own": lambda: crowd(
        200,
        lambda name, i: pod(
            name, containers=container(resources={"requests": {f"e.com/r{i}-{j}": "1" for j in range(60)}})
        ),
    ),
    "crowd: full of spread constraints": lambda: crowd(
        40,
        lambda name, i: pod(
            name,
            topologySpreadConstraints=numbered(
                60,
                lambda j, i=i: (
                    spread(0)[0] | {"topologyKey": f"k{i}-{j}", "whenUnsatisfiable": "ScheduleAnyway"}
                ),
            ),
        ),
    ),
    "crowd: full of affinity terms": lambda: crowd(
        40,
        lambda name, i: pod(
            name,
            affinity={
                "podAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": numbered(
                        100,
                        lambda j, i=i: {
                            "topologyKey": f"k{j % 7}",
                            "labelSelector": {"matchLabels": {f"l{i}-{j}": "v"}},
                            "namespaceSelector": {"matchLabels": {f"n{j}": "v"}},
                        },
                    )
                }
            },
        ),
    ),
    "crowd: priorities": lambda: [
        *[
            one
            for number in range(100)
            for one in named(priority_class(value=number), f"poison{number or ''}")
        ],
        *crowd(100, lambda name, i: pod(name, priorityClassName=f"poison{i or ''}", **requesting("3"))),
    ],
    "gangs: nearly fit": lambda: gangs(60, 5, lambda i, j: f"{3000 + i * 7 + j * 131}m"),
    "gangs: nearly fit a rack": lambda: gangs(
        40, 5, lambda i, j: f"{2500 + i * 11 + j * 57}m", schedulingConstraints={"topology": [{"key": HOST}]}
    ),
    "gangs: with all sizes": lambda: gangs(2, 100, lambda i, j: f"{100 + j * 13 + i}m"),
    "groups: a chain": lambda: chain(60),
    "groups: a ring": lambda: ring(30),
    "groups: a star": lambda: star(100),
    "groups: a large star": lambda: star(1_000),
    "groups: that flap": lambda: [
        *gangs(1, 3, lambda *_: "100"),
        *patched(f"{GROUPS}/poison", 200, lambda i: {"metadata": {"annotations": {"a": str(i)}}}),
        *patched(
            f"{GROUPS}/poison",
            100,
            lambda i: {"spec": {"schedulingPolicy": {"gang": {"minCount": 1 + i % 50}}}},
        ),
    ],
    "updates: labels of a pod": lambda: updates(300, lambda i: {"metadata": {"labels": {f"k{i}": "v"}}}),
    "updates: annotations of a pod": lambda: updates(
        300, lambda i: {"metadata": {"annotations": {"a": str(i)}}}
    ),
    "updates: tolerations of a pod": lambda: updates(
        100,
        lambda i: {
            "spec": {"tolerations": numbered(i + 1, lambda j: {"key": f"k{j}", "operator": "Exists"})}
        },
    ),
    "updates: gates that come and go": lambda: updates(50, lambda i: {"spec": {"schedulingGates": []}}),
    "updates: labels of a namespace": lambda: [
        *crowd(
            50,
            lambda name, i: pod(
                name,
                affinity={
                    "podAntiAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [
                            {
                                "topologyKey": HOST,
                                "labelSelector": {"matchLabels": {f"k{i}": "v"}},
                                "namespaceSelector": {"matchLabels": {f"n{i}": "v"}},
                            }
                        ]
                    }
                },
            ),
        ),
        *patched(f"/api/v1{DEFAULT}", 100, lambda i: {"metadata": {"labels": {f"n{i % 50}": f"v{i}"}}}),
    ],
    "updates: labels of a node": lambda: [
        *named(node({}, {"labels": labels(900)}), "poison"),
        *patched(
            "/api/v1/nodes/poison",
            60,
            lambda i: {"metadata": {"labels": {f"k{j}": str(i) for j in range(900)}}},
        ),
    ],
    "updates: taints of a node": lambda: [
        *named(node({}), "poison"),
        *patched(
            "/api/v1/nodes/poison",
            60,
            lambda i: {
                "spec": {"taints": numbered(240, lambda j, i=i: {"key": f"k{i}-{j}", "effect": "NoSchedule"})}
            },
        ),
    ],
    "updates: room of a node": lambda: [
        *named(node({}), "poison"),
        *crowd(50, lambda name, i: pod(name, **requesting(f"{500 + i}"))),
        *patched(
            "/api/v1/nodes/poison/status",
            60,
            lambda i: {
                "status": {"allocatable": {"cpu": f"{i}", **{f"e.com/r{i}-{j}": "1" for j in range(200)}}}
            },
        ),
    ],
    "node: declared features": lambda: create(
        *node({}, status={"declaredFeatures": numbered(40_000, "F{}".format)})
    ),
    "node: configuration": lambda: create(
        *node({"configSource": {"x": [1] * 50_000}, "externalID": "x" * MB})
    ),
    "node: runtime handlers": lambda: create(
        *node({}, status={"runtimeHandlers": numbered(40_000, lambda i: {"name": f"h{i}"})})
    ),
    "node: provider": lambda: create(*node({"providerID": "x" * MB, "podCIDR": "x" * 1000})),
    "budgets: hundreds for one pod": lambda: [
        one
        for number in range(300)
        for one in named(budget({"maxUnavailable": 0, "selector": {}}), f"poison{number or ''}")
    ],
    "services: hundreds for all pods": lambda: [
        one
        for number in range(150)
        for one in named(
            service(
                {"selector": {"app": "a"}, "ports": numbered(100, lambda i: {"name": f"p{i}", "port": i + 1})}
            ),
            f"poison{number or ''}",
        )
    ],
    "namespace: labels": lambda: create(*namespace({}, {"labels": labels(900, "k{}" + "x" * 50)})),
    "deployment: a large template": lambda: create(
        *deployment(
            {
                "replicas": 200,
                "selector": {"matchLabels": {"app": "a"}},
                "template": {
                    "metadata": {"labels": {"app": "a"}, "annotations": {"a": "x" * 250_000}},
                    "spec": {"containers": container(args=[BIG_TEXT])},
                },
            }
        )
    ),
    "set: a large template": lambda: create(
        *stateful_set(
            {
                "replicas": 200,
                "serviceName": "s",
                "podManagementPolicy": "Parallel",
                "selector": {"matchLabels": {"app": "a"}},
                "template": {
                    "metadata": {"labels": {"app": "a"}},
                    "spec": {"containers": container(args=[BIG_TEXT])},
                },
            }
        )
    ),
    "job: a large template": lambda: create(
        *job(
            {
                "parallelism": 200,
                "completions": 200,
                "template": {"spec": {"restartPolicy": "Never", "containers": container(args=[BIG_TEXT])}},
            }
        )
    ),
    "jobset: a large template": lambda: create(
        *jobset(
            {
                "replicatedJobs": [
                    {
                        "name": "j",
                        "replicas": 200,
                        "template": {
                            "spec": {
                                "template": {
                                    "spec": {
                                        "restartPolicy": "Never",
                                        "containers": container(args=[BIG_TEXT]),
                                    }
                                }
                            }
                        },
                    }
                ]
            }
        )
    ),
    "deployment: revisions": lambda: [
        *create(*deployment({"replicas": 3, **SELECTED})),
        *patched(
            path_of("apps/v1", "deployments") + "/poison",
            60,
            lambda i: {"spec": {"template": {"metadata": {"labels": {"app": "a", "r": str(i)}}}}},
        ),
    ],
    "jobset: names twice": lambda: create(*jobset({"replicatedJobs": [replicated("j", 1)] * 500})),
    "workload: names twice": lambda: create(
        *workload({"podGroupTemplates": [{"name": "t", "schedulingPolicy": {"basic": {}}}] * 8})
    ),
    "deletion: never ends": lambda: [
        one
        for number in range(100)
        for one in [
            *create(
                PODS,
                pod(
                    f"poison{number or ''}",
                    metadata={"finalizers": ["a.b/c"]},
                    terminationGracePeriodSeconds=2**31,
                ),
            ),
            ("DELETE", f"{PODS}/poison{number or ''}", JSON, None),
        ]
    ],
    "owners: a long ring": lambda: [
        one
        for number in range(100)
        for one in create(
            MAPS,
            config_map(
                name=f"poison{number or ''}",
                ownerReferences=[
                    {
                        "apiVersion": "v1",
                        "kind": "ConfigMap",
                        "name": f"poison{(number + 1) % 100 or ''}",
                        "uid": f"u{number}",
                    }
                    | {"blockOwnerDeletion": True, "controller": True}
                ],
            ),
        )
    ],
}
