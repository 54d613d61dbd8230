"""Jobs: what is filled in, what is refused and in which words, what may change later."""

import copy

import pytest

from posse.kinds.machinery.patching import merge_patch
from posse.kinds.registry import JOB
from posse.model.decoding import decode

CONTAINER = {"name": "main", "image": "app:1"}


def job(**spec):
    template = {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}
    return {
        "metadata": {"name": "j", "namespace": "ns", "uid": "u"},
        "spec": {"template": template, **spec},
    }


def made(obj):
    obj = copy.deepcopy(obj)
    JOB.rules.default(obj)
    JOB.rules.prepare_create(obj)
    return obj


def refusals(obj, patch=None):
    new = made(merge_patch(copy.deepcopy(obj), patch or {}))
    return [str(error) for error in JOB.rules.validate(decode(JOB.struct, new))]


def update_refusals(obj, patch):
    old = made(obj)
    old["status"] = obj.get("status", {})
    new = merge_patch(copy.deepcopy(old), patch)
    JOB.rules.default(new)
    errors = JOB.rules.validate_update(decode(JOB.struct, new), decode(JOB.struct, old))
    return [str(error) for error in errors]


def test_defaults_are_those_of_kubernetes():
    spec = made(job())["spec"]
    spec.pop("template")
    assert spec == {
        "completions": 1,
        "parallelism": 1,
        "backoffLimit": 6,
        "completionMode": "NonIndexed",
        "suspend": False,
        "manualSelector": False,
        "podReplacementPolicy": "TerminatingOrFailed",
        "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}},
    }


def test_parallelism_alone_leaves_completions_open():
    spec = made(job(parallelism=3))["spec"]
    assert "completions" not in spec


def test_limits_for_each_index_lift_the_limit_for_all():
    spec = made(job(completions=2, completionMode="Indexed", backoffLimitPerIndex=1))["spec"]
    assert spec["backoffLimit"] == 2**31 - 1


def test_a_failure_policy_waits_for_pods_to_fail():
    rule = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}
    spec = made(job(podFailurePolicy={"rules": [rule]}))["spec"]
    assert spec["podReplacementPolicy"] == "Failed"
    assert spec["podFailurePolicy"]["rules"][0]["onPodConditions"] == [
        {"type": "DisruptionTarget", "status": "True"}
    ]


def test_the_template_gets_the_labels_that_the_selector_looks_for():
    labels = made(job())["spec"]["template"]["metadata"]["labels"]
    assert labels == {
        "controller-uid": "u",
        "batch.kubernetes.io/controller-uid": "u",
        "job-name": "j",
        "batch.kubernetes.io/job-name": "j",
    }


def test_a_job_without_labels_takes_those_of_its_template():
    obj = job()
    obj["spec"]["template"]["metadata"] = {"labels": {"app": "x"}}
    assert made(obj)["metadata"]["labels"] == {"app": "x"}


INDEXED = {"completionMode": "Indexed", "completions": 3}


def with_rule(**rule):
    return {"podFailurePolicy": {"rules": [rule]}}


