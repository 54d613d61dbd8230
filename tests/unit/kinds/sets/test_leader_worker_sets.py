"""LeaderWorkerSets as the API takes them: what is filled in, what is refused, what may change."""

import copy

import pytest

from posse.kinds.machinery.scaling import scale_of
from posse.kinds.registry import LEADER_WORKER_SET

TEMPLATE = {"spec": {"containers": [{"name": "c", "image": "i:1"}]}}
PROVIDER = "scheduling.posse.dev/provider"


def lws(name="serve", **spec):
    template = {"workerTemplate": copy.deepcopy(TEMPLATE), "size": 4}
    return {
        "metadata": {"name": name, "namespace": "default", "annotations": {}},
        "spec": {"leaderWorkerTemplate": template, **spec},
    }


def template(**changes):
    return {"spec": {"leaderWorkerTemplate": changes}}


def rolling(**changes):
    return {"spec": {"rolloutStrategy": {"rollingUpdateConfiguration": changes}}}


def test_what_is_filled_in():
    obj = {"metadata": {"name": "x"}, "spec": {"leaderWorkerTemplate": {"workerTemplate": TEMPLATE}}}
    LEADER_WORKER_SET.rules.default_new(obj)
    LEADER_WORKER_SET.rules.default(obj)
    assert obj["spec"] == {
        "replicas": 1,
        "leaderWorkerTemplate": {
            "workerTemplate": TEMPLATE,
            "size": 1,
            "restartPolicy": "RecreateGroupOnPodRestart",
        },
        "rolloutStrategy": {
            "type": "RollingUpdate",
            "rollingUpdateConfiguration": {"partition": 0, "maxUnavailable": 1, "maxSurge": 0},
        },
        "startupPolicy": "LeaderCreated",
        "networkConfig": {"subdomainPolicy": "Shared"},
    }


def test_the_old_name_of_no_recreation_is_understood():
    obj = lws()
    obj["spec"]["leaderWorkerTemplate"]["restartPolicy"] = "Default"
    obj["spec"]["leaderWorkerTemplate"]["subGroupPolicy"] = {"subGroupSize": 2}
    LEADER_WORKER_SET.rules.default(obj)
    filled = obj["spec"]["leaderWorkerTemplate"]
    assert filled["restartPolicy"] == "None"
    assert filled["subGroupPolicy"]["subGroupPolicyType"] == "LeaderWorker"


@pytest.mark.parametrize(
    "patch",
    [
        {},
        {"spec": {"replicas": 0}},
        rolling(maxUnavailable=0, maxSurge="25%"),
        rolling(maxUnavailable=0, maxSurge=0)
        | {"spec": {"replicas": 0, **rolling(maxUnavailable=0)["spec"]}},
        template(subGroupPolicy={"subGroupSize": 2}),
        template(subGroupPolicy={"subGroupSize": 3}),
        template(subGroupPolicy={"subGroupSize": 3, "subGroupPolicyType": "LeaderExcluded"}),
        {"metadata": {"annotations": {PROVIDER: "none"}}},
        template(leaderTemplate={"spec": {"containers": [{"name": "l", "image": "i:1"}]}}),
    ],
)
def test_what_is_fine(problems, patch):
    assert problems(LEADER_WORKER_SET, lws(), patch) == []


