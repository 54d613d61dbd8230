"""Claims of StatefulSets: made with their pods, and kept or deleted with set and pods as the policy says."""

from collections import Counter

import pytest

from posse.controllers.stateful_sets.controller import StatefulSetController
from posse.controllers.steps import Create
from posse.kinds.registry import PERSISTENT_VOLUME_CLAIM, POD, STATEFUL_SET
from tests.support.controller_world import World
from tests.support.plans import steps_of

CLAIM = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


class ClaimlessScheduler:
    """Binds pods in order, whatever they claim: volumes are not what these tests are about."""

    def __init__(self, here):
        self._here = here

    def act(self):
        waiting = [name for name, pod in self._here.of(POD).items() if not pod["spec"].get("nodeName")]
        for name in waiting:
            self._here.service.bind("default", name, {"target": {"kind": "Node", "name": "n0"}})
        return bool(waiting)


def world(replicas=2, **policy):
    here = World(StatefulSetController)
    here.actors[here.actors.index(here.scheduler)] = ClaimlessScheduler(here)
    mount = {"name": "data", "mountPath": "/data"}
    here.create(
        STATEFUL_SET,
        {
            "metadata": {"name": "my-web"},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}},
                    "spec": {
                        "containers": [{"name": "c", "image": "i:1", "volumeMounts": [mount]}],
                        "terminationGracePeriodSeconds": 1,
                    },
                },
                "volumeClaimTemplates": [CLAIM],
                "persistentVolumeClaimRetentionPolicy": policy,
            },
        },
    )
    here.settle()
    return here


def claims(here):
    """Names of claims, with the kind of what each goes with."""
    return {
        name: [owner["kind"] for owner in claim["metadata"].get("ownerReferences") or ()]
        for name, claim in here.of(PERSISTENT_VOLUME_CLAIM).items()
    }


def test_pods_bring_their_claims():
    here = world()
    assert claims(here) == {"data-my-web-0": [], "data-my-web-1": []}
    assert here.find(PERSISTENT_VOLUME_CLAIM, "data-my-web-0")["metadata"]["labels"] == {"app": "web"}
    (volume,) = here.find(POD, "my-web-1")["spec"]["volumes"]
    assert volume == {"name": "data", "persistentVolumeClaim": {"claimName": "data-my-web-1"}}


@pytest.mark.parametrize(
    ("policy", "after_scaling", "after_deletion"),
    [
        ({}, {"data-my-web-0", "data-my-web-1"}, {"data-my-web-0", "data-my-web-1"}),
        ({"whenDeleted": "Delete"}, {"data-my-web-0", "data-my-web-1"}, set()),
        ({"whenScaled": "Delete"}, {"data-my-web-0"}, {"data-my-web-0"}),
        ({"whenScaled": "Delete", "whenDeleted": "Delete"}, {"data-my-web-0"}, set()),
    ],
)
def test_claims_go_when_the_policy_says_so(policy, after_scaling, after_deletion):
    here = world(**policy)
    here.patch(STATEFUL_SET, "my-web", replicas=1)
    here.settle()
    assert set(here.of(POD)) == {"my-web-0"}
    assert set(claims(here)) == after_scaling
    here.delete(STATEFUL_SET, "my-web")
    here.settle()
    assert set(claims(here)) == after_deletion


def test_a_policy_that_changes_holds_for_claims_that_exist():
    here = world()
    here.patch(STATEFUL_SET, "my-web", persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete"})
    here.settle()
    assert claims(here) == {"data-my-web-0": ["StatefulSet"], "data-my-web-1": ["StatefulSet"]}
    here.patch(STATEFUL_SET, "my-web", persistentVolumeClaimRetentionPolicy={"whenDeleted": "Retain"})
    here.settle()
    assert claims(here) == {"data-my-web-0": [], "data-my-web-1": []}


def test_a_set_that_grows_again_in_time_keeps_the_claim():
    here = world(whenScaled="Delete")
    old = here.find(PERSISTENT_VOLUME_CLAIM, "data-my-web-1")
    here.patch(STATEFUL_SET, "my-web", replicas=1)
    here.reconcilers[0].act()
    assert claims(here)["data-my-web-1"] == ["Pod"]
    here.patch(STATEFUL_SET, "my-web", replicas=2)
    here.settle()
    assert set(here.of(POD)) == {"my-web-0", "my-web-1"}
    assert claims(here)["data-my-web-1"] == []
    assert here.find(PERSISTENT_VOLUME_CLAIM, "data-my-web-1")["metadata"]["uid"] == old["metadata"]["uid"]


def test_a_pod_waits_for_the_claim_of_its_predecessor_to_go():
    here = world(whenScaled="Delete")
    old = here.find(PERSISTENT_VOLUME_CLAIM, "data-my-web-1")
    here.patch(STATEFUL_SET, "my-web", replicas=1)
    here.reconcilers[0].act()
    here.delete(POD, "my-web-1", grace_seconds=0)
    here.patch(STATEFUL_SET, "my-web", replicas=2)
    here.reconcilers[0].act()
    assert set(here.of(POD)) == {"my-web-0"}
    here.settle()
    assert set(here.of(POD)) == {"my-web-0", "my-web-1"}
    assert here.find(PERSISTENT_VOLUME_CLAIM, "data-my-web-1")["metadata"]["uid"] != old["metadata"]["uid"]


def test_a_claim_that_a_waiting_pod_has_lost_is_made_again():
    here = World(StatefulSetController, nodes=0)
    here.create(
        STATEFUL_SET,
        {
            "metadata": {"name": "web"},
            "spec": {
                "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}},
                    "spec": {"containers": [{"name": "c", "image": "i:1"}]},
                },
                "volumeClaimTemplates": [CLAIM],
            },
        },
    )
    here.settle()
    here.delete(PERSISTENT_VOLUME_CLAIM, "data-web-0")
    here.settle()
    assert set(claims(here)) == {"data-web-0"}


def many_claims(replicas, claims):
    templates = [CLAIM | {"metadata": {"name": f"v{number}"}} for number in range(claims)]
    spec = {
        "replicas": replicas,
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "c", "image": "i:1"}]},
        },
        "volumeClaimTemplates": templates,
    }
    metadata = {"name": "web", "namespace": "default", "uid": "u", "generation": 1, "resourceVersion": "1"}
    obj = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata, "spec": spec}
    controller = StatefulSetController()
    controller.see(STATEFUL_SET, obj)
    return controller


def test_one_plan_makes_a_bounded_number_of_claims():
    """Others wait for as long as it takes to make a plan."""
    kinds = Counter(step.kind for step in steps_of(many_claims(1000, 99).plan("u", 0.0), Create))
    assert (kinds[POD], kinds[PERSISTENT_VOLUME_CLAIM]) == (5, 495)


def test_a_plan_makes_progress_however_many_claims_a_pod_has():
    kinds = Counter(step.kind for step in steps_of(many_claims(3, 600).plan("u", 0.0), Create))
    assert (kinds[POD], kinds[PERSISTENT_VOLUME_CLAIM]) == (1, 600)
