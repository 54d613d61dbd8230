"""Whatever happens to a StatefulSet, its pods and its controller: numbers are unique, order and limits are kept, it arrives."""

import hypothesis.strategies as st
from hypothesis import given, settings

from posse.controllers.stateful_sets.controller import StatefulSetController
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import CONTROLLER_REVISION, POD, STATEFUL_SET
from tests.support.controller_world import World

SPECS = st.fixed_dictionaries(
    {
        "replicas": st.integers(0, 4),
        "podManagementPolicy": st.sampled_from(["Parallel", "OrderedReady"]),
        "ordinals": st.fixed_dictionaries({"start": st.integers(0, 3)}),
        "revisionHistoryLimit": st.integers(0, 2),
        "updateStrategy": st.fixed_dictionaries(
            {
                "type": st.just("RollingUpdate"),
                "rollingUpdate": st.fixed_dictionaries(
                    {"partition": st.integers(0, 3), "maxUnavailable": st.sampled_from([1, 2, "50%"])}
                ),
            }
        ),
    }
)
HAPPENINGS = st.lists(
    st.one_of(
        st.tuples(st.just("turn"), st.integers(0, 4), st.integers(0, 4)),
        st.tuples(st.just("scale"), st.integers(0, 5), st.just(0)),
        st.tuples(st.just("update"), st.integers(0, 3), st.just(0)),
        st.tuples(st.just("kill"), st.integers(0, 9), st.sampled_from([None, 0])),
        st.tuples(st.just("fail"), st.integers(0, 9), st.just(0)),
        st.tuples(st.just("forget"), st.just(0), st.just(0)),
    ),
    max_size=20,
)


def template(image):
    return {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": image}], "terminationGracePeriodSeconds": 1},
    }


def befall(world, what, choice, detail):
    pods = sorted(world.of(POD))
    victim = pods[choice % len(pods)] if pods else None
    match what:
        case "turn":
            actor = world.actors[choice % len(world.actors)]
            actor.act(detail) if actor in world.reconcilers else actor.act()
        case "scale":
            world.patch(STATEFUL_SET, "web", replicas=choice)
        case "update":
            world.patch(STATEFUL_SET, "web", template=template(f"i:{choice}"))
        case "kill" if victim:
            world.delete(POD, victim, grace_seconds=detail)
        case "fail" if victim:
            world.patch_status(POD, "default", victim, {"phase": "Failed"})
        case "forget":
            world.reconcilers[0].restart()


def make(spec):
    world = World(StatefulSetController, nodes=1, per_node=9)
    selector = {"matchLabels": {"app": "web"}}
    body = {"selector": selector, "template": template("i:0"), **spec}
    world.create(STATEFUL_SET, {"metadata": {"name": "web"}, "spec": body})
    return world


def is_ready(pod):
    conditions = pod["status"].get("conditions", [])
    is_ready = any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)
    return is_ready and pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"]


@settings(deadline=None)
@given(SPECS, HAPPENINGS)
def test_a_set_arrives_at_what_it_asks_for(spec, happenings):
    world = make(spec)
    for what, choice, detail in happenings:
        try:
            befall(world, what, choice, detail)
        except ApiError as error:
            if error.code != 404:
                raise
        world.now += 1
    world.settle()
    obj = world.find(STATEFUL_SET, "web")
    wanted, start = obj["spec"]["replicas"], spec["ordinals"]["start"]
    assert set(world.of(POD)) == {f"web-{start + index}" for index in range(wanted)}
    status = obj["status"]
    assert status["replicas"] == status["readyReplicas"] == status["availableReplicas"] == wanted
    image = obj["spec"]["template"]["spec"]["containers"][0]["image"]
    partition = spec["updateStrategy"]["rollingUpdate"]["partition"]
    for index in range(partition, wanted):
        pod = world.find(POD, f"web-{start + index}")
        assert pod["spec"]["containers"][0]["image"] == image
    revisions = {pod["metadata"]["labels"]["controller-revision-hash"] for pod in world.of(POD).values()}
    live = revisions | {status["currentRevision"], status["updateRevision"]}
    assert live <= set(world.of(CONTROLLER_REVISION))
    assert len(world.of(CONTROLLER_REVISION)) <= len(live) + spec["revisionHistoryLimit"]


@settings(deadline=None)
@given(SPECS)
def test_an_update_never_has_more_pods_away_than_it_may(spec):
    world = make(spec)
    world.settle()
    world.patch(STATEFUL_SET, "web", template=template("i:1"))
    share = spec["updateStrategy"]["rollingUpdate"]["maxUnavailable"]
    limit = max(1, spec["replicas"] // 2) if share == "50%" else share

    def check():
        assert sum(map(is_ready, world.of(POD).values())) >= spec["replicas"] - limit

    world.settle(check=check)


@settings(deadline=None)
@given(SPECS, st.integers(0, 5))
def test_in_order_no_pod_is_made_before_those_before_it_are_ready(spec, replicas):
    world = make(spec | {"podManagementPolicy": "OrderedReady"})
    start = spec["ordinals"]["start"]
    seen = set()

    def check():
        ordinals = {int(name.partition("-")[2]) for name in world.of(POD)}
        for ordinal in ordinals - seen:
            before = [world.find(POD, f"web-{lower}") for lower in range(start, ordinal)]
            assert all(pod is not None and is_ready(pod) for pod in before)
        seen.update(ordinals)

    world.settle(check=check)
    world.patch(STATEFUL_SET, "web", replicas=replicas)
    world.settle(check=check)