@pytest.mark.parametrize(
    ("spec", "refusal"),
    [
        ({"parallelism": -1}, "spec.parallelism: Invalid value: -1: must be greater than or equal to 0"),
        (
            {"template": {"spec": {"restartPolicy": None}}},
            'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
        ),
        ({"template": {"spec": {"containers": None}}}, "spec.template.spec.containers: Required value"),
        (
            {"completionMode": "Indexed", "parallelism": 2},
            "spec.completions: Required value: when completion mode is Indexed",
        ),
        (
            {"completionMode": "Sorted"},
            'spec.completionMode: Unsupported value: "Sorted": supported values: "Indexed", "NonIndexed"',
        ),
        (
            {**INDEXED, "parallelism": 100_001},
            (
                "spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 "
                "when completion mode is Indexed"
            ),
        ),
        (
            {"backoffLimitPerIndex": 1},
            "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode",
        ),
        (
            {**INDEXED, "maxFailedIndexes": 1},
            "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified",
        ),
        (
            {**INDEXED, "backoffLimitPerIndex": 1, "maxFailedIndexes": 4},
            "spec.maxFailedIndexes: Invalid value: 4: must be less than or equal to completions",
        ),
        (
            {"managedBy": "me"},
            'spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")',
        ),
        (
            {"selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": "other"}}},
            (
                'spec.selector: Invalid value: {"matchLabels":{"batch.kubernetes.io/controller-uid":"other"}}: '
                "`selector` not auto-generated"
            ),
        ),
        (
            with_rule(action="Ignore"),
            (
                "spec.podFailurePolicy.rules[0]: Invalid value: null: "
                "specifying one of OnExitCodes and OnPodConditions is required"
            ),
        ),
        (
            with_rule(action="FailIndex", onPodConditions=[{"type": "X"}]),
            (
                'spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": '
                "requires the backoffLimitPerIndex to be set"
            ),
        ),
        (
            with_rule(action="Count", onExitCodes={"operator": "In", "values": [2, 1]}),
            "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [2,1]: must be ordered",
        ),
        (
            with_rule(action="Count", onExitCodes={"operator": "In", "values": [0]}),
            (
                "spec.podFailurePolicy.rules[0].onExitCodes.values[0]: Invalid value: 0: "
                "must not be 0 for the In operator"
            ),
        ),
        (
            with_rule(action="Count", onExitCodes={"containerName": "x", "operator": "In", "values": [1]}),
            (
                'spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "x": '
                "must be one of the container or initContainer names in the pod template"
            ),
        ),
        (
            {"successPolicy": {"rules": [{"succeededCount": 1}]}},
            'spec.successPolicy: Invalid value: {"rules":[{"succeededCount":1}]}: requires indexed completion mode',
        ),
        (
            {**INDEXED, "successPolicy": {"rules": [{"succeededIndexes": "0-1", "succeededCount": 3}]}},
            (
                "spec.successPolicy.rules[0].succeededCount: Invalid value: 3: must be less than or equal to 2 "
                "(the number of indexes in the specified succeededIndexes field)"
            ),
        ),
    ],
)
def test_what_makes_no_sense_is_refused(spec, refusal):
    assert refusal in refusals(job(), {"spec": spec})


def test_names_must_leave_room_for_the_index():
    name = "n" * 62
    long = job(**INDEXED) | {"metadata": {"name": name, "namespace": "ns", "uid": "u"}}
    text = f"will not able to create pod with invalid DNS label: {name}-2"
    assert f'metadata.name: Invalid value: "{name}": {text}' in refusals(long)


@pytest.mark.parametrize(
    ("spec", "refusal"),
    [
        (
            {"completions": 4},
            "spec.completions: Invalid value: 4: can only be modified in tandem with spec.parallelism",
        ),
        (
            {"completionMode": "NonIndexed"},
            'spec.completionMode: Invalid value: "NonIndexed": field is immutable',
        ),
        ({"backoffLimitPerIndex": 1}, "spec.backoffLimitPerIndex: Invalid value: 1: field is immutable"),
    ],
)
def test_what_is_fixed_at_creation_is_not_changed(spec, refusal):
    assert refusal in update_refusals(job(**INDEXED, parallelism=3), {"spec": spec})


def test_the_size_of_an_indexed_job_may_change_as_a_whole():
    assert (
        update_refusals(job(**INDEXED, parallelism=3), {"spec": {"completions": 5, "parallelism": 5}}) == []
    )


def test_the_size_of_another_job_is_fixed():
    assert update_refusals(job(completions=3), {"spec": {"completions": 4}}) == [
        "spec.completions: Invalid value: 4: field is immutable"
    ]


def test_where_pods_go_may_change_while_a_job_is_suspended():
    change = {"spec": {"template": {"spec": {"nodeSelector": {"disk": "fast"}}}}}
    assert update_refusals(job(suspend=True), change) == []
    (refusal,) = update_refusals(job(), change)
    assert refusal.startswith("spec.template: Invalid value: ")
    assert refusal.endswith(": field is immutable")
    assert update_refusals(job(suspend=True) | {"status": {"active": 1}}, change) != []


