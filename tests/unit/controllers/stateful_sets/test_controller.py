"""Plans for StatefulSets: who is made and deleted when, from which revision, and what the status says of it."""

import copy

import pytest

from posse.controllers.stateful_sets.controller import StatefulSetController
from posse.controllers.steps import Create, Delete, Write
from posse.kinds.registry import CONTROLLER_REVISION, POD, STATEFUL_SET
from posse.model.timestamps import format_timestamp

NOW = 1_800_000_000.0


def stateful_set(status=None, image="i:1", **spec):
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": image}]},
    }
    obj = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "web", "namespace": "ns", "uid": "u", "generation": 1},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template, **spec},
    }
    STATEFUL_SET.rules.default(obj)
    return obj | {"status": status or {}}


class World:
    """A cluster of one set whose plans are carried out to the letter."""

    def __init__(self, obj):
        self.version = 0
        self.objects = {}
        self.controller = StatefulSetController()
        self.put(STATEFUL_SET, obj)

    def put(self, kind, obj):
        self.version += 1
        metadata = {"uid": f"{kind.name}-{self.version}"} | obj["metadata"]
        obj = copy.deepcopy(obj | {"metadata": metadata | {"resourceVersion": str(self.version)}})
        self.objects[kind, obj["metadata"]["name"]] = obj
        self.controller.see(kind, obj)
        return obj

    def remove(self, kind, name):
        self.controller.lose(kind, self.objects.pop((kind, name)))

    def of(self, kind):
        return {name: obj for (other, name), obj in self.objects.items() if other is kind}

    @property
    def pods(self):
        return self.of(POD)

    @property
    def set(self):
        return self.objects[STATEFUL_SET, "web"]

    @property
    def status(self):
        return self.set["status"]

    def change(self, **spec):
        self.put(STATEFUL_SET, self.set | {"spec": self.set["spec"] | spec})

    def roll(self, image):
        self.change(template=stateful_set(image=image)["spec"]["template"])

    def plan(self, now=NOW):
        return self.controller.plan("u", now)

    def work(self, now=NOW):
        """Carry out one plan; what is deleted is gone at once. Return the pods made and deleted."""
        made, deleted = [], []
        for step in [step for stage in self.plan(now).stages for step in stage]:
            match step:
                case Create(kind, obj):
                    self.put(kind, obj)
                    made += [obj["metadata"]["name"]] if kind is POD else []
                case Write(kind, obj):
                    self.put(kind, obj)
                case Delete(kind, obj):
                    self.remove(kind, obj["metadata"]["name"])
                    deleted += [obj["metadata"]["name"]] if kind is POD else []
        return made, deleted

    def ready(self, *names, since=NOW - 100):
        for name in names or self.pods:
            condition = {"type": "Ready", "status": "True", "lastTransitionTime": format_timestamp(since)}
            self.put(POD, self.pods[name] | {"status": {"phase": "Running", "conditions": [condition]}})

    def settle(self):
        for _ in range(60):
            if self.work() == ([], []):
                self.work()
                return
            self.ready()
        raise AssertionError("the set does not come to rest")


def image_of(pod):
    return pod["spec"]["containers"][0]["image"]


def test_pods_are_told_who_they_are():
    world = World(stateful_set(serviceName="svc"))
    assert world.work() == (["web-0"], [])
    made = world.pods["web-0"]
    (revision,) = world.of(CONTROLLER_REVISION)
    assert made["metadata"]["labels"] == {
        "app": "web",
        "statefulset.kubernetes.io/pod-name": "web-0",
        "apps.kubernetes.io/pod-index": "0",
        "controller-revision-hash": revision,
    }
    assert (made["spec"]["hostname"], made["spec"]["subdomain"]) == ("web-0", "svc")
    (owner,) = made["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["controller"]) == ("StatefulSet", "u", True)


def test_in_order_each_waits_for_the_one_before():
    world = World(stateful_set(replicas=3))
    assert world.work() == (["web-0"], [])
    assert world.work() == ([], [])
    world.ready("web-0")
    assert world.work() == (["web-1"], [])
    world.ready("web-1")
    assert world.work() == (["web-2"], [])


def test_in_parallel_all_start_at_once():
    world = World(stateful_set(replicas=3, podManagementPolicy="Parallel", ordinals={"start": 5}))
    assert world.work() == (["web-5", "web-6", "web-7"], [])


def test_a_pod_is_available_only_after_a_while():
    world = World(stateful_set(replicas=2, minReadySeconds=30))
    world.work()
    world.ready("web-0", since=NOW - 10)
    assert world.work() == ([], [])
    assert (world.status["readyReplicas"], world.status["availableReplicas"]) == (1, 0)
    assert world.plan().wake_at == NOW + 20
    assert world.work(NOW + 20) == (["web-1"], [])


@pytest.mark.parametrize(("policy", "steps"), [("Parallel", [["web-2", "web-1"]]), ("OrderedReady", None)])
def test_the_highest_go_first(policy, steps):
    world = World(stateful_set(replicas=3, podManagementPolicy=policy))
    world.settle()
    world.change(replicas=1)
    for wanted in steps or [["web-2"], ["web-1"]]:
        assert world.work()[1] == wanted
    assert world.work() == ([], [])


def test_in_order_the_next_goes_when_the_last_is_gone():
    world = World(stateful_set(replicas=3))
    world.settle()
    world.change(replicas=1)
    leaving = world.pods["web-2"]
    world.put(
        POD, leaving | {"metadata": leaving["metadata"] | {"deletionTimestamp": "2026-01-01T00:00:00Z"}}
    )
    assert world.work() == ([], [])


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
def test_a_pod_that_has_ended_is_replaced(phase):
    world = World(stateful_set(replicas=1))
    world.settle()
    world.put(POD, world.pods["web-0"] | {"status": {"phase": phase}})
    assert world.work() == ([], ["web-0"])
    assert world.work() == (["web-0"], [])


def test_a_new_template_reaches_the_highest_first_and_no_more_than_may_be_away():
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0, "maxUnavailable": 2}}
    world = World(stateful_set(replicas=4, podManagementPolicy="Parallel", updateStrategy=rolling))
    world.settle()
    world.roll("i:2")
    assert world.work() == ([], ["web-3", "web-2"])
    assert world.work() == (["web-2", "web-3"], [])
    world.ready("web-3")
    assert world.work() == ([], ["web-1"])
    world.settle()
    assert {image_of(pod) for pod in world.pods.values()} == {"i:2"}
    assert world.status["currentRevision"] == world.status["updateRevision"]


