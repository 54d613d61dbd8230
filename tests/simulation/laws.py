"""What must hold in every run, whatever goes wrong: for each decision, after each round, for each write, and in the end.

A decision is judged by what the process had been told when it made it; it cannot know better.
"""

from itertools import dropwhile, takewhile

from posse.engine.decisions import Bind, Evict, ReportGroup, ReportPod
from posse.engine.groups.forms import INITIALLY_SCHEDULED, TREE_INITIALLY_SCHEDULED
from posse.engine.groups.tree import MAX_LEVELS
from posse.engine.keys import GroupKey, GroupRef
from posse.engine.queue.backlog import QueueState
from posse.engine.state.invariants import ensure, no_gang_across_domains, no_gang_below_minimum
from posse.model.workload import CompositePodGroup, PodGroup
from tests.simulation.knowledge import (
    accepts,
    cpu_of,
    group_minimum_of,
    group_name,
    minimum_of,
    parent_of,
    room_of,
    topology_key,
)
from tests.simulation.world import FINISHED
from tests.support.builders import NAMESPACE


def decisions_are_sound(knowledge, decisions):
    """Judge a round in its order, counting on each decision before the next is looked at."""
    bound = set()
    for decision in decisions:
        if isinstance(decision, Evict) and decision.pod.uid in knowledge.pods:
            if isinstance(decision.preemptor, GroupRef):
                nobody_is_evicted_for_a_group_without_need(knowledge, decision, decisions)
            else:
                nobody_is_evicted_without_need(knowledge, decision, victims_with(decision, decisions))
        if isinstance(decision, Bind):
            bindings_are_final(knowledge, decision)
            members_are_bound_as_a_group(knowledge, decision)
        is_repeated = isinstance(decision, ReportGroup) and decision.uid in knowledge.started
        knowledge.note(decision)
        if isinstance(decision, Bind):
            no_node_is_promised_beyond_its_room(knowledge, decision)
            no_gang_starts_below_its_minimum(knowledge, decision)
            members_start_in_one_domain(knowledge, decision)
            bound |= {placement.pod.uid for placement in decision.placements}
        # What has started once is told until it has arrived, though it may have lost members since.
        is_first = isinstance(decision, ReportGroup) and decision.minimum_running is None
        if is_first and decision.scheduled and not is_repeated:
            only_what_has_started_is_reported_so(knowledge, decision, bound)


def bindings_are_final(knowledge, bind):
    for placement in bind.placements:
        pod = knowledge.pods.get(placement.pod.uid)
        ensure(pod is not None, "only known pods are bound", pod=placement.pod.name)
        place = knowledge.place_of(pod)
        ensure(not place, "every binding is final", pod=placement.pod.name, place=place, node=placement.node)
        ensure(not pod.spec.scheduling_gates, "no gated pod is bound", pod=placement.pod.name)
        ensure(not pod.metadata.deletion_timestamp, "no ending pod is bound", pod=placement.pod.name)


def members_are_bound_as_a_group(knowledge, bind):
    expected = bind.group.name if bind.group is not None else ""
    for placement in bind.placements:
        group = group_name(knowledge.pods[placement.pod.uid])
        bound_as = knowledge.root_of(group) or group
        ensure(bound_as == expected, "members are bound as a group", pod=placement.pod.name, group=group)


def no_node_is_promised_beyond_its_room(knowledge, bind):
    for name in dict.fromkeys(placement.node for placement in bind.placements):
        node = knowledge.nodes.get(name)
        ensure(node is not None, "pods go to known nodes", node=name)
        within_room(node, knowledge.pods_on(name), "no node is promised beyond its room")
        for placement in bind.placements:
            if placement.node == name:
                pod = knowledge.pods[placement.pod.uid]
                ensure(accepts(node, pod), "pods go where they may", pod=placement.pod.name, node=name)


def within_room(node, pods, law):
    cpu, count = room_of(node)
    used = sum(cpu_of(pod) for pod in pods)
    name = node.metadata.name
    ensure(used <= cpu and len(pods) <= count, law, node=name, used=used, cpu=cpu, pods=len(pods), most=count)


def groups_started(knowledge, bind):
    """Return the names of the groups of which pods are bound."""
    named = [group_name(knowledge.pods[placement.pod.uid]) for placement in bind.placements]
    return list(dict.fromkeys(named)) if bind.group is not None else []


