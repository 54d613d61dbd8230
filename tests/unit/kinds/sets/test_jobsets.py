"""JobSets: what is filled in, what is refused and in which words, what may change later."""

import copy

import pytest

from posse.kinds.registry import JOB_SET

CONTAINER = {"name": "main", "image": "app:1"}
GANG = {"gangMode": "Gang"}


def replicated_job(name="workers", pod=None, **fields):
    spec = {"parallelism": 4, "completions": 4, **fields.pop("job", {})}
    template = {"spec": {**spec, "template": {"spec": {"containers": [CONTAINER], **(pod or {})}}}}
    return {"name": name, "template": template, **fields}


def jobset(*jobs, name="js", **spec):
    jobs = jobs or (replicated_job("driver"), replicated_job("workers", replicas=2))
    return {"metadata": {"name": name, "namespace": "ns"}, "spec": {"replicatedJobs": list(jobs), **spec}}


def test_what_is_left_out_is_filled_in_as_by_the_webhook():
    obj = jobset(replicated_job(), failurePolicy={"rules": [{"action": "FailJobSet"}]})
    JOB_SET.rules.default(obj)
    (job,) = obj["spec"].pop("replicatedJobs")
    assert obj["spec"] == {
        "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
        "successPolicy": {"operator": "All"},
        "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
        "failurePolicy": {
            "restartStrategy": "Recreate",
            "rules": [{"action": "FailJobSet", "name": "failurePolicyRule0"}],
        },
    }
    assert job["replicas"] == 1
    assert job["groupName"] == "default"
    assert job["template"]["spec"]["completionMode"] == "Indexed"
    assert job["template"]["spec"]["template"]["spec"]["restartPolicy"] == "OnFailure"


def test_what_is_given_is_kept():
    given = jobset(replicated_job(replicas=0, groupName="g"), network={"enableDNSHostnames": False})
    obj = copy.deepcopy(given)
    JOB_SET.rules.default(obj)
    assert obj["spec"]["network"]["enableDNSHostnames"] is False
    assert obj["spec"]["replicatedJobs"][0]["replicas"] == 0
    assert obj["spec"]["replicatedJobs"][0]["groupName"] == "g"


@pytest.mark.parametrize(
    "obj",
    [
        jobset(),
        jobset(gangConfig=GANG),
        jobset(gangConfig={"gangMode": "Off"}),
        jobset(replicated_job(gangConfig={"gangMode": "ReplicatedGang", "disruptionMode": {"all": {}}})),
        jobset(
            gangConfig={**GANG, "schedulingConstraints": {"topology": [{"key": "rack"}]}},
            coordinator={"replicatedJob": "driver"},
        ),
        jobset(gangConfig={"gangMode": "Off"}, managedBy="kueue.x-k8s.io/multikueue"),
    ],
)
def test_what_makes_sense_is_accepted(problems, obj):
    assert problems(JOB_SET, obj) == []


NINE_BELOW_A_ROOT = [
    replicated_job(f"j{index}", gangConfig={"disruptionMode": {"all": {}}}) for index in range(9)
]
AT_BOTH_LEVELS = (
    'spec.replicatedJobs[1].gangConfig.gangMode: Invalid value: "ReplicatedGang": may not be set beside '
    "spec.gangConfig.gangMode, which makes a gang of all replicatedJobs together"
)
UNSUPPORTED = 'Unsupported value: "Pack": supported values: "Gang", "Off"'


