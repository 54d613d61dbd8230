"""Gangs for JobSets of another controller: groups are made, pods that wait for theirs are put into it, nothing else is touched."""

import pytest

from posse.controllers.jobsets.gang_sidecar import JobSetGangSidecar
from posse.controllers.steps import Create, Write
from posse.kinds.registry import JOB, JOB_SET, POD, POD_GROUP, WORKLOAD
from posse.model.feature_gates import ALL_GATES
from tests.support.jobset_plans import NOW, as_seen, children, jobset, made, replicated_job, steps

MODE = "scheduling.posse.dev/gang-mode"
LABEL = "scheduling.posse.dev/pod-group"


def asking(mode="Gang", **fields):
    return jobset(annotations={MODE: mode}, **fields)


def companion(obj, jobs=(), *others):
    made_for = JobSetGangSidecar(ALL_GATES)
    made_for.see(JOB_SET, obj)
    for job in jobs:
        made_for.see(JOB, job)
    for kind, other in others:
        made_for.see(kind, other)
    return made_for


def pod(job, name, gates=(LABEL,), **metadata):
    labels = {"batch.kubernetes.io/job-name": job, **job_labels()}
    return {
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": name,
            "resourceVersion": "7",
            "labels": labels,
            **metadata,
        },
        "spec": {"schedulingGates": [{"name": gate} for gate in gates]},
    }


def job_labels(attempt="0"):
    prefix = "jobset.sigs.k8s.io/"
    return {f"{prefix}jobset-name": "js", f"{prefix}restart-attempt": attempt}


def groups(plan):
    return {
        obj["metadata"]["name"]: obj["spec"]["schedulingPolicy"]["gang"]["minCount"]
        for obj in made(plan, POD_GROUP)
    }


def let_through(plan):
    found = [step.obj for step in steps(plan) if isinstance(step, Write) and step.kind is POD]
    return {obj["metadata"]["name"]: (obj["metadata"]["labels"].get(LABEL), obj["spec"]) for obj in found}


@pytest.mark.parametrize(
    ("obj", "wanted"),
    [
        (asking(), {"pg-js": 6}),
        (asking("ReplicatedGang"), {"js-pg-driver-0": 2, "js-pg-workers-0": 2, "js-pg-workers-1": 2}),
        (
            jobset(replicated_job("a"), replicated_job("b", 2, metadata={"annotations": {MODE: "Gang"}})),
            {"js-pg-b": 4},
        ),
    ],
)
def test_groups_are_made_as_the_annotation_asks(obj, wanted):
    plan = companion(obj).plan("u", NOW)
    assert groups(plan) == wanted
    assert {step.kind for step in steps(plan)} == {WORKLOAD, POD_GROUP}
    assert all(isinstance(step, Create) for step in steps(plan))


def test_who_does_not_ask_is_left_alone():
    assert companion(jobset()).plan("u", NOW).stages == []
    assert companion(jobset()).subject("u") is None


@pytest.mark.parametrize(
    "obj",
    [
        asking(managedBy="scheduling.posse.dev/jobset-controller"),
        asking(status={"terminalState": "Completed"}),
    ],
)
def test_who_is_given_to_others_or_done_is_left_alone(obj):
    assert companion(obj).plan("u", NOW).stages == []


def test_pods_that_wait_are_put_into_their_group():
    obj = asking("ReplicatedGang")
    seen = companion(obj, children(obj))
    seen.touched.take(9)
    seen.see(POD, pod("js-workers-1", "waiting", gates=("other", LABEL)))
    seen.see(POD, pod("js-workers-1", "leaving", deletionTimestamp="2026-01-01T00:00:00Z"))
    seen.see(POD, pod("js-workers-1", "free", gates=()))
    assert seen.touched.take(9) == ["u"]
    plan = seen.plan("u", NOW)
    assert let_through(plan) == {"waiting": ("js-pg-workers-1", {"schedulingGates": [{"name": "other"}]})}
    kinds = [step.kind for step in steps(plan)]
    assert kinds.index(POD) > kinds.index(POD_GROUP)
    seen.lose(POD, pod("js-workers-1", "waiting"))
    assert let_through(seen.plan("u", NOW)) == {}


@pytest.mark.parametrize("is_gone", [False, True])
def test_pods_do_not_wait_because_one_before_them_has_gone(is_gone):
    obj = asking()
    seen = companion(obj, children(obj))
    for name in ("first", "second", "third"):
        seen.see(POD, pod("js-workers-1", name))
    plan = seen.plan("u", NOW)
    assert [step.obj["metadata"]["name"] for step in plan.stages[-1]] == ["first", "second", "third"]
    seen.touched.take(9)
    leaving = pod("js-workers-1", "first", deletionTimestamp="2026-01-01T00:00:00Z")
    seen.lose(POD, leaving) if is_gone else seen.see(POD, leaving)
    assert seen.touched.take(9) == ["u"]
    assert set(let_through(seen.plan("u", NOW))) == {"second", "third"}


def test_pods_of_no_gang_are_let_through():
    obj = jobset(replicated_job("a"), replicated_job("b", metadata={"annotations": {MODE: "Gang"}}))
    seen = companion(obj, children(obj), (POD, pod("js-a-0", "single")))
    assert let_through(seen.plan("u", NOW)) == {"single": (None, {})}


def test_pods_of_an_earlier_run_wait_for_their_end():
    obj = asking(status={"restarts": 1})
    seen = companion(obj, [], (POD, pod("js-workers-0", "late")))
    assert let_through(seen.plan("u", NOW)) == {}


def test_groups_are_not_made_twice():
    obj = asking()
    first = companion(obj).plan("u", NOW)
    seen = companion(obj, children(obj), *((step.kind, as_seen(step.obj)) for step in steps(first)))
    assert steps(seen.plan("u", NOW)) == []


def test_what_cannot_be_is_told_once():
    seen = companion(asking("Pack"))
    (news,) = seen.plan("u", NOW).news
    assert (news.reason, news.is_warning) == ("InvalidGang", True)
    assert news.message.startswith('spec.gangConfig.gangMode: Unsupported value: "Pack"')
    again = seen.plan("u", NOW)
    assert (again.news, again.stages) == ([], [])


def test_what_is_gone_is_forgotten():
    seen = companion(asking())
    seen.lose(JOB_SET, asking())
    assert (seen.subject("u"), seen.plan("u", NOW).stages) == (None, [])
