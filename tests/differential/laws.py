"""What must hold of every decision and after every decision, each law under its name."""

from collections import Counter

from posse.engine.decisions import Bind, Evict
from posse.engine.groups.admission import not_ready
from posse.engine.groups.forms import group_of
from posse.engine.keys import GroupRef
from posse.engine.queue.backlog import QueueState
from tests.differential import greedy, oracle
from tests.differential.shadow import OURS


def check_decisions(shadow, decisions):
    """Check each decision in turn against what the engine knew, and note what it promises."""
    binds = [decision for decision in decisions if isinstance(decision, Bind)]
    for decision in decisions:
        if isinstance(decision, Evict):
            victims_matter_less(shadow, decision)
        shadow.note(decision)
    for bind in binds:
        for placement in bind.placements:
            only_waiting_pods_are_bound(shadow, placement)
            members_are_bound_with_their_group(shadow, bind, placement)
        shadow.promise(bind)
        no_gang_is_bound_below_its_minimum(shadow, bind)
    for bind in binds:
        for placement in bind.placements:
            no_node_is_over_capacity_by_our_doing(shadow, placement)
            no_pod_is_where_it_must_not_be(shadow, placement)


def check_state(shadow):
    usage_is_what_the_pods_request(shadow)
    nothing_is_lost(shadow)
    nobody_waits_who_could_start(shadow)


def victims_matter_less(shadow, eviction):
    victim, preemptor = eviction.pod.uid, eviction.preemptor
    for_group = isinstance(preemptor, GroupRef)
    own = priority_of_group(shadow, preemptor.key) if for_group else priority_of(shadow, preemptor.uid)
    assert priority_of(shadow, victim) < own


def priority_of(shadow, uid):
    """The priority that counts for the pod: that of its group, if it has one."""
    pod = shadow.seen.pods[uid]
    key = group_of(pod)
    return (pod.spec.priority or 0) if key not in shadow.seen.groups else priority_of_group(shadow, key)


def priority_of_group(shadow, key):
    """What it states, else the lowest among its members."""
    stated = shadow.seen.groups[key].spec.priority
    members = [shadow.seen.pods[uid].spec.priority or 0 for uid in shadow.members(key)]
    return min(members, default=0) if stated is None else stated


def only_waiting_pods_are_bound(shadow, placement):
    """No pod is bound twice, after its end, on its way out, behind a gate or for another scheduler."""
    assert placement.pod.uid in shadow.seen.pods, f"{placement.pod} is gone"
    assert shadow.is_waiting(placement.pod.uid), f"{placement.pod} does not wait for us"


def members_are_bound_with_their_group(shadow, bind, placement):
    assert bind.group == group_of(shadow.seen.pods[placement.pod.uid])
    assert bind.group is not None or len(bind.placements) == 1


def no_gang_is_bound_below_its_minimum(shadow, bind):
    if bind.group is None:
        return
    policy = shadow.seen.groups[bind.group].spec.scheduling_policy
    minimum = policy.gang.min_count if policy.gang else 1
    attached = sum(1 for uid in shadow.members(bind.group) if shadow.node_of(uid))
    assert attached >= minimum, f"{bind.group} has {attached} of {minimum}"


def no_node_is_over_capacity_by_our_doing(shadow, placement):
    node = shadow.seen.nodes[placement.node]
    there = shadow.pods_on(placement.node)
    for resource in oracle.effective_requests(shadow.seen.pods[placement.pod.uid]):
        assert oracle.used(there, resource) <= oracle.allocatable(node, resource), (
            f"{placement.node} is over capacity in {resource}"
        )


def no_pod_is_where_it_must_not_be(shadow, placement):
    pod, node = shadow.seen.pods[placement.pod.uid], shadow.seen.nodes[placement.node]
    assert not oracle.refusals(pod, node, [])


def usage_is_what_the_pods_request(shadow):
    """And what is kept for a group that has waited long."""
    table = shadow.engine._knowledge.state.nodes
    kept = kept_amounts(shadow.engine)
    assert sorted(table.row_of) == sorted(shadow.seen.nodes)
    for name, row in table.row_of.items():
        there = shadow.pods_on(name)
        for resource, index in table.resource_index.items():
            assert table.requested[index, row] == oracle.used(there, resource) + kept[index, row]


def kept_amounts(engine):
    """Return how much of which resource is kept on which row."""
    kept = engine._knowledge.starvation_guard.reservation
    amounts = Counter()
    for share in kept.shares if kept else ():
        for index, amount in share.load.requests:
            amounts.update({(index, row): share.pods * amount for row in share.rows.tolist()})
    return amounts


def nothing_is_lost(shadow):
    """Every pod that waits for us is in the queue, or its group is held for a reason that can be named."""
    backlog, groups = shadow.engine._knowledge.backlog, shadow.engine._knowledge.groups
    waiting = {uid: pod for uid, pod in shadow.seen.pods.items() if shadow.is_waiting(uid)}
    for uid, pod in waiting.items():
        key = group_of(pod)
        if key is None:
            assert uid in backlog, f"{uid} is lost"
        else:
            assert key in backlog or not_ready(groups, groups.get(key)) is not None, f"{uid} of {key} is lost"
    for key, entry in backlog._entries.items():
        assert key in waiting or any(group_of(pod) == key for pod in waiting.values())
        assert entry.place in (QueueState.UNSCHEDULABLE, QueueState.ERROR_BACKOFF)


def nobody_waits_who_could_start(shadow):
    """What is parked really finds no room: no wake-up was missed. Reserved capacity does not count."""
    if shadow.engine._knowledge.starvation_guard.reservation is not None:
        return
    for key, entry in shadow.engine._knowledge.backlog._entries.items():
        if entry.place is not QueueState.UNSCHEDULABLE:
            continue
        if isinstance(key, str):
            assert room_for(shadow, shadow.seen.pods[key]) == 0, f"{key} could start"
        elif not shadow.engine._knowledge.groups.get(key).awaits_bindings:
            group_cannot_start(shadow, key)


def group_cannot_start(shadow, key):
    policy = shadow.seen.groups[key].spec.scheduling_policy
    minimum = policy.gang.min_count if policy.gang else 1
    members = shadow.members(key)
    waiting = [pod for uid, pod in members.items() if shadow.is_waiting(uid)]
    attached = sum(1 for uid in members if shadow.node_of(uid))
    rooms = [room_for(shadow, pod) for pod in waiting]
    if attached >= minimum:
        assert max(rooms) == 0, f"a member of {key} could join the others"
    elif all(pod.spec.containers == waiting[0].spec.containers for pod in waiting):
        assert attached + min(rooms[0], len(waiting)) < minimum, f"{key} could start"


def room_for(shadow, pod):
    """Return how many pods like this one the cluster could take."""
    assert pod.spec.scheduler_name == OURS
    return sum(greedy.capacity(*place, pod, oracle.refusals) for place in shadow.world_for(pod.metadata.uid))