def test_pods_that_are_away_anyway_are_replaced_at_once():
    world = World(stateful_set(replicas=3, podManagementPolicy="Parallel"))
    world.settle()
    for name in ("web-0", "web-2"):
        world.put(POD, world.pods[name] | {"status": {"phase": "Pending"}})
    world.roll("i:2")
    assert world.work() == ([], ["web-2", "web-0"])


def test_below_the_partition_everything_stays_as_it_was_even_when_made_anew():
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2, "maxUnavailable": 1}}
    world = World(stateful_set(replicas=3, updateStrategy=rolling, ordinals={"start": 1}))
    world.settle()
    world.roll("i:2")
    world.settle()
    world.remove(POD, "web-1")
    world.settle()
    assert {name: image_of(pod) for name, pod in world.pods.items()} == {
        "web-1": "i:1",
        "web-2": "i:1",
        "web-3": "i:2",
    }
    assert (world.status["currentReplicas"], world.status["updatedReplicas"]) == (2, 1)
    assert world.status["currentRevision"] != world.status["updateRevision"]


def test_on_delete_nobody_is_replaced_by_itself():
    world = World(stateful_set(replicas=1, updateStrategy={"type": "OnDelete"}))
    world.settle()
    world.roll("i:2")
    assert world.work() == ([], [])
    world.remove(POD, "web-0")
    world.work()
    assert image_of(world.pods["web-0"]) == "i:2"


def test_going_back_uses_the_revision_there_was():
    world = World(stateful_set(replicas=1))
    world.settle()
    first = world.status["updateRevision"]
    world.roll("i:2")
    world.settle()
    world.roll("i:1")
    world.settle()
    assert world.status["updateRevision"] == first
    numbers = {name: obj["revision"] for name, obj in world.of(CONTROLLER_REVISION).items()}
    assert numbers[first] == 3
    assert len(numbers) == 2


def test_history_is_limited():
    world = World(stateful_set(replicas=1, revisionHistoryLimit=2))
    for number in range(6):
        world.roll(f"i:{number}")
        world.settle()
    numbers = sorted(obj["revision"] for obj in world.of(CONTROLLER_REVISION).values())
    assert numbers == [4, 5, 6]


def test_a_name_that_another_revision_has_is_avoided():
    world = World(stateful_set())
    (name,) = [
        step.obj["metadata"]["name"]
        for stage in world.plan().stages
        for step in stage
        if step.kind is CONTROLLER_REVISION
    ]
    world.put(CONTROLLER_REVISION, {"metadata": {"name": name, "namespace": "ns"}, "data": {}, "revision": 1})
    world.work()
    assert world.status["collisionCount"] == 1
    assert world.status["updateRevision"] != name


def test_a_set_that_is_being_deleted_is_left_alone():
    obj = stateful_set(replicas=2)
    obj["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert World(obj).plan().stages == []


def test_pods_of_others_do_not_count():
    world = World(stateful_set(replicas=1))
    stranger = {"metadata": {"name": "web-0", "namespace": "ns", "ownerReferences": []}, "spec": {}}
    world.put(POD, stranger)
    assert world.work() == (["web-0"], [])


def test_an_orphan_is_missed():
    world = World(stateful_set(replicas=1))
    world.settle()
    orphan = world.pods["web-0"]
    world.put(POD, orphan | {"metadata": orphan["metadata"] | {"ownerReferences": []}})
    assert world.controller.touched.take(9) == ["u"]
    assert world.work()[0] == ["web-0"]