def no_gang_starts_below_its_minimum(knowledge, bind):
    for name in groups_started(knowledge, bind):
        group = knowledge.groups.get(name)
        ensure(group is not None, "only groups that exist start", group=name)
        no_gang_below_minimum(name, len(knowledge.attached(name)), minimum_of(group))
        for above in knowledge.ancestors(name):
            minimum = group_minimum_of(knowledge.composites[above])
            no_gang_below_minimum(above, knowledge.started_children(above), minimum)


def members_start_in_one_domain(knowledge, bind):
    for name in groups_started(knowledge, bind):
        above = [knowledge.domains_of_tree(one) for one in knowledge.ancestors(name)]
        for domains in (knowledge.domains_of(name), *above):
            no_gang_across_domains(bind.group, domains)
            ensure(None not in domains, "members start where the label is", group=bind.group)


def only_what_has_started_is_reported_so(knowledge, report, bound):
    """Bindings of this round may be counted on, for if one is refused the report is withheld; and those carried out before."""
    bound = bound | knowledge.answered
    if report.group.is_composite:
        minimum = group_minimum_of(knowledge.composites[report.group.name])
        started = knowledge.started_children(report.group.name, bound)
        no_gang_below_minimum(report.group, started, minimum)
        return
    group = knowledge.groups[report.group.name]
    attached, minimum = len(knowledge.attached(report.group.name, bound)), minimum_of(group)
    law = "only a group with its minimum on nodes is reported as started"
    ensure(attached >= minimum, law, group=report.group, attached=attached, minimum=minimum)


def victims_with(eviction, decisions):
    """Return all who were evicted for the preemptor at the same time; it may have had to look again in the same round."""
    where = decisions.index(eviction)
    before = takewhile(lambda one: is_for_the_same(one, eviction), reversed(decisions[:where]))
    after = takewhile(lambda one: is_for_the_same(one, eviction), decisions[where:])
    return [one.pod.uid for one in (*before, *after)]


def is_for_the_same(decision, eviction):
    return isinstance(decision, Evict) and decision.preemptor.uid == eviction.preemptor.uid


def nobody_is_evicted_without_need(knowledge, eviction, victims):
    """The preemptor fits nowhere, every victim matters less, together they make the room, and none can be spared."""
    preemptor, victim = knowledge.pods[eviction.preemptor.uid], knowledge.pods[eviction.pod.uid]
    node = knowledge.nodes[eviction.node]
    numbers = {"preemptor": eviction.preemptor.name, "victim": eviction.pod.name, "node": eviction.node}
    kept = knowledge.kept_from(knowledge.rank(preemptor))
    fitting = [
        n for n, other in knowledge.nodes.items() if n not in kept and knowledge.fits(preemptor, other)
    ]
    ensure(not fitting, "nobody is evicted for who fits somewhere", fitting=fitting, **numbers)
    lesser = knowledge.rank(victim) < knowledge.rank(preemptor)
    ensure(lesser, "nobody is evicted for who matters no more", **numbers)
    unit = unit_of(knowledge, victim, victims)
    near = any(knowledge.place_of(pod) == eviction.node for pod in unit)
    ensure(near, "victims are where the room is made", **numbers)
    nobody_is_evicted_in_part(unit, victims)
    # Who is ending already leaves too, without being evicted once more.
    there = knowledge.pods_on(eviction.node)
    leaving = [*victims, *(pod.metadata.uid for pod in there if knowledge.is_ending(pod))]
    ensure(knowledge.fits(preemptor, node, leaving), "evictions make the room that is needed", **numbers)
    staying = [pod.metadata.uid for pod in unit]
    others = [uid for uid in leaving if uid not in staying]
    ensure(not knowledge.fits(preemptor, node, others), "nobody is evicted who could be spared", **numbers)


