"""Small objects with numbers, texts and references that stand for very much."""

import json

from tests.support import poisons
from tests.threats.attacks import (
    DEFAULT,
    JSON,
    MB,
    MERGE,
    PODS,
    apply,
    config_map,
    container,
    create,
    numbered,
    path_of,
    pod,
)
from tests.threats.object_attacks import (
    SELECTED,
    TEMPLATE,
    budget,
    claim_of_storage,
    claim_template,
    deployment,
    job,
    jobset,
    lws,
    node,
    of,
    pod_group,
    replicated,
    service,
    stateful_set,
    workers,
)

INT32 = 2**31 - 1
INT64 = 2**63 - 1
cron_job = of("batch/v1", "CronJob", "cronjobs")
quota = of("v1", "ResourceQuota", "resourcequotas")
limit_range = of("v1", "LimitRange", "limitranges")
storage_class = of("storage.k8s.io/v1", "StorageClass", "storageclasses", "")
taint_rule = of("resource.k8s.io/v1", "DeviceTaintRule", "devicetaintrules", "")
INDEXED = {"completionMode": "Indexed", "template": TEMPLATE}
QUANTITIES = {
    "a large exponent": "1e999999999",
    "many digits": "9" * 60,
    "a large unit": "99999999999999999999Ei",
    "a small exponent": "1e-999999999",
    "a long fraction": "0." + "1" * 900_000,
}
SCHEDULES = {
    "a day that never comes": "0 0 31 2 *",
    "a leap day": "0 0 29 2 *",
    "every minute": "* * * * *",
    "a long list": ",".join(["1"] * 500_000) + " * * * *",
    "a large step": f"*/{10**9} * * * *",
    "many digits": f"{'1' * 5000} * * * *",
    "a range that is long": "0-99999999999 * * * *",
    "a zone": "TZ=" + "x" * 100_000 + " * * * * *",
}


def posted(pair):
    return create(*pair)


def cron(schedule, **spec):
    return posted(cron_job({"schedule": schedule, "jobTemplate": {"spec": {"template": TEMPLATE}}, **spec}))


def requesting(quantity):
    return container(resources={"requests": {"cpu": quantity, "memory": quantity, "example.com/x": quantity}})


def tpu_workers(size, **more):
    resources = {"limits": {"google.com/tpu": "4"}}
    return {"size": size, "workerTemplate": {"spec": {"containers": container(resources=resources)}}, **more}


