"""Deployments in a cluster without sockets: real API service, real engine, pods that obey at once."""

from functools import partial

import pytest

from posse.controllers.deployments.controller import DeploymentController
from posse.controllers.deployments.replica_sets import ReplicaSetController
from posse.controllers.deployments.revisions import REVISION, revision_of
from posse.kinds.registry import DEPLOYMENT, POD, REPLICA_SET
from posse.transport.patches import MERGE_PATCH, Patch
from tests.support.controller_world import World


@pytest.fixture
def world():
    return World(DeploymentController, partial(ReplicaSetController, makes_groups=True), nodes=2, per_node=8)


def deployment(image="web:1", replicas=3, **spec):
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": image}]}}
    wanted = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"metadata": {"name": "web"}, "spec": wanted | spec}


def set_image(world, image):
    containers = [{"name": "main", "image": image}]
    world.patch(DEPLOYMENT, "web", template={"spec": {"containers": containers}})


def images(world):
    return sorted(pod["spec"]["containers"][0]["image"] for pod in world.of(POD).values())


def condition(world, name):
    conditions = world.find(DEPLOYMENT, "web")["status"]["conditions"]
    return next(each for each in conditions if each["type"] == name)


def revisions(world):
    sets = world.of(REPLICA_SET).values()
    return {
        each["spec"]["template"]["spec"]["containers"][0]["image"]: each["metadata"]["annotations"][REVISION]
        for each in sets
    }


def test_a_deployment_makes_a_set_and_the_set_makes_pods(world):
    world.create(DEPLOYMENT, deployment())
    world.settle()
    [(name, made)] = world.of(REPLICA_SET).items()
    digest = made["metadata"]["labels"]["pod-template-hash"]
    assert name == f"web-{digest}"
    assert {pod["metadata"]["labels"]["pod-template-hash"] for pod in world.of(POD).values()} == {digest}
    status = world.find(DEPLOYMENT, "web")["status"]
    assert (status["replicas"], status["updatedReplicas"], status["availableReplicas"]) == (3, 3, 3)
    assert condition(world, "Available")["reason"] == "MinimumReplicasAvailable"
    assert condition(world, "Progressing")["reason"] == "NewReplicaSetAvailable"


def test_a_new_template_replaces_all_pods_and_the_old_one_can_come_back(world):
    world.create(DEPLOYMENT, deployment())
    world.settle()
    set_image(world, "web:2")
    world.settle()
    assert images(world) == ["web:2"] * 3
    assert revisions(world) == {"web:1": "1", "web:2": "2"}
    assert world.find(DEPLOYMENT, "web")["metadata"]["annotations"][REVISION] == "2"
    set_image(world, "web:1")
    world.settle()
    assert images(world) == ["web:1"] * 3
    assert revisions(world) == {"web:1": "3", "web:2": "2"}


def test_old_sets_beyond_the_limit_go(world):
    world.create(DEPLOYMENT, deployment(revisionHistoryLimit=1))
    world.settle()
    for number in (2, 3, 4):
        set_image(world, f"web:{number}")
        world.settle()
    assert sorted(revisions(world)) == ["web:3", "web:4"]


def test_recreation_never_mixes_pods(world):
    world.create(DEPLOYMENT, deployment(strategy={"type": "Recreate"}))
    world.settle()
    set_image(world, "web:2")
    world.settle(check=lambda: len(set(images(world))) <= 1 or pytest.fail("pods are mixed"))
    assert images(world) == ["web:2"] * 3


def test_a_paused_deployment_scales_but_does_not_change(world):
    world.create(DEPLOYMENT, deployment())
    world.settle()
    world.patch(DEPLOYMENT, "web", paused=True)
    set_image(world, "web:2")
    world.patch(DEPLOYMENT, "web", replicas=5)
    world.settle()
    assert images(world) == ["web:1"] * 5
    world.patch(DEPLOYMENT, "web", paused=False)
    world.settle()
    assert images(world) == ["web:2"] * 5


def test_pods_that_are_lost_are_replaced_and_surplus_ones_go(world):
    world.create(DEPLOYMENT, deployment())
    world.settle()
    world.delete(POD, next(iter(world.of(POD))))
    world.settle()
    assert len(world.of(POD)) == 3
    scale = {"metadata": {"name": "web", "namespace": "default"}, "spec": {"replicas": 1}}
    world.service.update_scale(DEPLOYMENT, "default", "web", scale)
    world.settle()
    assert len(world.of(POD)) == 1