def nobody_is_evicted_for_a_group_without_need(knowledge, eviction, decisions):
    """The group does not fit, every victim matters less, its members fit where it leaves, and it could not have stayed."""
    if eviction.preemptor.key.is_composite:
        nobody_is_evicted_for_a_tree_without_need(knowledge, eviction, decisions)
        return
    name, victim = eviction.preemptor.key.name, knowledge.pods[eviction.pod.uid]
    group, node = knowledge.groups[name], knowledge.nodes.get(eviction.node)
    victims = victims_with(eviction, decisions)
    numbers = {"group": name, "victim": eviction.pod.name, "node": eviction.node}
    missing = missing_members(knowledge, name)
    kept = knowledge.kept_from(group.spec.priority or 0, name)
    ensure(slots_for(knowledge, name, kept) < missing, "nobody is evicted for a group that fits", **numbers)
    lesser = knowledge.rank(victim) < (group.spec.priority or 0)
    ensure(lesser, "nobody is evicted for a group that matters no more", **numbers)
    unit = unit_of(knowledge, victim, victims)
    nobody_is_evicted_in_part(unit, victims)
    nominated = nominations_of(knowledge, [name], eviction, decisions)
    held = held_against(knowledge, group)
    there = {
        knowledge.place_of(pod): remaining(knowledge, knowledge.place_of(pod), victims, held | nominated)
        for pod in unit
    }
    # Of a group that goes as one, members may be on a node that has vanished.
    if node is not None and eviction.node in nominated.values():
        within_room(node, there[eviction.node], "evictions make the room that the group needs")
    needed = any(overfills(knowledge, place, [*others, *unit]) for place, others in there.items())
    ensure(needed, "nobody is evicted for a group who could have stayed", **numbers)


def nobody_is_evicted_for_a_tree_without_need(knowledge, eviction, decisions):
    """The tree does not fit, every victim matters less than the root, and members fit where it leaves."""
    name, victim = eviction.preemptor.key.name, knowledge.pods[eviction.pod.uid]
    root, node = knowledge.composites[name], knowledge.nodes.get(eviction.node)
    numbers = {"tree": name, "victim": eviction.pod.name, "node": eviction.node}
    kept = knowledge.kept_from(root.spec.priority or 0, name)
    ensure(not has_room_for_all(knowledge, name, kept), "nobody is evicted for a tree that fits", **numbers)
    lesser = knowledge.rank(victim) < (root.spec.priority or 0)
    ensure(lesser, "nobody is evicted for a tree that matters no more", **numbers)
    victims = victims_with(eviction, decisions)
    nobody_is_evicted_in_part(unit_of(knowledge, victim, victims), victims)
    nominated = nominations_of(knowledge, knowledge.leaves(name), eviction, decisions)
    if node is not None and eviction.node in nominated.values():
        there = remaining(knowledge, eviction.node, victims, held_against(knowledge, root) | nominated)
        within_room(node, there, "evictions make the room that the tree needs")


def nominations_of(knowledge, groups, eviction, decisions):
    """Return where members of these groups are nominated to with the eviction; others may take that room in the same round."""
    uids = [pod.metadata.uid for name in groups for pod in waiting_in(knowledge, name)]
    # A report that was made already is not made again.
    known = {uid: knowledge.nominated.get(uid) or knowledge.told.get(uid) for uid in uids}
    after = dropwhile(lambda one: is_for_the_same(one, eviction), decisions[decisions.index(eviction) :])
    told = list(takewhile(lambda one: isinstance(one, ReportPod), after))
    return known | {d.pod.uid: d.nominated_node for d in reversed(told) if d.pod.uid in known}


def held_against(knowledge, group):
    """Return where others are nominated to that matter as much, or more."""
    return {uid: place for uid, place in knowledge.nominated.items() if outranks(knowledge, uid, group)}


def unit_of(knowledge, victim, victims):
    """Return the pods that have to go together with this one, itself included, but for those that were ending before."""
    name = group_name(victim)
    whole = [name] if goes_as_one(knowledge.groups.get(name)) else []
    for above in knowledge.ancestors(name) if name in knowledge.groups else ():
        whole = knowledge.leaves(above) if goes_as_one(knowledge.composites[above]) else whole
    if not whole:
        return [victim]
    members = [pod for one in whole for pod in knowledge.members(one) if knowledge.place_of(pod)]
    return [pod for pod in members if not knowledge.is_ending(pod) or pod.metadata.uid in victims]


def goes_as_one(obj):
    mode = obj.spec.disruption_mode if obj is not None else None
    return mode is not None and mode.all is not None


def nobody_is_evicted_in_part(unit, victims):
    spared = [pod.metadata.name for pod in unit if pod.metadata.uid not in victims]
    ensure(not spared, "groups that go as one go as a whole", spared=spared)


def outranks(knowledge, uid, group):
    return knowledge.rank(knowledge.pods[uid]) >= (group.spec.priority or 0)


def remaining(knowledge, place, victims, nominated):
    """Return who is to be on the node once the victims have gone and the nominated have come."""
    staying = [
        pod
        for pod in knowledge.pods_on(place)
        if pod.metadata.uid not in victims and not knowledge.is_ending(pod)
    ]
    return [*staying, *(knowledge.pods[uid] for uid, node in nominated.items() if node == place)]