@pytest.mark.parametrize(
    ("patch", "problem"),
    [
        ({"metadata": {"name": "7up"}}, "metadata.name: Invalid value"),
        ({"spec": {"replicas": -1}}, "spec.replicas: Invalid value: -1: must be greater than or equal to 0"),
        ({"spec": {"replicas": 1_000_001}}, "spec.replicas: Invalid value: 1000001: must be less than"),
        (
            template(size=0),
            "spec.leaderWorkerTemplate.size: Invalid value: 0: must be greater than or equal to 1",
        ),
        (template(restartPolicy="Never"), "spec.leaderWorkerTemplate.restartPolicy: Unsupported value"),
        ({"spec": {"startupPolicy": "Soon"}}, "spec.startupPolicy: Unsupported value"),
        ({"spec": {"networkConfig": {"subdomainPolicy": "X"}}}, "spec.networkConfig.subdomainPolicy: Unsupp"),
        ({"spec": {"rolloutStrategy": {"type": "Recreate"}}}, "spec.rolloutStrategy.type: Unsupported value"),
        (
            rolling(maxUnavailable=0),
            (
                "spec.rolloutStrategy.rollingUpdateConfiguration.maxUnavailable: Invalid value: 0: "
                "must not be 0 when `maxSurge` is 0"
            ),
        ),
        (rolling(maxSurge="200%"), "spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge: Invalid value"),
        (rolling(partition=-1), "spec.rolloutStrategy.rollingUpdateConfiguration.partition: Invalid value"),
        (
            template(subGroupPolicy={"subGroupSize": 5}),
            (
                "spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize: Invalid value: 5: "
                "subGroupSize cannot be larger than size"
            ),
        ),
        (
            template(subGroupPolicy={"subGroupSize": 0}),
            "spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize",
        ),
        (
            template(subGroupPolicy={}),
            "spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize: Required value",
        ),
        (
            template(subGroupPolicy={"subGroupSize": 2, "subGroupPolicyType": "LeaderExcluded"}),
            "spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize: Invalid value: 2: size - 1 must be divisible",
        ),
        (
            {
                "metadata": {
                    "annotations": {"leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology": "rack"}
                }
            },
            "metadata.annotations[leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology]: Invalid value",
        ),
        (
            {"metadata": {"annotations": {PROVIDER: "nobody"}}},
            f'metadata.annotations[{PROVIDER}]: Unsupported value: "nobody"',
        ),
        (
            template(workerTemplate={"spec": {"restartPolicy": "Never"}}),
            "spec.leaderWorkerTemplate.workerTemplate.spec.restartPolicy: Unsupported value",
        ),
        (
            template(workerTemplate={"spec": {"containers": []}}),
            "spec.leaderWorkerTemplate.workerTemplate.spec.containers: Required value",
        ),
        (
            template(workerTemplate={"spec": {"priorityClassName": "high"}}, leaderTemplate=TEMPLATE),
            "spec.leaderWorkerTemplate.leaderTemplate.spec.priorityClassName: Invalid value",
        ),
    ],
)
def test_what_is_refused(problems, patch, problem):
    (found,) = problems(LEADER_WORKER_SET, lws(), patch)
    assert found.startswith(problem)


def test_containers_of_leaders_and_workers_mount_what_the_claim_templates_bring(problems):
    container = {"name": "c", "image": "i:1", "volumeMounts": [{"name": "cache", "mountPath": "/cache"}]}
    pods = {"spec": {"containers": [container]}}
    storage = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = {"metadata": {"name": "cache"}, "spec": storage}
    patch = template(workerTemplate=pods, leaderTemplate=pods, volumeClaimTemplates=[claim])
    assert problems(LEADER_WORKER_SET, lws(), patch) == []
    assert len(problems(LEADER_WORKER_SET, lws(), template(workerTemplate=pods, leaderTemplate=pods))) == 2


@pytest.mark.parametrize("occasion", ["whenDeleted", "whenScaled"])
def test_claims_may_go_with_the_set_or_with_its_replicas(problems, occasion):
    patch = template(persistentVolumeClaimRetentionPolicy={occasion: "Delete"})
    assert problems(LEADER_WORKER_SET, lws(), patch) == []


SHARED_CLAIMS = "scheduling.posse.dev/shared-claims"
OWN = {"name": "fabric", "resourceClaimTemplateName": "channel"}


def sharing(names, leader=None, **annotations):
    """A set whose workers claim devices, and whose leader claims these."""
    worker = {"spec": {**TEMPLATE["spec"], "resourceClaims": [OWN]}}
    parts = {"workerTemplate": worker}
    if leader is not None:
        parts["leaderTemplate"] = {"spec": {**TEMPLATE["spec"], "resourceClaims": leader}}
    return {"metadata": {"annotations": {SHARED_CLAIMS: names, **annotations}}, **template(**parts)}