def test_what_pods_run_may_not_change_even_then():
    change = {"spec": {"template": {"spec": {"containers": [CONTAINER | {"image": "app:2"}]}}}}
    assert len(update_refusals(job(suspend=True), change)) == 1


def test_counters_are_never_negative():
    assert update_refusals(job(), {"status": {"failed": -1}}) == [
        "status.failed: Invalid value: -1: must be greater than or equal to 0"
    ]


@pytest.mark.parametrize(
    ("conditions", "status"),
    [([], "Running"), (["Suspended"], "Suspended"), (["FailureTarget", "Failed"], "Failed")],
)
def test_columns_tell_how_a_job_stands(conditions, status):
    obj = made(job(completions=4)) | {
        "status": {
            "succeeded": 1,
            "startTime": "2026-01-01T00:00:00Z",
            "conditions": [{"type": kind, "status": "True"} for kind in conditions],
        }
    }
    cells = {column.name: column.cell(obj, 1767225600 + 65.0) for column in JOB.columns}
    assert (cells["Status"], cells["Completions"], cells["Duration"]) == (status, "1/4", "65s")
    assert (cells["Containers"], cells["Images"]) == ("main", "app:1")
    assert cells["Selector"] == "batch.kubernetes.io/controller-uid=u"


def scheduling(**fields):
    return {"parallelism": 4, "scheduling": fields}


GANG = {"schedulingPolicy": {"gang": {}}}


@pytest.mark.parametrize(
    "spec",
    [
        scheduling(),
        scheduling(schedulingPolicy={}),
        scheduling(**GANG, disruptionMode={"all": {}}),
        scheduling(schedulingPolicy={"gang": {"minCount": 4}}),
        scheduling(schedulingPolicy={"basic": {}}, disruptionMode={"single": {}}),
    ],
)
def test_pods_may_be_scheduled_as_a_group(spec):
    assert refusals(job(**spec)) == []


@pytest.mark.parametrize(
    ("spec", "refusal"),
    [
        (
            scheduling(schedulingPolicy={"gang": {"minCount": 5}}),
            (
                "spec.scheduling.schedulingPolicy.gang.minCount: Invalid value: 5: must be less than or equal to "
                "parallelism (4)"
            ),
        ),
        *(
            (
                scheduling(schedulingPolicy={"gang": {"minCount": minimum}}),
                (
                    f"spec.scheduling.schedulingPolicy.gang.minCount: Invalid value: {minimum}: must be greater "
                    "than or equal to 1"
                ),
            )
            for minimum in (0, -1)
        ),
        (
            scheduling(schedulingPolicy={"gang": {"minCount": 1}, "basic": {}}),
            (
                'spec.scheduling.schedulingPolicy: Invalid value: "{basic, gang}": must specify exactly one of: '
                "`basic`, `gang`"
            ),
        ),
        (
            scheduling(disruptionMode={"all": {}}),
            (
                "spec.scheduling.disruptionMode.all: Forbidden: may only be set with a gang; pods of the basic "
                "policy have no need of each other"
            ),
        ),
    ],
)
def test_groups_that_make_no_sense_are_refused(spec, refusal):
    assert refusals(job(**spec)) == [refusal]


@pytest.mark.parametrize(
    ("before", "patch", "is_refused"),
    [
        (scheduling(**GANG), {"scheduling": {"schedulingPolicy": {"gang": {"minCount": 2}}}}, False),
        (scheduling(**GANG), {"scheduling": None}, True),
        (scheduling(**GANG), {"scheduling": {"disruptionMode": {"all": {}}}}, True),
        ({"parallelism": 4}, {"scheduling": GANG}, True),
    ],
)
def test_only_the_size_of_a_gang_may_change(before, patch, is_refused):
    found = update_refusals(job(**before), {"spec": patch})
    assert [text.partition(":")[0] for text in found] == (["spec.scheduling"] if is_refused else [])


def test_a_selector_that_cannot_be_read_is_refused_in_words():
    """Found by `make fuzz`."""
    (refusal,) = refusals(job(), {"spec": {"selector": {"matchLabels": {"a/b/c": "x"}}}})
    assert refusal.startswith('spec.selector.matchLabels: Invalid value: "a/b/c": a valid label key')