def overfills(knowledge, place, pods):
    """Whether the nominated, and those of the pods that are on the node, are too many; on a node that is gone none is."""
    node = knowledge.nodes.get(place)
    if node is None:
        return False
    there = [pod for pod in pods if knowledge.place_of(pod) in {place, ""}]
    cpu, count = room_of(node)
    return sum(map(cpu_of, there)) > cpu or len(there) > count


def nothing_is_lost(knowledge, engine):
    """The engine knows every pod that it has seen, where it is, and lets every waiting pod wait for something."""
    records, backlog = engine._knowledge.pods, engine._knowledge.backlog
    ensure(list(records) == list(knowledge.pods) or set(records) == set(knowledge.pods), "nothing is lost")
    for uid, pod in knowledge.pods.items():
        place = knowledge.place_of(pod)
        ensure(
            records[uid].node == place, "everybody is where told", pod=uid, node=records[uid].node, told=place
        )
    alone = [pod.metadata.uid for pod in knowledge.waiting() if not group_name(pod)]
    together = [GroupKey(NAMESPACE, name) for name in knowledge.groups if may_start(knowledge, name)]
    trees = [GroupKey(NAMESPACE, name, is_composite=True) for name in startable_trees(knowledge)]
    for key in (*alone, *together, *trees):
        entry = backlog.get(key)
        waits = entry is not None and entry.place is not QueueState.IN_PROGRESS
        ensure(waits, "who may be tried waits for its turn", who=str(key))


def may_start(knowledge, name):
    """Whether a known group by itself is plainly free to be tried: complete, ungated, consistent, no binding under way."""
    is_alone = not knowledge.is_part_of_a_tree(name)
    return is_alone and bool(waiting_in(knowledge, name)) and is_complete(knowledge, name)


def waiting_in(knowledge, name):
    return [pod for pod in knowledge.waiting() if group_name(pod) == name]


def is_complete(knowledge, name):
    """Whether nothing keeps it from being tried. Members that have to leave are no company for those that start."""
    group, members = knowledge.groups[name], knowledge.members(name)
    staying = [pod for pod in knowledge.attached(name) if not knowledge.is_ending(pod)]
    return (
        len(staying) + len(waiting_in(knowledge, name)) >= minimum_of(group)
        and not any(pod.spec.scheduling_gates or pod.metadata.uid in knowledge.promised for pod in members)
        and all((pod.spec.priority or 0) == (group.spec.priority or 0) for pod in members)
    )


def startable_trees(knowledge):
    """Return the names of roots whose trees are plainly free to be tried: every group complete, and none of another mind."""
    for name, root in knowledge.composites.items():
        if parent_of(root) or levels_of(knowledge, name) > MAX_LEVELS:
            continue
        leaves = knowledge.leaves(name)
        objects = [*(knowledge.groups[leaf] for leaf in leaves), *composites_below(knowledge, name)]
        if (
            any(waiting_in(knowledge, leaf) for leaf in leaves)
            and all(is_complete(knowledge, leaf) for leaf in leaves)
            and {one.spec.priority for one in objects} == {root.spec.priority}
            and all(has_enough_groups(knowledge, one.metadata.name) for one in objects if is_tree(one))
        ):
            yield name


def is_tree(obj):
    return isinstance(obj, CompositePodGroup)


def levels_of(knowledge, name):
    """Return how many levels of groups there are from this one down."""
    leaves, composites = knowledge.below(name)
    return 1 + max([0, *(1 for _ in leaves), *(levels_of(knowledge, one) for one in composites)])


def composites_below(knowledge, name):
    """Return the group of groups and all below it."""
    _, composites = knowledge.below(name)
    return [knowledge.composites[name], *(c for one in composites for c in composites_below(knowledge, one))]


def has_enough_groups(knowledge, name):
    leaves, composites = knowledge.below(name)
    return len(leaves) + len(composites) >= group_minimum_of(knowledge.composites[name])


def no_node_is_overfilled_knowingly(world, belief):
    """A binding was written: the node is over its capacity at most by what the process could not know when it decided."""
    node = world.nodes.get(belief.node)
    pods = world.pods_on(belief.node)
    unknown = [pod for pod in pods if pod.metadata.uid not in belief.pods]
    if node is not None and room_of(node) == belief.room and not unknown:
        within_room(node, pods, "no node is over its capacity")


def bound_together_is_bound_whole(world, placements):
    for placement in placements:
        place = world.pods[placement.pod.name].spec.node_name
        law = "what is bound together is bound whole"
        ensure(place == placement.node, law, pod=placement.pod.name, place=place, node=placement.node)


