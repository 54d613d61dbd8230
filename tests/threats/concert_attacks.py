"""Many small objects that are a burden together, and fields that no other attack fills."""

import json

from tests.threats.attacks import (
    DEFAULT,
    JSON,
    JSON_PATCH,
    MAPS,
    MB,
    MERGE,
    PODS,
    PROTOBUF,
    STRATEGIC,
    YAML,
    config_map,
    container,
    create,
    labels,
    numbered,
    path_of,
    pod,
)
from tests.threats.body_attacks import field, protobuf, protobuf_pod
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


def noted(key, value, path=PODS, make=pod):
    made = make()
    made["metadata"]["annotations"] = {key: value}
    return create(path, made)


def odd(body, path=MAPS, media_type=JSON):
    return [("POST", path, media_type, body)]


def operations(count, make):
    return [
        *create(MAPS, config_map(labels(2000))),
        ("PATCH", f"{MAPS}/poison", JSON_PATCH, json.dumps(numbered(count, make)).encode()),
    ]


def listed(query, path=PODS):
    return [("GET", f"{path}?{query}", JSON, None)]


def gang():
    return pod_group({"schedulingPolicy": {"gang": {"minCount": 1}}})[1]


NOTES = {
    "posse.dev/arrives-at": ["-1e400", "2026-99-99T99:99:99Z", "0001-01-01T00:00:00Z"],
    "posse.dev/notice-seconds": ["1e999", "-5", "nan"],
    "posse.dev/stop-seconds": ["1e300", "-1e300"],
    "posse.dev/run-seconds": ["-1", "0x10", "1_0"],
    "posse.dev/minimum-run-time": ["9" * 5000 + "h", "-1h", "1e9s"],
    "posse.dev/expected-duration": ["-1h", "0." + "9" * 50_000 + "h", "\u0661h"],
    "posse.dev/preferred-topology": ["x" * 200_000, ",".join(["rack"] * 40_000), "\x00"],
    "posse.dev/simulated": ["false"],
    "scheduling.posse.dev/gang": ["[" * 5000, "true" * 50_000],
    "scheduling.posse.dev/gang-mode": ["x" * 200_000],
    "scheduling.posse.dev/forecast": ["[" * 100_000, '{"a":' * 20_000],
    "scheduling.posse.dev/pod-group": ["x" * 200_000, "../../x", "\x00"],
    "scheduling.posse.dev/reserved-capacity": [
        "[" * 100_000,
        json.dumps({"nodes": {f"n{i}": 10**9 for i in range(8000)}}),
        '{"until":"9999-12-31T23:59:59Z","cpu":"1e99999999"}',
    ],
    "scheduling.posse.dev/min-resources": [
        "[" * 100_000,
        json.dumps({f"example.com/r{i}": "1" for i in range(8000)}),
        '{"cpu":"' + "9" * 100_000 + '"}',
    ],
    "scheduling.posse.dev/shared-claims": [",".join(["c"] * 80_000), "[" * 50_000],
    "scheduling.posse.dev/startup-policy": ["x" * 200_000],
    "scheduling.posse.dev/provisioning-for": ["x" * 200_000],
}

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
    **{
        f"note: {key} {number} of a {what}": lambda key=key, text=text, path=path, make=make: noted(
            key, text, path, make
        )
        for key, texts in NOTES.items()
        for number, text in enumerate(texts)
        for what, path, make in (("pod", PODS, pod), ("group", GROUPS, gang))
    },
    "JSON: surrogates": lambda: odd(b'{"metadata":{"name":"poison"},"data":{"a":"\\ud800","\\udfff":"b"}}'),
    "JSON: NUL": lambda: odd(b'{"metadata":{"name":"poison"},"data":{"a\\u0000":"\\u0000"}}'),
    "JSON: no UTF-8": lambda: odd(b'{"metadata":{"name":"poison"},"data":{"a":"\xff\xfe\xc0\x80"}}'),
    "JSON: a number of many digits": lambda: odd(
        b'{"metadata":{"name":"poison","generation":' + b"9" * MB + b"}}"
    ),
    "JSON: an exponent of many digits": lambda: odd(
        b'{"metadata":{"name":"poison","generation":1e' + b"9" * 1000 + b"}}"
    ),
    "JSON: NaN": lambda: odd(b'{"metadata":{"name":"poison"},"data":{"a":NaN,"b":-Infinity}}'),
    "JSON: a byte order mark": lambda: odd(b'\xef\xbb\xbf{"metadata":{"name":"poison"}}'),
    "JSON: names twice": lambda: odd(
        b'{"metadata":{"name":"poison"},' + b'"metadata":{"name":"poison"},' * 90_000 + b'"a":1}'
    ),
    "JSON: broad and deep": lambda: odd(
        b'{"x":'
        + (b"[" * 90 + b"]" * 90 + b",").join([b""] * 1)
        + b"["
        + b",".join([b"[" * 90 + b"]" * 90] * 10_000)
        + b"]}"
    ),
    "YAML: surrogates": lambda: odd(
        b'metadata: {name: poison}\ndata: {"a": "\\ud800\\udc00"}', media_type=YAML
    ),
    "YAML: tags": lambda: odd(b"a: !!python/object/apply:os.system [x]\n" * 1000, media_type=YAML),
    "YAML: sexagesimal numbers": lambda: odd(
        b"data: {a: " + b":".join([b"59"] * 50_000) + b"}", media_type=YAML
    ),
    "YAML: long integers": lambda: odd(
        b"data: {a: " + b"9" * 500_000 + b", b: 0x" + b"f" * 500_000 + b"}", media_type=YAML
    ),
    "YAML: times": lambda: odd(
        b"data: [" + b"2001-12-14t21:59:43.10-05:00," * 30_000 + b"]", media_type=YAML
    ),
    "YAML: documents": lambda: odd(b"---\na: 1\n" * 100_000, media_type=YAML),
    "YAML: many anchors": lambda: odd(
        b"".join(
            b"a%d: &a%d [%s]\n" % (i, i, b",".join([b"*a%d" % (i - 1)] * 9) if i else b"1") for i in range(12)
        ),
        media_type=YAML,
    ),
    "YAML: deep": lambda: odd(b"[" * 5000, media_type=YAML),
    "YAML: indented": lambda: odd(b"".join(b" " * i + b"a:\n" for i in range(900)), media_type=YAML),
    "YAML: a long key": lambda: odd(b"? " + b"a" * MB + b"\n: b", media_type=YAML),
    "protobuf: cut off": lambda: protobuf(protobuf_pod(field(1, field(1, b"poison")))[:-3]),
    "protobuf: groups": lambda: protobuf(protobuf_pod(b"\x0b" * 100_000)),
    "protobuf: ended groups": lambda: protobuf(protobuf_pod(b"\x0b\x0c" * 100_000)),
    "protobuf: unknown wire types": lambda: protobuf(protobuf_pod(b"\x0e\x0f" * 1000)),
    "protobuf: long keys": lambda: protobuf(protobuf_pod(b"\xff" * 100_000)),
    "protobuf: no UTF-8": lambda: protobuf(protobuf_pod(field(1, field(1, b"\xff\xfe")))),
    "protobuf: packed": lambda: protobuf(
        protobuf_pod(field(1, field(1, b"poison")) + field(2, field(14, field(4, b"\x01" * MB))))
    ),
    "protobuf: of a list": lambda: [
        ("PUT", f"{PODS}/poison", PROTOBUF, protobuf_pod(field(1, field(1, b"poison")))),
        ("PATCH", f"{PODS}/poison", PROTOBUF, protobuf_pod(b"")),
    ],
    "patch: tests of the whole": lambda: operations(
        5000, lambda i: {"op": "test", "path": "", "value": {"metadata": {}}}
    ),
    "patch: moves": lambda: operations(
        9000,
        lambda i: {
            "op": "move",
            "from": f"/data/{'k0' if i % 2 == 0 else 'z'}",
            "path": f"/data/{'z' if i % 2 == 0 else 'k0'}",
        },
    ),
    "patch: copies of the whole": lambda: operations(
        9000, lambda i: {"op": "copy", "from": "/data", "path": "/metadata/annotations"}
    ),
    "patch: deep pointers": lambda: operations(
        3000, lambda i: {"op": "add", "path": "/data" + "/a" * 900, "value": 1}
    ),
    "patch: tests of copies": lambda: operations(
        9000,
        lambda i: {"op": "copy" if i % 2 else "test", "from": "/data", "path": "/data", "value": labels(1)},
    ),
    "patch: removals from the front": lambda: [
        *create(MAPS, config_map(finalizers=numbered(900, "a.b/{}".format))),
        (
            "PATCH",
            f"{MAPS}/poison",
            JSON_PATCH,
            json.dumps([{"op": "remove", "path": "/metadata/finalizers/0"}] * 9000).encode(),
        ),
    ],
    "patch: directives": lambda: [
        *create(PODS, pod()),
        *[
            ("PATCH", f"{PODS}/poison", STRATEGIC, json.dumps(one).encode())
            for one in (
                {"$patch": "delete"},
                {"spec": {"$patch": "replace"}},
                {"spec": {"$retainKeys": ["a"] * 50_000}},
                {"spec": {"containers": [{"$patch": "replace"}] * 5000}},
                {"spec": {"containers": [{"$patch": "delete", "name": f"c{i}"} for i in range(20_000)]}},
                {"spec": {"$setElementOrder/containers": [{"name": "c"}] * 20_000}},
                {"spec": {"$deleteFromPrimitiveList/x": 7}},
                {"metadata": {"$setElementOrder/finalizers": numbered(50_000, str)}},
            )
        ],
    ],
    "list: a selector of many values": lambda: listed(
        "labelSelector=" + ",".join(["a+notin+(" + ",".join(["v"] * 50) + ")"] * 35)
    ),
    "list: fields": lambda: listed("fieldSelector=" + ",".join(["status.phase!=x"] * 300)),
    "list: brackets": lambda: listed("labelSelector=" + "(" * 7000),
    "list: a long selector": lambda: listed("labelSelector=" + "a" * 7000),
    "watch: odd times": lambda: [
        *listed("watch=true&timeoutSeconds=-1&allowWatchBookmarks=maybe"),
        *listed("watch=true&timeoutSeconds=1&resourceVersion=-5"),
        *listed("watch=1&sendInitialEvents=true&resourceVersionMatch=x&timeoutSeconds=1"),
        *listed("resourceVersionMatch=Exact&resourceVersion=0&limit=-1"),
    ],
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
"""Requests that each attack sends, by name."""