@pytest.mark.parametrize(
    ("obj", "refusal"),
    [
        (
            jobset(
                replicated_job("a"),
                replicated_job("b", gangConfig={"gangMode": "ReplicatedGang"}),
                gangConfig=GANG,
            ),
            AT_BOTH_LEVELS,
        ),
        (jobset(gangConfig={"gangMode": "Pack"}), f"spec.gangConfig.gangMode: {UNSUPPORTED}"),
        (
            jobset(gangConfig={"gangMode": "ReplicatedGang"}),
            (
                'spec.gangConfig.gangMode: Invalid value: "ReplicatedGang": each Job as a gang of its own is asked '
                "for in the gangConfig of its replicatedJob"
            ),
        ),
        (
            jobset(gangConfig={"disruptionMode": {"all": {}}}),
            (
                "spec.gangConfig.disruptionMode: Forbidden: needs a gangMode other than Off: it says something of a "
                "gang, and there is none"
            ),
        ),
        (
            jobset(
                replicated_job("js"),
                replicated_job("b", gangConfig={"disruptionMode": {"all": {}}}),
                gangConfig=GANG,
            ),
            (
                'spec.replicatedJobs[0].name: Invalid value: "js": may not be the name of the JobSet too when '
                "replicatedJobs of its gang have settings of their own"
            ),
        ),
        (
            jobset(*NINE_BELOW_A_ROOT, gangConfig=GANG),
            "spec.replicatedJobs: Invalid value: 9: makes a tree of 9 gangs; a Workload has room for 8 templates",
        ),
        (
            jobset(replicated_job(replicas=0, gangConfig=GANG)),
            (
                'spec.replicatedJobs[0].gangConfig.gangMode: Invalid value: "Gang": a gang needs at least one pod, '
                "and there are none"
            ),
        ),
        (
            jobset(
                replicated_job("a", pod={"priorityClassName": "high"}, gangConfig=GANG),
                replicated_job("b", gangConfig=GANG),
            ),
            (
                'spec.replicatedJobs: Invalid value: "": replicatedJobs a ("high") and b ("") differ in '
                "priorityClassName; all gangs of a JobSet must have the same"
            ),
        ),
        (
            jobset(
                replicated_job("a", pod={"schedulingGroup": {"podGroupName": "mine"}}),
                replicated_job("b"),
                gangConfig=GANG,
            ),
            (
                "spec.replicatedJobs[1].template.spec.template.spec.schedulingGroup: Invalid value: null: must be set "
                "in the templates of all replicatedJobs or of none when spec.gangConfig.gangMode is Gang"
            ),
        ),
    ],
)
def test_gangs_that_cannot_be_are_refused(problems, obj, refusal):
    assert problems(JOB_SET, obj) == [refusal]


@pytest.mark.parametrize(
    ("obj", "refusal"),
    [
        (
            jobset(replicated_job(replicas=0, gangConfig={"disruptionMode": {"all": {}}}), gangConfig=GANG),
            'spec.gangConfig.gangMode: Invalid value: "Gang": a gang needs at least one pod, and there are none',
        ),
        (
            jobset(
                replicated_job("a"),
                replicated_job("b", gangConfig={"disruptionMode": {"single": {}}}),
                gangConfig={**GANG, "disruptionMode": {"all": {}}},
            ),
            (
                "spec.replicatedJobs[1].gangConfig.disruptionMode.single: Forbidden: may not be set when "
                "spec.gangConfig.disruptionMode is all: what goes as a whole has no part that goes alone"
            ),
        ),
        (
            jobset(
                replicated_job("workers", gangConfig={"gangMode": "ReplicatedGang"}),
                replicated_job("workers-0", gangConfig=GANG),
            ),
            (
                'spec.replicatedJobs[1].name: Invalid value: "workers-0": its group would be called like that of a Job '
                "of replicatedJob workers"
            ),
        ),
    ],
)
def test_trees_and_groups_that_cannot_be_are_refused(problems, obj, refusal):
    assert problems(JOB_SET, obj) == [refusal]


def rule(**fields):
    return {"failurePolicy": {"rules": [{"name": "r", "action": "FailJobSet", **fields}]}}