@pytest.mark.parametrize(
    ("patch", "problem"),
    [
        (sharing("fabric"), ""),
        (sharing(" fabric ,"), ""),
        (sharing("other"), 'Invalid value: "other": must be in resourceClaims of both templates'),
        (
            sharing("fabric", leader=[]),
            'Invalid value: "fabric": must be in resourceClaims of both templates',
        ),
        (
            sharing("fabric", leader=[OWN | {"resourceClaimTemplateName": "gpu"}]),
            'Invalid value: "fabric": must be in resourceClaims of both templates',
        ),
        (
            sharing("fabric", **{PROVIDER: "volcano"}),
            "Forbidden: groups of the provider posse alone have claims",
        ),
        (sharing("a,b,c,d,e"), "Too many"),
    ],
)
def test_claims_that_replicas_share_are_claims_of_all_their_pods(problems, patch, problem):
    found = problems(LEADER_WORKER_SET, lws(), patch)
    assert [text.startswith(f"metadata.annotations[{SHARED_CLAIMS}]: {problem}") for text in found] == (
        [True] if problem else []
    )


def test_claims_that_replicas_share_stay_so(update_problems):
    (problem,) = update_problems(
        LEADER_WORKER_SET, lws(), sharing("fabric") | {"spec": sharing("fabric")["spec"]}
    )
    assert problem.endswith("field is immutable")


def test_the_network_may_change_but_not_go(update_problems):
    unique = {"spec": {"networkConfig": {"subdomainPolicy": "UniquePerReplica"}}}
    assert update_problems(LEADER_WORKER_SET, lws(), unique) == []
    (problem,) = update_problems(LEADER_WORKER_SET, lws(), {"spec": {"networkConfig": None}})
    assert problem == "spec.networkConfig: Required value: cannot be removed once it is set"


def test_sizes_that_overflow_are_refused(problems):
    patch = {"spec": {"replicas": 1_000_000, **template(size=4000)["spec"]}}
    (found,) = problems(LEADER_WORKER_SET, lws(), patch)
    assert found == (
        "spec.replicas: Invalid value: 1000000: the product of replicas and size must not exceed 2147483647"
    )


def test_pods_are_put_into_their_group_by_nobody_else(problems):
    patch = template(workerTemplate={"spec": {"schedulingGroup": {"podGroupName": "mine"}}})
    assert all("Forbidden" in problem for problem in problems(LEADER_WORKER_SET, lws(), patch))
    patch["metadata"] = {"annotations": {PROVIDER: "none"}}
    assert problems(LEADER_WORKER_SET, lws(), patch) == []


@pytest.mark.parametrize(
    ("length", "replicas", "surge", "fits"),
    [(50, 1, 0, True), (51, 1, 0, False), (50, 10, 0, True), (50, 10, 1, False), (49, 10, 1, True)],
)
def test_names_leave_room_for_those_of_pods_and_revisions(problems, length, replicas, surge, fits):
    patch = {"spec": {"replicas": replicas, **rolling(maxSurge=surge)["spec"]}}
    found = problems(LEADER_WORKER_SET, lws(name="n" * length), patch)
    assert (found == []) is fits
    if not fits:
        assert f"must be no more than {length - 1} characters" in found[0]


@pytest.mark.parametrize(
    ("patch", "problem"),
    [
        ({"spec": {"replicas": 7}}, ""),
        (template(size=8), ""),
        (template(subGroupPolicy=None), "cannot be added or removed after creation"),
        (template(subGroupPolicy={"subGroupSize": 4}), "Invalid value: 4: field is immutable"),
        (
            {"metadata": {"annotations": {PROVIDER: "volcano"}}},
            'Invalid value: "volcano": field is immutable',
        ),
        ({"metadata": {"annotations": {"other": "x"}}}, ""),
    ],
)
def test_what_may_change(update_problems, patch, problem):
    obj = lws()
    obj["spec"]["leaderWorkerTemplate"]["subGroupPolicy"] = {"subGroupSize": 2}
    found = update_problems(LEADER_WORKER_SET, obj, patch)
    assert all(problem in text for text in found) if problem else found == []
    assert bool(found) is bool(problem)


def test_the_scale_counts_leaders():
    obj = lws(replicas=3) | {"status": {"replicas": 2, "hpaPodSelector": "a=b"}}
    scale = scale_of(LEADER_WORKER_SET, obj)
    assert (scale["spec"], scale["status"]) == ({"replicas": 3}, {"replicas": 2, "selector": "a=b"})