def owned(*owners):
    references = [{"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid} for name, uid in owners]
    return {"ownerReferences": references}


def patched(path, first, **spec):
    return [*create(path, first), ("PATCH", f"{path}/poison", MERGE, json.dumps({"spec": spec}).encode())]


def noted(key, value):
    return create(PODS, pod(metadata={"annotations": {key: value}}))


NUMBER_ATTACKS = {
    "job: range of success": lambda: posted(
        job(
            {
                **INDEXED,
                "completions": INT32,
                "parallelism": 1,
                "successPolicy": {"rules": [{"succeededIndexes": f"0-{INT32 - 1}"}]},
            }
        )
    ),
    "job: range in the status": lambda: [
        *posted(job({**INDEXED, "completions": INT32, "parallelism": 1})),
        (
            "PATCH",
            path_of("batch/v1", "jobs/poison/status"),
            MERGE,
            json.dumps({"status": {"completedIndexes": f"0-{INT32 - 9}"}}).encode(),
        ),
    ],
    "job: failing indexes": lambda: posted(
        job(
            {
                "completionMode": "Indexed",
                "completions": 5_000,
                "parallelism": 5_000,
                "backoffLimitPerIndex": INT32,
                "template": TEMPLATE
                | {
                    "metadata": {"annotations": {"posse.dev/run-seconds": "0", "posse.dev/exit-code": "1"}},
                },
            }
        )
    ),
    "job: backoff": lambda: posted(job({"backoffLimit": INT32, "template": TEMPLATE})),
    "job: deadline": lambda: posted(job({"activeDeadlineSeconds": INT64, "template": TEMPLATE})),
    "job: time to live": lambda: posted(job({"ttlSecondsAfterFinished": INT32, "template": TEMPLATE})),
    "job: scaled": lambda: patched(
        path_of("batch/v1", "jobs"), job({"template": TEMPLATE})[1], parallelism=INT32, completions=INT32
    ),
    "deployment: scaled": lambda: patched(
        path_of("apps/v1", "deployments"), deployment({"replicas": 1, **SELECTED})[1], replicas=INT32
    ),
    "deployment: seconds": lambda: posted(
        deployment(
            {
                "replicas": 1,
                "minReadySeconds": INT32 - 1,
                "progressDeadlineSeconds": INT32,
                "revisionHistoryLimit": INT32,
                **SELECTED,
            }
        )
    ),
    "deployment: surge": lambda: posted(
        deployment(
            {
                "replicas": 1,
                "strategy": {"rollingUpdate": {"maxSurge": f"{INT32}%", "maxUnavailable": INT32}},
                **SELECTED,
            }
        )
    ),
    "set: scaled": lambda: patched(
        path_of("apps/v1", "statefulsets"),
        stateful_set({"replicas": 1, "serviceName": "s", **SELECTED})[1],
        replicas=INT32,
    ),
    "set: partition": lambda: posted(
        stateful_set(
            {
                "replicas": 1,
                "serviceName": "s",
                "updateStrategy": {"rollingUpdate": {"partition": INT32, "maxUnavailable": f"{INT32}%"}},
                **SELECTED,
            }
        )
    ),
    "set: claims": lambda: posted(
        stateful_set(
            {
                "replicas": 1_000,
                "serviceName": "s",
                "podManagementPolicy": "Parallel",
                "volumeClaimTemplates": numbered(
                    100,
                    lambda i: {
                        "metadata": {"name": f"v{i}"},
                        "spec": {
                            "accessModes": ["ReadWriteOnce"],
                            "resources": {"requests": {"storage": "1Gi"}},
                        },
                    },
                ),
                **SELECTED,
            }
        )
    ),
    "lws: hosts of a large group": lambda: posted(
        lws({"replicas": 10, "leaderWorkerTemplate": tpu_workers(100_000)})
    ),
    "lws: hosts within the limits": lambda: posted(
        lws({"replicas": 100_000, "leaderWorkerTemplate": tpu_workers(100_000)})
    ),
    "lws: subgroups": lambda: posted(
        lws(
            {
                "replicas": 10,
                "leaderWorkerTemplate": tpu_workers(100_000, subGroupPolicy={"subGroupSize": 1}),
            }
        )
    ),
    "lws: scaled": lambda: patched(
        path_of("leaderworkerset.x-k8s.io/v1", "leaderworkersets"),
        lws({"replicas": 1, "leaderWorkerTemplate": workers(1)})[1],
        replicas=INT32,
    ),
    "lws: partition": lambda: posted(
        lws(
            {
                "replicas": 1,
                "rolloutStrategy": {
                    "rollingUpdateConfiguration": {
                        "partition": INT32,
                        "maxSurge": INT32,
                        "maxUnavailable": INT32,
                    }
                },
                "leaderWorkerTemplate": workers(2),
            }
        )
    ),
    "jobset: all limits": lambda: posted(
        jobset({"replicatedJobs": numbered(1_000, lambda i: replicated(f"j{i}", 20_000))})
    ),
    "jobset: many pods": lambda: posted(
        jobset(
            {
                "replicatedJobs": numbered(
                    500, lambda i: replicated(f"j{i}", 40, parallelism=100_000, completions=100_000)
                )
            }
        )
    ),
    "jobset: a chain": lambda: posted(
        jobset(
            {
                "replicatedJobs": [
                    replicated("j0", 1),
                    *numbered(
                        900,
                        lambda i: (
                            replicated(f"j{i + 1}", 1)
                            | {"dependsOn": [{"name": f"j{i}", "status": "Complete"}]}
                        ),
                    ),
                ]
            }
        )
    ),
    "jobset: restarts": lambda: posted(
        jobset(
            {
                "replicatedJobs": [replicated("j", 500)],
                "failurePolicy": {"maxRestarts": INT32},
                "ttlSecondsAfterFinished": INT32,
            }
        )
    ),
    "jobset: scaled": lambda: patched(
        path_of("jobset.x-k8s.io/v1alpha2", "jobsets"),
        jobset({"replicatedJobs": [replicated("j", 1)]})[1],
        replicatedJobs=[replicated("j", INT32)],
    ),
    **{f"cron job: {name}": lambda text=text: cron(text) for name, text in SCHEDULES.items()},
    "cron job: old times": lambda: [
        *cron("* * * * *", startingDeadlineSeconds=INT64),
        (
            "PATCH",
            path_of("batch/v1", "cronjobs/poison/status"),
            MERGE,
            json.dumps({"status": {"lastScheduleTime": "0001-01-01T00:00:00Z"}}).encode(),
        ),
    ],
    "cron job: old times that never come": lambda: [
        *cron("0 0 31 2 *"),
        (
            "PATCH",
            path_of("batch/v1", "cronjobs/poison/status"),
            MERGE,
            json.dumps({"status": {"lastScheduleTime": "0001-01-01T00:00:00Z"}}).encode(),
        ),
    ],
    "cron job: zone": lambda: cron("* * * * *", timeZone="x" * 100_000),
    "cron job: history": lambda: cron(
        "* * * * *", successfulJobsHistoryLimit=INT32, failedJobsHistoryLimit=INT32
    ),
    **{
        f"pod: quantity with {name}": lambda text=text: create(PODS, pod(containers=requesting(text)))
        for name, text in QUANTITIES.items()
    },
    **{
        f"node: quantity with {name}": lambda text=text: posted(
            node({}, status={"allocatable": {"cpu": text, "pods": text, "example.com/x": text}})
        )
        for name, text in QUANTITIES.items()
    },
    **{
        f"quota: quantity with {name}": lambda text=text: posted(
            quota({"hard": {"services": text, "requests.storage": text}})
        )
        for name, text in QUANTITIES.items()
    },
    **{
        f"storage claim: quantity with {name}": lambda text=text: posted(
            claim_of_storage({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": text}}})
        )
        for name, text in QUANTITIES.items()
    },
    "quota: names": lambda: posted(
        quota({"hard": {f"requests.example.com/r{i}": "1" for i in range(60_000)}})
    ),
    "quota: scopes": lambda: posted(
        quota(
            {
                "hard": {"pods": "1000"},
                "scopeSelector": {
                    "matchExpressions": [
                        {
                            "scopeName": "PriorityClass",
                            "operator": "In",
                            "values": numbered(80_000, "v{}".format),
                        }
                    ]
                },
            }
        )
    ),
    "limit range: limits": lambda: posted(
        limit_range(
            {
                "limits": numbered(
                    10_000,
                    lambda i: {"type": "Container", "max": {f"example.com/r{i}": "1"}},
                )
            }
        )
    ),
    "limit range: resources": lambda: posted(
        limit_range(
            {
                "limits": [
                    {
                        "type": "Container",
                        "default": {f"example.com/r{i}": "1" for i in range(40_000)},
                        "defaultRequest": {f"example.com/r{i}": "1" for i in range(40_000)},
                    }
                ]
            }
        )
    ),
    "pod: grace period": lambda: create(PODS, pod(terminationGracePeriodSeconds=INT64)),
    "pod: deadline": lambda: create(PODS, pod(activeDeadlineSeconds=INT64)),
    "pod: tolerated seconds": lambda: create(
        PODS,
        pod(
            tolerations=[
                {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": INT64}
            ]
        ),
    ),
    "pod: restarts for ever": lambda: noted("posse.dev/run-seconds", "0"),
    "pod: runs for ever": lambda: noted("posse.dev/run-seconds", "1e308"),
    "pod: stops for ever": lambda: noted("posse.dev/stop-seconds", "nan"),
    "pod: arrives late": lambda: noted("posse.dev/arrives-at", "9" * 300),
    "pod: long generated name": lambda: create(PODS, pod() | {"metadata": {"generateName": "x" * (2 * MB)}}),
    "pod: own image again": lambda: create(PODS, pod(containers=container(image="x" * (2 * MB)))),
    "group: of itself": lambda: posted(
        pod_group({"schedulingPolicy": {"gang": {"minCount": 1}}, "parentCompositePodGroupName": "poison"})
    ),
    "group: minimum resources": lambda: posted(
        pod_group(
            {"schedulingPolicy": {"gang": {"minCount": 1}}},
            {"annotations": {"scheduling.posse.dev/min-resources": '{"cpu":"1e999999999"}'}},
        )
    ),
    "objects: owners in a ring": lambda: [
        *create(path_of("v1", "configmaps"), config_map(**owned(("b", "u2")))),
        *create(path_of("v1", "configmaps"), config_map(name="b", **owned(("poison", "u1")))),
        ("DELETE", path_of("v1", "configmaps") + "/b?propagationPolicy=Foreground", JSON, None),
    ],
    "budget: all pods": lambda: posted(budget({"maxUnavailable": f"{INT32}%", "selector": {}})),
    "service: all pods": lambda: posted(service({"selector": {}, "ports": [{"port": 1}]})),
    "claim template: count": lambda: posted(
        claim_template(
            {
                "spec": {
                    "devices": {
                        "requests": [{"name": "r", "exactly": {"deviceClassName": "c", "count": INT64}}]
                    }
                }
            }
        )
    ),
    "storage class: topologies": lambda: posted(
        storage_class(
            provisioner="a.b/c",
            allowedTopologies=numbered(
                20_000, lambda i: {"matchLabelExpressions": [{"key": f"k{i}", "values": ["a"]}]}
            ),
        )
    ),
    "storage class: parameters": lambda: posted(
        storage_class(provisioner="a.b/c", parameters={f"k{i}": "v" for i in range(90_000)})
    ),
    "taint rule: everything": lambda: posted(
        taint_rule(
            {"deviceSelector": {}, "taint": {"key": "a.b/c", "value": "x" * MB, "effect": "NoExecute"}}
        )
    ),
    "apply: many objects by one name": lambda: [
        apply(f"{PODS}/poison", pod(), f"m{i}", "true") for i in range(50)
    ],
    "list: a large limit": lambda: [("GET", f"{PODS}?limit={INT64}", JSON, None)],
    "list: an odd page": lambda: [("GET", f"{PODS}?limit=1&continue={'x' * 5000}", JSON, None)],
    "list: an odd version": lambda: [
        ("GET", f"{PODS}?resourceVersion={'9' * 4000}", JSON, None),
        ("GET", f"{PODS}?watch=true&timeoutSeconds=1&resourceVersion={'9' * 30}", JSON, None),
    ],
    "delete: a long grace": lambda: [
        *create(PODS, pod()),
        ("DELETE", f"{PODS}/poison?gracePeriodSeconds={INT64}", JSON, None),
    ],
    "delete: a collection by nothing": lambda: [
        ("DELETE", f"/api/v1{DEFAULT}/pods?labelSelector=nothing", JSON, b"[" * 1000),
    ],
    "delete: preconditions": lambda: [
        *create(PODS, pod()),
        ("DELETE", f"{PODS}/poison", JSON, json.dumps({"preconditions": {"uid": "x" * MB}}).encode()),
    ],
    "scale: beyond": lambda: [
        *posted(deployment({"replicas": 1, **SELECTED})),
        (
            "PATCH",
            path_of("apps/v1", "deployments/poison/scale"),
            MERGE,
            json.dumps({"spec": {"replicas": INT32}}).encode(),
        ),
    ],
    "pod: set on a node": lambda: create(PODS, pod(nodeName="node-0", containers=requesting("9" * 17)) | {}),
    "pod: all nodes preferred": lambda: create(PODS, poisons.PODS["preferred node terms"](100)),
}
"""Requests that each attack sends, by name."""