@pytest.mark.parametrize(
    ("spec", "refusal"),
    [
        (
            {"replicatedJobs": [replicated_job("w" * 59)]},
            f"its Jobs would be called js-{'w' * 59}-0: ",
        ),
        (
            {"replicatedJobs": [replicated_job("w" * 55)]},
            f"its pods would be called js-{'w' * 55}-0-3-xxxxx: ",
        ),
        ({"replicatedJobs": [replicated_job("")]}, "spec.replicatedJobs[0].name: Required value"),
        (
            {"replicatedJobs": [replicated_job("a"), replicated_job("a")]},
            "spec.replicatedJobs[1]: Duplicate value",
        ),
        (
            {"replicatedJobs": [replicated_job(replicas=-1)]},
            "spec.replicatedJobs[0].replicas: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            {"replicatedJobs": [replicated_job(replicas=2**30)]},
            "the product of replicas and parallelism must not exceed 2147483647",
        ),
        (
            {"replicatedJobs": [replicated_job(replicas=20_001)]},
            "spec.replicatedJobs: Invalid value: 20001: must not be more than 20000 Jobs in all",
        ),
        (
            {"replicatedJobs": [replicated_job(pod={"containers": []})]},
            "spec.replicatedJobs[0].template.spec.template.spec.containers: Required value",
        ),
        (
            {"replicatedJobs": [replicated_job(job={"completions": None})]},
            "spec.replicatedJobs[0].template.spec.completions: Required value: when completion mode is Indexed",
        ),
        (
            {"replicatedJobs": [replicated_job(dependsOn=[{"name": "x", "status": "Ready"}])]},
            "spec.replicatedJobs[0].dependsOn: Forbidden: the first replicatedJob has nothing before it",
        ),
        (
            {
                "replicatedJobs": [
                    replicated_job("a"),
                    replicated_job("b", dependsOn=[{"name": "b", "status": "Ready"}]),
                ]
            },
            'spec.replicatedJobs[1].dependsOn[0].name: Invalid value: "b": does not name a replicatedJob that stands',
        ),
        (
            {
                "replicatedJobs": [
                    replicated_job("a"),
                    replicated_job("b", dependsOn=[{"name": "a", "status": "Fine"}]),
                ]
            },
            'dependsOn[0].status: Unsupported value: "Fine": supported values: "Complete", "Ready"',
        ),
        (
            {
                "replicatedJobs": [
                    replicated_job("a"),
                    replicated_job("b", dependsOn=[{"name": "a", "status": "Ready"}]),
                ],
                "startupPolicy": {"startupPolicyOrder": "InOrder"},
            },
            'spec: Invalid value: "InOrder": startupPolicyOrder InOrder and dependsOn of replicatedJobs are mutually',
        ),
        ({"network": {"subdomain": "a.b"}}, 'spec.network.subdomain: Invalid value: "a.b": a DNS-1035 label'),
        (
            {"successPolicy": {"operator": "All", "targetReplicatedJobs": ["x"]}},
            'spec.successPolicy.targetReplicatedJobs[0]: Invalid value: "x": does not name one of the replicatedJobs',
        ),
        ({"successPolicy": {"operator": "Most"}}, 'spec.successPolicy.operator: Unsupported value: "Most"'),
        ({"failurePolicy": {"maxRestarts": -1}}, "spec.failurePolicy.maxRestarts: Invalid value: -1"),
        (
            {"failurePolicy": {"restartStrategy": "Anyhow"}},
            'spec.failurePolicy.restartStrategy: Unsupported value: "Anyhow"',
        ),
        (
            {"failurePolicy": {"restartStrategy": "InPlaceRestart"}},
            "spec.replicatedJobs[0].template.spec.backoffLimit: Invalid value: null: must be 2147483647",
        ),
        (
            {"failurePolicy": {"restartStrategy": "InPlaceRestart"}},
            "spec.replicatedJobs[1].template.spec.podReplacementPolicy: Invalid value: null: must be Failed",
        ),
        (rule(name="1"), 'spec.failurePolicy.rules[0].name: Invalid value: "1": must match'),
        (rule(action="RestartPod"), 'spec.failurePolicy.rules[0].action: Unsupported value: "RestartPod"'),
        (
            rule(onJobFailureReasons=["Bored"]),
            'spec.failurePolicy.rules[0].onJobFailureReasons[0]: Unsupported value: "Bored"',
        ),
        (
            {"failurePolicy": {"rules": [{"name": "r", "action": "FailJobSet"}] * 2}},
            'spec.failurePolicy.rules[1].name: Duplicate value: "r"',
        ),
        ({"managedBy": "me"}, 'spec.managedBy: Invalid value: "me": must be a domain-prefixed path'),
        ({"ttlSecondsAfterFinished": -1}, "spec.ttlSecondsAfterFinished: Invalid value: -1"),
        (
            {"coordinator": {"replicatedJob": "x"}},
            'spec.coordinator.replicatedJob: Invalid value: "x": does not name one of the replicatedJobs',
        ),
        (
            {"coordinator": {"replicatedJob": "driver", "jobIndex": 1}},
            "spec.coordinator.jobIndex: Invalid value: 1: must be at least 0 and less than 1",
        ),
        (
            {"coordinator": {"replicatedJob": "driver", "podIndex": 4}},
            "spec.coordinator.podIndex: Invalid value: 4: must be at least 0 and less than 4",
        ),
        (
            {
                "coordinator": {"replicatedJob": "driver"},
                "network": {"subdomain": "s" * 60},
            },
            "the coordinator is told to all pods in a label: must be no more than 63 bytes",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(problems, spec, refusal):
    found = problems(JOB_SET, jobset(), {"spec": spec})
    assert any(refusal in problem for problem in found), found


MOUNT = {"volumeMounts": [{"name": "data", "mountPath": "/data"}]}


def claim(name="data", **metadata):
    spec = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"metadata": {"name": name, **metadata}, "spec": spec}


def sharing(*claims, pod=None, **policy):
    job = replicated_job(pod={"containers": [CONTAINER | MOUNT], **(pod or {})})
    return jobset(job, volumeClaimPolicies=[{"templates": list(claims), **policy}])


def test_claims_go_with_the_jobset_unless_it_says_otherwise(problems):
    obj = sharing(claim())
    assert problems(JOB_SET, obj) == []
    JOB_SET.rules.default(obj)
    assert obj["spec"]["volumeClaimPolicies"][0]["retentionPolicy"] == {"whenDeleted": "Delete"}


CLAIMS = "spec.volumeClaimPolicies[0]"


@pytest.mark.parametrize(
    ("obj", "refusal"),
    [
        (sharing(claim(""), claim()), f"{CLAIMS}.templates[0].metadata.name: Required value"),
        (sharing(claim(), claim()), f'{CLAIMS}.templates[1].metadata.name: Duplicate value: "data"'),
        (
            sharing(claim(namespace="other")),
            f"{CLAIMS}.templates[0].metadata.namespace: Forbidden: the claim is made in the namespace of the JobSet",
        ),
        (
            sharing(claim(), claim("unused")),
            (
                f'{CLAIMS}.templates[1].metadata.name: Invalid value: "unused": no container of any replicatedJob '
                "mounts a volume of this name"
            ),
        ),
        (
            sharing(claim(), pod={"volumes": [{"name": "data", "emptyDir": {}}]}),
            (
                f'{CLAIMS}.templates[0].metadata.name: Invalid value: "data": a replicatedJob has a volume of this '
                "name already"
            ),
        ),
        (
            sharing(claim(), retentionPolicy={"whenDeleted": "Archive"}),
            (
                f'{CLAIMS}.retentionPolicy.whenDeleted: Unsupported value: "Archive": supported values: "Delete", '
                '"Retain"'
            ),
        ),
        (
            sharing(),
            (
                "spec.replicatedJobs[0].template.spec.template.spec.containers[0].volumeMounts[0].name: Not found: "
                '"data"'
            ),
        ),
    ],
)
def test_claims_that_cannot_be_are_refused(problems, obj, refusal):
    assert problems(JOB_SET, obj) == [refusal]


EIGHT = {"parallelism": 8, "completions": 8}
UNEVEN = {"parallelism": 4, "completions": 8}
POD_CHANGES = {"nodeSelector": {"pool": "a"}, "tolerations": [{"operator": "Exists"}]}


@pytest.mark.parametrize(
    ("before", "patch", "refusal"),
    [
        ({"gangConfig": GANG}, {"gangConfig": {"gangMode": "Off"}}, "spec.gangConfig: Invalid value"),
        ({"gangConfig": GANG}, {"gangConfig": None}, "spec.gangConfig: Invalid value"),
        ({}, {"gangConfig": GANG}, "spec.gangConfig: Invalid value"),
        (
            {},
            {
                "replicatedJobs": [
                    replicated_job("driver", gangConfig=GANG),
                    replicated_job("workers", replicas=2),
                ]
            },
            "spec.replicatedJobs[0].gangConfig: Invalid value",
        ),
        ({}, {"replicatedJobs": [replicated_job("driver")]}, "spec.replicatedJobs: Invalid value"),
        (
            {},
            {"replicatedJobs": [replicated_job("driver", job=UNEVEN), replicated_job("workers", replicas=2)]},
            'spec.replicatedJobs[0]: Invalid value: "driver": field is immutable',
        ),
        (
            {},
            {"replicatedJobs": [replicated_job("driver"), replicated_job("workers", replicas=3)]},
            'spec.replicatedJobs[1]: Invalid value: "workers": field is immutable',
        ),
        (
            {},
            {
                "replicatedJobs": [
                    replicated_job("driver", pod=POD_CHANGES),
                    replicated_job("workers", replicas=2),
                ]
            },
            'spec.replicatedJobs[0]: Invalid value: "driver": field is immutable',
        ),
        ({}, {"network": {"subdomain": "other"}}, "spec.network: Invalid value"),
        (
            {},
            {"managedBy": "a.example/b"},
            'spec.managedBy: Invalid value: "a.example/b": field is immutable',
        ),
        (
            {"failurePolicy": {"maxRestarts": 1}},
            {"failurePolicy": {"maxRestarts": 2}},
            "spec.failurePolicy: Invalid",
        ),
    ],
)
def test_most_of_a_jobset_is_there_to_stay(update_problems, before, patch, refusal):
    (found,) = update_problems(JOB_SET, jobset(**before), {"spec": patch})
    assert found.startswith(refusal)


@pytest.mark.parametrize(
    ("before", "patch"),
    [
        ({}, {"suspend": True}),
        ({"suspend": True}, {"suspend": False}),
        ({}, {"ttlSecondsAfterFinished": 5}),
        ({}, {"coordinator": {"replicatedJob": "driver"}}),
        ({}, {"failurePolicy": {"maxRestarts": 2}}),
        (
            {},
            {"replicatedJobs": [replicated_job("driver", job=EIGHT), replicated_job("workers", replicas=2)]},
        ),
        (
            {"suspend": True},
            {
                "replicatedJobs": [
                    replicated_job("driver", pod=POD_CHANGES),
                    replicated_job("workers", replicas=2),
                ],
                "suspend": False,
            },
        ),
    ],
)
def test_what_may_change_changes(update_problems, before, patch):
    assert update_problems(JOB_SET, jobset(**before), {"spec": patch}) == []


def test_what_is_over_does_not_grow(update_problems):
    obj = jobset() | {"status": {"terminalState": "Completed"}}
    jobs = [replicated_job("driver", job=EIGHT), replicated_job("workers", replicas=2)]
    (found,) = update_problems(JOB_SET, obj, {"spec": {"replicatedJobs": jobs}})
    assert found == 'spec.replicatedJobs[0]: Invalid value: "driver": field is immutable'


def test_the_columns_are_those_of_the_custom_resource():
    condition = {"type": "Completed", "status": "True"}
    status = {"terminalState": "Completed", "restarts": 2, "conditions": [condition]}
    obj = {**jobset(suspend=False), "status": status}
    cells = {column.name: column.cell(obj, 0.0) for column in JOB_SET.columns}
    assert [*cells] == ["Name", "TerminalState", "Restarts", "Completed", "Suspended", "Age"]
    assert [*cells.values()][:5] == ["js", "Completed", "2", "True", "false"]
    fresh = {column.name: column.cell(jobset(), 0.0) for column in JOB_SET.columns}
    assert [*fresh.values()][1:5] == ["", "", "", ""]
