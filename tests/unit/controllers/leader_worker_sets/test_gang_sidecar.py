"""Gangs for LeaderWorkerSets of another controller, whose webhook has labelled the pods."""

import pytest

from posse.controllers.leader_worker_sets.gang_sidecar import LeaderWorkerSetGangSidecar
from posse.controllers.steps import Create, Write
from posse.kinds.registry import LEADER_WORKER_SET, POD, POSSE_POD_GROUP, POSSE_WORKLOAD, STATEFUL_SET
from tests.support.leader_worker_set_world import PROVIDER, lws

NOW = 1_800_000_000.0
PREFIX = "leaderworkerset.sigs.k8s.io/"
LABEL = "scheduling.posse.dev/pod-group"


def owned(name, owner_kind, owner, labels, **fields):
    reference = {"apiVersion": "v1", "kind": owner_kind, "name": owner, "uid": owner, "controller": True}
    metadata = {"name": name, "namespace": "default", "uid": name, "resourceVersion": "3"}
    marks = {f"{PREFIX}{key}": value for key, value in {"name": "serve", **labels}.items()}
    return {"metadata": metadata | {"labels": marks, "ownerReferences": [reference]}, **fields}


def pod(name, owner, gates=(LABEL,), **labels):
    place = {"group-index": "0", "template-revision-hash": "abc", **labels}
    return owned(
        name, "StatefulSet", owner, place, spec={"schedulingGates": [{"name": gate} for gate in gates]}
    )


def leader(**options):
    return pod("serve-0", "leaders", **{"worker-index": "0", **options})


@pytest.fixture
def companion():
    def make(*objects, annotations=None):
        obj = lws(size=2, annotations={PROVIDER: "posse"} if annotations is None else annotations)
        obj["metadata"] |= {"namespace": "default", "uid": "u", "resourceVersion": "1"}
        made = LeaderWorkerSetGangSidecar()
        made.see(LEADER_WORKER_SET, obj)
        made.see(STATEFUL_SET, owned("leaders", "LeaderWorkerSet", "u", {}, spec={}))
        for kind, other in objects:
            made.see(kind, other)
        return made

    return make


def steps(plan):
    return [step for stage in plan.stages for step in stage]


def test_a_leader_and_its_workers_are_put_into_a_group_of_their_own(companion):
    workers = owned("workers", "Pod", "serve-0", {}, spec={})
    seen = companion((POD, leader()), (STATEFUL_SET, workers), (POD, pod("serve-0-1", "workers")))
    workload, group, first, second = steps(seen.plan("u", NOW))
    assert (type(workload), workload.kind) == (Create, POSSE_WORKLOAD)
    assert (type(group), group.kind, group.obj["metadata"]["name"]) == (
        Create,
        POSSE_POD_GROUP,
        "serve-0-serve-0",
    )
    assert group.obj["spec"]["schedulingPolicy"] == {"gang": {"minCount": 2}}
    assert group.obj["metadata"]["ownerReferences"][0]["uid"] == "serve-0"
    for step, name in ((first, "serve-0"), (second, "serve-0-1")):
        assert (type(step), step.obj["metadata"]["name"]) == (Write, name)
        assert step.obj["metadata"]["labels"][LABEL] == "serve-0-serve-0"
        assert "schedulingGates" not in step.obj["spec"]


def test_workers_that_come_later_join_their_leader(companion):
    placed = leader(gates=())
    placed["metadata"]["labels"][LABEL] = "its-group"
    workers = owned("workers", "Pod", "serve-0", {}, spec={})
    seen = companion((POD, placed), (STATEFUL_SET, workers), (POD, pod("serve-0-1", "workers")))
    (joined,) = [step.obj for step in steps(seen.plan("u", NOW)) if isinstance(step, Write)]
    assert joined["metadata"]["labels"][LABEL] == "its-group"


def test_replicas_that_do_not_wait_are_left_alone(companion):
    seen = companion((POD, leader(gates=())))
    assert [step.kind for step in steps(seen.plan("u", NOW))] == [POSSE_WORKLOAD]


@pytest.mark.parametrize("annotations", [{}, {PROVIDER: "volcano"}])
def test_sets_that_do_not_ask_are_left_alone(companion, annotations):
    assert companion((POD, leader()), annotations=annotations).plan("u", NOW).stages == []


def test_a_gang_that_would_wait_for_itself_is_told_of_once(companion):
    exclusive = {PROVIDER: "posse", f"{PREFIX}exclusive-topology": "rack"}
    seen = companion((POD, leader()), annotations=exclusive)
    (news,) = seen.plan("u", NOW).news
    assert news.reason == "InvalidGang"
    assert seen.plan("u", NOW).news == []


def test_a_workload_of_somebody_else_is_told_of(companion):
    theirs = owned("serve", "Pod", "somebody", {}, spec={"podGroupTemplates": []})
    seen = companion((POSSE_WORKLOAD, theirs), (POD, leader()))
    plan = seen.plan("u", NOW)
    assert (plan.stages, plan.news[0].reason) == ([], "WorkloadCreateFailed")


def test_what_is_gone_is_forgotten(companion):
    seen = companion((POD, leader()))
    seen.lose(LEADER_WORKER_SET, seen.subject("u"))
    assert (seen.subject("u"), seen.plan("u", NOW).stages) == (None, [])
