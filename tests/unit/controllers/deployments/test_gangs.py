"""Deployments whose pod template asks for a gang: a PodGroup per revision, as large as the set allows."""

from functools import partial

import pytest

from posse.controllers.deployments.controller import DeploymentController
from posse.controllers.deployments.replica_sets import ReplicaSetController
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import DEPLOYMENT, POD, POD_GROUP, PRIORITY_CLASS, REPLICA_SET
from posse.model.deployment import GANG
from tests.support.controller_world import World


def new_world(**options):
    options = {"makes_groups": True} | options
    return World(DeploymentController, partial(ReplicaSetController, **options), nodes=2, per_node=2)


@pytest.fixture
def world():
    return new_world()


def deployment(replicas=3, gang="all", version="1", pod=(), **spec):
    labels = {"app": "serve"}
    container = {"name": "main", "image": f"serve:{version}", "resources": {"requests": {"cpu": "1"}}}
    template = {
        "metadata": {"labels": labels, "annotations": {GANG: gang} if gang else {}},
        "spec": {"containers": [container], **dict(pod)},
    }
    wanted = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"metadata": {"name": "serve"}, "spec": wanted | spec}


def set_version(world, version):
    world.patch(DEPLOYMENT, "serve", template=deployment(version=version)["spec"]["template"])


def minimums(world):
    groups = world.of(POD_GROUP).items()
    return {name: group["spec"]["schedulingPolicy"]["gang"]["minCount"] for name, group in groups}


def test_all_pods_of_a_deployment_start_together_or_none(world):
    world.create(DEPLOYMENT, deployment(replicas=5))
    world.settle()
    [name] = world.of(REPLICA_SET)
    assert minimums(world) == {name: 5}
    pods = world.of(POD).values()
    assert [pod["spec"]["schedulingGroup"] for pod in pods] == [{"podGroupName": name}] * 5
    assert world.bound() == []
    world.add_node("n2", 1)
    world.settle()
    assert len(world.bound()) == 5


def test_a_number_asks_for_so_many_at_once(world):
    world.create(DEPLOYMENT, deployment(replicas=5, gang="3"))
    world.settle()
    assert list(minimums(world).values()) == [3]
    assert len(world.bound()) == 4
    world.patch(DEPLOYMENT, "serve", replicas=2)
    world.settle()
    assert list(minimums(world).values()) == [2]


def test_a_set_that_is_scaled_takes_its_gang_along(world):
    world.create(DEPLOYMENT, deployment(replicas=2))
    world.settle()
    world.patch(DEPLOYMENT, "serve", replicas=4)
    world.settle()
    assert list(minimums(world).values()) == [4]
    assert len(world.bound()) == 4


def test_each_revision_has_a_group_and_the_old_one_goes(world):
    world.create(DEPLOYMENT, deployment())
    world.settle()
    [first] = minimums(world)
    set_version(world, "2")
    world.settle()
    [second] = minimums(world)
    assert (first == second, len(world.bound())) == (False, 3)
    assert len(world.of(REPLICA_SET)) == 2
    set_version(world, "1")
    world.settle()
    assert minimums(world) == {first: 3}
    assert len(world.bound()) == 3


def test_a_recreated_deployment_starts_as_one_gang(world):
    world.create(DEPLOYMENT, deployment(strategy={"type": "Recreate"}))
    world.settle()
    world.patch(DEPLOYMENT, "serve", replicas=5)
    world.settle()
    set_version(world, "2")
    world.settle()
    assert list(minimums(world).values()) == [5]
    assert world.bound() == []


def test_a_deployment_without_pods_has_no_group(world):
    world.create(DEPLOYMENT, deployment())
    world.settle()
    world.patch(DEPLOYMENT, "serve", replicas=0)
    world.settle()
    assert minimums(world) == {}
    world.patch(DEPLOYMENT, "serve", replicas=2)
    world.settle()
    assert len(world.bound()) == 2


def test_the_group_has_the_priority_of_the_pods_and_goes_with_its_set(world):
    world.service.create(PRIORITY_CLASS, "", {"metadata": {"name": "high"}, "value": 1000})
    world.create(DEPLOYMENT, deployment(pod={"priorityClassName": "high"}))
    world.settle()
    [group] = world.of(POD_GROUP).values()
    assert (group["spec"]["priorityClassName"], group["spec"]["priority"]) == ("high", 1000)
    world.delete(DEPLOYMENT, "serve", propagation="Background")
    world.settle()
    assert not world.of(POD_GROUP)


@pytest.mark.parametrize(("gang", "options"), [("", {}), ("all", {"makes_groups": False})])
def test_who_does_not_ask_or_has_no_groups_gets_none(gang, options):
    world = new_world(**options)
    world.create(DEPLOYMENT, deployment(gang=gang))
    world.settle()
    assert not world.of(POD_GROUP)
    assert len(world.bound()) == 3


@pytest.mark.parametrize("gang", ["some", "0", "-1", "1.5", "9" * 5000])
def test_sizes_that_make_no_sense_are_refused(world, gang):
    with pytest.raises(ApiError, match="must be 'all' or a number of pods, at least 1"):
        world.create(DEPLOYMENT, deployment(gang=gang))


def test_pods_that_name_a_group_cannot_ask_for_another(world):
    with pytest.raises(ApiError, match="may not be set for pods that name a group themselves"):
        world.create(DEPLOYMENT, deployment(pod={"schedulingGroup": {"podGroupName": "mine"}}))