def test_of_surplus_pods_those_go_that_do_least(world):
    world.create(DEPLOYMENT, deployment(replicas=20))
    world.settle()
    bound = set(world.bound())
    assert len(bound) == 20
    keep = sorted(bound)[7]
    cost = {"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "100"}}}
    world.service.patch(POD, "default", keep, Patch(MERGE_PATCH, cost))
    world.patch(DEPLOYMENT, "web", replicas=1)
    world.settle()
    assert list(world.of(POD)) == [keep]


def test_an_update_that_does_not_advance_is_reported(world):
    world.create(DEPLOYMENT, deployment(progressDeadlineSeconds=60))
    world.settle()
    containers = [{"name": "main", "image": "web:2", "resources": {"requests": {"cpu": "99"}}}]
    world.patch(DEPLOYMENT, "web", template={"spec": {"containers": containers}})
    world.settle()
    assert condition(world, "Progressing")["reason"] == "ReplicaSetUpdated"
    world.now += 61
    for runner in world.reconcilers:
        runner.reconciler.touched.add(world.find(DEPLOYMENT, "web")["metadata"]["uid"])
    world.settle()
    progressing = condition(world, "Progressing")
    assert (progressing["status"], progressing["reason"]) == ("False", "ProgressDeadlineExceeded")


def hashed(world):
    """Return the name that the set of the Deployment gets in an empty cluster."""
    world.create(DEPLOYMENT, deployment())
    world.settle()
    [name] = world.of(REPLICA_SET)
    world.delete(DEPLOYMENT, "web")
    world.settle()
    assert not world.of(REPLICA_SET)
    return name


def test_a_set_whose_name_is_taken_gets_another_one(world):
    name = hashed(world)
    other = deployment(selector={"matchLabels": {"app": "other"}}, replicas=0)["spec"]
    other["template"]["metadata"]["labels"] = {"app": "other"}
    world.create(REPLICA_SET, {"metadata": {"name": name}, "spec": other})
    world.create(DEPLOYMENT, deployment())
    world.settle()
    assert images(world) == ["web:1"] * 3
    assert world.find(DEPLOYMENT, "web")["status"]["collisionCount"] == 1
    assert len(world.of(REPLICA_SET)) == 2


def test_sets_that_an_earlier_deployment_left_are_adopted(world):
    world.create(DEPLOYMENT, deployment())
    world.settle()
    pods = set(world.of(POD))
    world.delete(DEPLOYMENT, "web", propagation="Orphan")
    world.settle()
    [left] = world.of(REPLICA_SET).values()
    assert not left["metadata"].get("ownerReferences")
    world.create(DEPLOYMENT, deployment())
    world.settle()
    [(_, made)] = world.of(REPLICA_SET).items()
    assert made["metadata"]["ownerReferences"][0]["name"] == "web"
    assert set(world.of(POD)) == pods
    assert "collisionCount" not in world.find(DEPLOYMENT, "web")["status"]


def test_deleting_a_deployment_takes_everything_along(world):
    world.create(DEPLOYMENT, deployment())
    world.settle()
    world.delete(DEPLOYMENT, "web", propagation="Background")
    world.settle()
    assert not world.of(REPLICA_SET)
    assert not world.of(POD)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"selector": {"matchLabels": {"app": "other"}}}, "`selector` does not match template `labels`"),
        ({"selector": {}}, "empty selector is invalid for deployment"),
        (
            {"strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}},
            "may not be specified when strategy `type` is 'Recreate'",
        ),
        (
            {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}},
            "may not be 0 when `maxSurge` is 0",
        ),
        ({"progressDeadlineSeconds": 5, "minReadySeconds": 5}, "must be greater than minReadySeconds"),
        ({"replicas": -1}, "must be greater than or equal to 0"),
    ],
)
def test_deployments_that_make_no_sense_are_refused(world, spec, message):
    with pytest.raises(Exception, match=message.replace("(", r"\(")):
        world.create(DEPLOYMENT, deployment(**spec))


@pytest.mark.parametrize("text", ["9" * 5000, "-1", "x", "\u00b2"])
def test_a_revision_that_is_no_number_counts_as_none(text):
    assert revision_of({"metadata": {"annotations": {REVISION: text}}}) == 0
