"""Whatever happens to a LeaderWorkerSet and to those who look after it: when all is quiet, replicas are whole or not there.

Pods are killed, fail and restart, the set is scaled and updated, controllers stop in the middle of a plan and forget
everything, and the cluster has no room for all. Providers that make gangs keep this; pod by pod it does not hold.
"""

import hypothesis.strategies as st
from hypothesis import given, settings

from posse.controllers.leader_worker_sets.controller import LeaderWorkerSetController
from posse.controllers.leader_worker_sets.rollout import (
    GroupState,
    LeaderSetState,
    RolloutLimits,
    next_rollout,
)
from posse.controllers.stateful_sets.controller import StatefulSetController
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import KINDS, LEADER_WORKER_SET, POD
from tests.support.controller_world import World

# Whole clusters are simulated, which takes a while.
WHOLE_CLUSTERS = settings(max_examples=settings().max_examples * 2 // 5)
SIZE = 3
PROVIDERS = ("posse", "volcano", "coscheduling")


def template(image):
    container = {"name": "c", "image": image, "resources": {"requests": {"cpu": "1"}}}
    return {"spec": {"containers": [container], "terminationGracePeriodSeconds": 1}}


def lws(provider, rolling, policy, startup="LeaderCreated"):
    leader_worker = {"size": SIZE, "workerTemplate": template("i:0"), "restartPolicy": policy}
    return {
        "metadata": {"name": "serve", "annotations": {"scheduling.posse.dev/provider": provider}},
        "spec": {
            "replicas": 2,
            "leaderWorkerTemplate": leader_worker,
            "startupPolicy": startup,
            "rolloutStrategy": {"rollingUpdateConfiguration": rolling},
        },
    }


HAPPENINGS = st.lists(
    st.one_of(
        st.tuples(st.just("turn"), st.integers(0, 5), st.integers(0, 6)),
        st.tuples(st.just("scale"), st.integers(0, 4), st.just(0)),
        st.tuples(st.just("update"), st.integers(0, 2), st.just(0)),
        st.tuples(st.just("kill"), st.integers(0, 20), st.sampled_from([None, 0])),
        st.tuples(st.just("fail"), st.integers(0, 20), st.just(0)),
        st.tuples(st.just("restart"), st.integers(0, 20), st.just(0)),
        st.tuples(st.just("forget"), st.integers(0, 1), st.just(0)),
        st.tuples(st.just("settle"), st.just(0), st.just(0)),
    ),
    max_size=25,
)
ROLLING = st.sampled_from(
    [
        {"maxUnavailable": 1, "maxSurge": 0},
        {"maxUnavailable": 0, "maxSurge": 1},
        {"maxUnavailable": 1, "maxSurge": 2},
        {"maxUnavailable": "100%", "maxSurge": 0},
    ]
)


def befall(world, what, choice, detail):
    pods = sorted(world.of(POD))
    victim = pods[choice % len(pods)] if pods else None
    match what:
        case "turn":
            actor = world.actors[choice % len(world.actors)]
            actor.act(detail) if actor in world.reconcilers else actor.act()
        case "scale":
            world.patch(LEADER_WORKER_SET, "serve", replicas=choice)
        case "update":
            changed = {"workerTemplate": template(f"i:{choice}")}
            world.patch(LEADER_WORKER_SET, "serve", leaderWorkerTemplate=changed)
        case "kill" if victim:
            world.delete(POD, victim, grace_seconds=detail)
        case "fail" if victim:
            world.patch_status(POD, "default", victim, {"phase": "Failed"})
        case "restart" if victim:
            status = [{"name": "c", "restartCount": 1, "image": "i", "imageID": ""}]
            world.patch_status(POD, "default", victim, {"containerStatuses": status})
        case "forget":
            world.reconcilers[choice].restart()
        case "settle":
            world.settle()
            check_replicas(world)


def check_replicas(world):
    """No replica is there in part: all its pods are on nodes, or none is."""
    bound = set(world.bound())
    leaders = {"-".join(name.split("-")[:2]) for name in world.of(POD)}
    for leader in leaders:
        pods = {leader, *(f"{leader}-{worker}" for worker in range(1, SIZE))}
        assert len(bound & pods) in (0, SIZE), (leader, sorted(bound))


def check_end(world):
    obj = world.find(LEADER_WORKER_SET, "serve")
    wanted, image = obj["spec"]["replicas"], obj["spec"]["leaderWorkerTemplate"]["workerTemplate"]
    fitting = min(wanted, sum(1 for _ in range(8 // SIZE)))
    assert len(world.bound()) >= fitting * SIZE
    images = {world.of(POD)[name]["spec"]["containers"][0]["image"] for name in world.bound()}
    assert images <= {image["spec"]["containers"][0]["image"]}
    indexes = {int(name.split("-")[1]) for name in world.of(POD)}
    assert indexes <= set(range(wanted))


@WHOLE_CLUSTERS
@given(
    st.sampled_from(PROVIDERS),
    ROLLING,
    st.sampled_from(["RecreateGroupOnPodRestart", "RecreateGroupAfterStart"]),
    st.sampled_from(["LeaderCreated", "LeaderReady"]),
    HAPPENINGS,
)
def test_replicas_are_whole_or_not_there(provider, rolling, policy, startup, happenings):
    world = World(StatefulSetController, lambda: LeaderWorkerSetController(KINDS), nodes=2, per_node=4)
    world.create(LEADER_WORKER_SET, lws(provider, rolling, policy, startup))
    for what, choice, detail in happenings:
        try:
            befall(world, what, choice, detail)
        except ApiError as error:
            if error.code != 404:
                raise
        world.now += 1
    world.settle()
    check_replicas(world)


@WHOLE_CLUSTERS
@given(st.sampled_from(PROVIDERS), ROLLING, HAPPENINGS)
def test_with_room_for_all_everything_arrives(provider, rolling, happenings):
    world = World(StatefulSetController, lambda: LeaderWorkerSetController(KINDS), nodes=6, per_node=4)
    world.create(LEADER_WORKER_SET, lws(provider, rolling, "RecreateGroupOnPodRestart"))
    for what, choice, detail in happenings:
        try:
            befall(world, what, choice, detail)
        except ApiError as error:
            if error.code != 404:
                raise
        world.now += 1
    world.settle()
    check_replicas(world)
    check_end(world)
    status = world.find(LEADER_WORKER_SET, "serve")["status"]
    (available,) = [item["status"] for item in status["conditions"] if item["type"] == "Available"]
    assert available == "True"


@given(
    st.integers(0, 6),
    st.integers(0, 3),
    st.integers(0, 3),
    st.integers(0, 3),
    st.lists(st.integers(0, 9), max_size=60),
)
def test_an_update_arrives_within_its_bounds(replicas, partition, away, surge, picks):
    """The StatefulSet of the leaders replaces what it may; replicas become ready in any order."""
    away = max(away, 1) if surge == 0 else away
    limits = RolloutLimits(replicas, partition, away, min(surge, replicas))
    leaders, groups = LeaderSetState(replicas, 0, replicas), [GroupState(True, False)] * replicas
    is_changed = True
    for pick in [*picks, *[0] * 60]:
        rollout = next_rollout(limits, leaders, groups, is_changed=is_changed)
        is_changed = False
        leaders = LeaderSetState(rollout.replicas, rollout.partition, replicas)
        groups = resized(groups, rollout.replicas)
        groups = replaced(groups, rollout.partition, max(1, away + limits.max_surge))
        ready = sum(group.is_ready for group in groups)
        assert ready >= replicas - away - (1 if surge and not away else 0)
        assert len(groups) <= limits.most
        groups = with_one_more_ready(groups, pick)
    assert len(groups) == replicas or partition > 0
    assert all(group.is_done for group in groups[partition:])
    assert all(group.is_ready and not group.is_updated for group in groups[:partition][:replicas])


def resized(groups, count):
    return [*groups[:count], *[GroupState(False, True)] * (count - len(groups))]


def replaced(groups, partition, at_once):
    """Replace old ones from the top, as the StatefulSet controller does."""
    groups = list(groups)
    missing = sum(not group.is_ready for group in groups)
    for index in reversed(range(partition, len(groups))):
        if not groups[index].is_updated and (missing < at_once or not groups[index].is_ready):
            missing += groups[index].is_ready
            groups[index] = GroupState(is_ready=False, is_updated=True)
    return groups


def with_one_more_ready(groups, pick):
    waiting = [index for index, group in enumerate(groups) if not group.is_ready]
    if not waiting:
        return groups
    index = waiting[pick % len(waiting)]
    return [*groups[:index], GroupState(True, groups[index].is_updated), *groups[index + 1 :]]
