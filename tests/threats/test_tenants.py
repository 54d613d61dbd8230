"""What a user of one namespace tries on others through Posse. docs/threat-model.md lists these and all others."""

import pytest

from posse.controllers.leader_worker_sets.controller import LeaderWorkerSetController
from posse.controllers.steps import Create, Delete, Write
from posse.installation.control_permissions import permissions_to_control
from posse.installation.options import ForeignGroupApi, InstallOptions
from posse.installation.permissions import permissions_to_schedule
from posse.kinds.registry import KINDS, LEADER_WORKER_SET
from tests.support.builders import changed, composite, gang, nodes, pod
from tests.support.engine_driver import Driver, evicted
from tests.support.jobset_plans import GANG, jobset, plan, steps
from tests.support.leader_worker_set_world import lws
from tests.support.storage_objects import claim, storage_class, using, volume

OTHERS = {"namespace": "others"}
EVERYTHING = InstallOptions(
    controllers=("jobsets", "leaderworkersets"), foreign_groups=tuple(ForeignGroupApi)
)


def elsewhere(obj):
    return changed(obj, metadata=OTHERS)


def test_a_pod_is_no_member_of_a_group_in_another_namespace():
    victim = [gang("g1", 2), pod("a", cpu="1", group="g1")]
    second = pod("b", cpu="1", group="g1")
    assert Driver(*nodes(2, cpu="4"), *victim, elsewhere(second)).bind() == {}
    assert Driver(*nodes(2, cpu="4"), *victim, second).bind()


def test_a_group_is_no_part_of_a_tree_in_another_namespace():
    tree = [composite("root", 2), gang("g1", 1, parent_composite_pod_group_name="root"), pod("a", group="g1")]
    second = [gang("g2", 1, parent_composite_pod_group_name="root"), pod("b", group="g2")]
    assert Driver(*nodes(2, cpu="4"), *tree, *map(elsewhere, second)).bind() == {}
    assert Driver(*nodes(2, cpu="4"), *tree, *second).bind()


def test_a_pod_does_not_use_a_claim_of_another_namespace():
    storage = [storage_class(), volume("v", kept_for=""), claim("data", volume="v")]
    user = pod("b", cpu="1", volumes=using("data"))
    assert Driver(*nodes(1, cpu="4"), *storage, elsewhere(user)).bind() == {}
    assert Driver(*nodes(1, cpu="4"), *storage, user).bind()


def test_no_pod_is_evicted_for_one_that_matters_no_more():
    """However much it asks for, and whatever group it is in."""
    running = [pod(f"r{number}", cpu="4", on=f"n{number}", priority=0) for number in (1, 2)]
    greedy = [gang("g1", 2), *(elsewhere(pod(f"p{number}", cpu="4", priority=0)) for number in (1, 2))]
    assert evicted(Driver(*nodes(2, cpu="4"), *running, *greedy).decide()) == []
    assert evicted(Driver(*nodes(2, cpu="4"), *running, pod("p", cpu="4", priority=1)).decide())


def places(found):
    return {
        step.obj["metadata"].get("namespace") for step in found if isinstance(step, Create | Write | Delete)
    }


def test_what_is_made_for_a_jobset_is_in_its_namespace():
    obj = jobset(gangConfig=GANG)
    assert places(steps(plan(obj))) == {obj["metadata"]["namespace"]}


def test_what_is_made_for_a_leader_worker_set_is_in_its_namespace():
    obj = lws() | {
        "metadata": lws()["metadata"] | {"namespace": "tenant", "uid": "u", "resourceVersion": "1"}
    }
    controller = LeaderWorkerSetController(frozenset(KINDS))
    controller.see(LEADER_WORKER_SET, obj)
    found = controller.plan("u", 0.0)
    made = [step for stage in found.stages for step in stage]
    assert made
    assert places(made) == {"tenant"}


@pytest.mark.parametrize(
    "permissions",
    [permissions_to_schedule(EVERYTHING), permissions_to_control(EVERYTHING)],
    ids=["scheduler", "controllers"],
)
def test_no_account_creates_pods_or_reads_secrets_or_changes_roles(permissions):
    """Pods are made by controllers of Kubernetes, under the quota and Pod Security of their namespace."""
    granted = {(resource, verb) for item in permissions for resource in item.resources for verb in item.verbs}
    assert ("pods", "create") not in granted
    assert not {resource for resource, _ in granted} & {
        "secrets",
        "configmaps",
        "serviceaccounts",
        "pods/exec",
        "pods/ephemeralcontainers",
    }
    groups = {item.api_group for item in permissions}
    assert "rbac.authorization.k8s.io" not in groups
    assert "*" not in groups