def no_gang_is_bound_below_its_minimum(world, belief):
    """All bindings of a decision were written: the minimum is on nodes, unless members that were seen there have gone since.

    Of a tree, that is so of each group of which pods were bound.
    """
    bound = [
        pod.metadata.uid
        for pod in world.pods.values()
        if group_name(pod) == belief.group and pod.spec.node_name and pod.status.phase not in FINISHED
    ]
    if belief.seen <= set(bound):
        no_gang_below_minimum(belief.group, len(bound), belief.minimum)


def what_has_started_is_told(world, engine):
    """The condition is on every group that the engine takes for scheduled; it is said again until it is."""
    for group in engine._knowledge.groups:
        told = world.objects[PodGroup].get(group.key.name)
        if group.scheduled and group.obj is not None and told is not None:
            conditions = {c.type: c.status for c in told.status.conditions}
            law = "what has started is told"
            ensure(conditions.get(INITIALLY_SCHEDULED) == "True", law, group=group.key.name)
    for key in engine._knowledge.groups.links.composite_keys():
        composite, told = engine._knowledge.groups.links.composite(key), world.composites.get(key.name)
        if composite.scheduled and told is not None:
            conditions = {c.type: c.status for c in told.status.conditions}
            ensure(
                conditions.get(TREE_INITIALLY_SCHEDULED) == "True", "what has started is told", group=key.name
            )


def whoever_fits_has_started(knowledge):
    """No pod and no group waits although there is capacity for it, and nothing in its way."""
    for pod in knowledge.waiting():
        if not group_name(pod):
            fitting = [name for name, node in knowledge.nodes.items() if knowledge.fits(pod, node)]
            ensure(not fitting, "a pod that fits has started", pod=pod.metadata.name, fitting=fitting)
    for name in knowledge.groups:
        if may_start(knowledge, name):
            slots, missing = slots_for(knowledge, name), missing_members(knowledge, name)
            ensure(slots < missing, "a group that fits has started", group=name, slots=slots, missing=missing)
    for name in startable_trees(knowledge):
        a_tree_that_fits_has_started(knowledge, name)


def a_tree_that_fits_has_started(knowledge, name):
    ensure(not has_room_for_all(knowledge, name), "a tree that fits has started", tree=name)


def has_room_for_all(knowledge, name, besides=()):
    """Whether the tree may be anywhere, and there is plainly room on other nodes than those for everybody of it who waits."""
    leaves = knowledge.leaves(name)
    objects = [*(knowledge.groups[leaf] for leaf in leaves), *composites_below(knowledge, name)]
    if any(topology_key(one) for one in objects):
        return False
    waiting = [pod for leaf in leaves for pod in waiting_in(knowledge, leaf)]
    return slots_among(knowledge, waiting, knowledge.nodes.values(), besides) >= len(waiting)


def missing_members(knowledge, name):
    """Return how many more must find a place so that any may take it; who is evicted is missing."""
    there = [pod for pod in knowledge.attached(name) if pod.metadata.uid not in knowledge.evicted]
    return max(1, minimum_of(knowledge.groups[name]) - len(there))


def slots_for(knowledge, name, besides=()):
    """Return how many waiting members find a place whatever order they are placed in; in the best domain, if it must be one.

    Each is counted as if it was as large as the largest and as choosy as all together. Exact where all are alike. Nodes
    `besides` do not count.
    """
    waiting = waiting_in(knowledge, name)
    return max(
        (slots_among(knowledge, waiting, nodes, besides) for nodes in choices_of(knowledge, name)), default=0
    )


def choices_of(knowledge, name):
    """Return the sets of nodes on one of which all members must be."""
    key = topology_key(knowledge.groups[name])
    if not key:
        return [list(knowledge.nodes.values())]
    there = knowledge.domains_of(name)
    domains = {}
    for node in knowledge.nodes.values():
        if key in node.metadata.labels:
            domains.setdefault(node.metadata.labels[key], []).append(node)
    return [nodes for value, nodes in domains.items() if there <= {value}]


def slots_among(knowledge, waiting, nodes, besides=()):
    largest = max(cpu_of(pod) for pod in waiting)
    slots = 0
    for node in nodes:
        if node.metadata.name not in besides and all(accepts(node, pod) for pod in waiting):
            cpu, count = knowledge.free(node, knowledge.rank(waiting[0]))
            slots += max(0, min(cpu // largest, count))
    return slots
