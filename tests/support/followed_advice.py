"""Clusters in which an advice was followed, and whether the group starts there."""

from posse.engine.decisions import Advise, Evict, Solve
from posse.engine.events import Advised, Solved
from posse.engine.options import EngineOptions
from posse.engine.placement_problem import Evicting, MoreNodes, SmallerMinimum, WithoutTopology
from posse.model.device import ResourceSlice
from posse.model.node import Node
from posse.model.pod import Pod
from posse.model.workload import CompositeGangSchedulingPolicy
from posse.model.workload import CompositePodGroupSchedulingPolicy as TreePolicy
from posse.model.workload import GangSchedulingPolicy as GangPolicy
from posse.model.workload import PodGroupSchedulingPolicy as GroupPolicy
from posse.solver.remedies import remedies
from posse.solver.solving import solve
from tests.support.builders import NAMESPACE, changed
from tests.support.device_objects import resource_slice
from tests.support.engine_driver import Driver, binds

HOSTNAME = "kubernetes.io/hostname"
_MAX_TURNS = 8
_TURN_SECONDS = 60.0


def answered(question):
    """The answer of the solver, in this process."""
    if isinstance(question, Solve):
        return Solved(question.group, question.number, solve(question.problem, question.effort))
    return Advised(question.group, question.number, remedies(question.remedy_problem))


def starts(objects, members, now=1000.0):
    """Whether any of these pods (uids) is bound, with the exact search; pods that are evicted for it leave."""
    driver = Driver(*objects, options=EngineOptions(asks=True))
    driver.now = now
    driver.engine.take_over(now)
    known = {one.metadata.uid: one for one in objects}
    for _ in range(_MAX_TURNS):
        decisions = _decided(driver)
        if any(one.pod.uid in members for bind in binds(decisions) for one in bind.placements):
            return True
        victims = dict.fromkeys(one.pod.uid for one in decisions if isinstance(one, Evict))
        driver.lose(*(known[victim] for victim in victims))
        driver.now += 0.0 if victims else _TURN_SECONDS
    return False


def _decided(driver):
    decisions, questions = [], [None]
    while questions:
        latest = driver.decide()
        decisions += latest
        questions = [one for one in latest if isinstance(one, Solve | Advise)]
        for question in questions:
            driver.engine.absorb(answered(question))
    return decisions


def followed(remedy, demands, objects):
    """The objects of the cluster in which the advice was followed."""
    match remedy:
        case MoreNodes(nodes):
            return [*_copies(objects, nodes), *objects]
        case Evicting(units):
            names = _with_all_below({unit.name for unit in units}, objects)
            return [one for one in objects if not _is_evicted(one, names)]
        case SmallerMinimum(number, minimum):
            demand = demands[number]
            return [_with_minimum(one, demand, demand.running + minimum) for one in objects]
        case WithoutTopology(number):
            return [_without_topology(one, demands[number]) for one in objects]


def _copies(objects, nodes):
    by_name = {one.metadata.name: one for one in objects if isinstance(one, Node)}
    for shape, number in nodes:
        for index in range(number):
            name, like = f"{shape.like}-more-{index}", by_name[shape.like]
            labels = {**like.metadata.labels, HOSTNAME: name}
            yield changed(like, metadata={"name": name, "uid": f"node-{name}", "labels": labels})
            yield from (_slice_of(name, one) for one in objects if _is_slice_of(like, one))


def _is_slice_of(like, obj):
    return isinstance(obj, ResourceSlice) and obj.spec.node_name == like.metadata.name


def _slice_of(name, like):
    return resource_slice(name, len(like.spec.devices))


def _with_all_below(names, objects):
    """The named groups, with those below named trees."""
    found = list(names)
    for name in found:
        above = [(one, getattr(one.spec, "parent_composite_pod_group_name", None)) for one in objects]
        found += [
            f"{type(one).__name__.lower()} {NAMESPACE}/{one.metadata.name}"
            for one, parent in above
            if parent and name == f"compositepodgroup {NAMESPACE}/{parent}"
        ]
    return found


def _is_evicted(obj, names):
    if not isinstance(obj, Pod):
        return False
    group = obj.spec.scheduling_group
    named = {f"pod {NAMESPACE}/{obj.metadata.name}"}
    if group is not None:
        named.add(f"podgroup {NAMESPACE}/{group.pod_group_name}")
    return not named.isdisjoint(names)


def _is_meant(obj, demand):
    return not isinstance(obj, Pod) and obj.metadata.name == demand.name


def _with_minimum(obj, demand, minimum):
    if not _is_meant(obj, demand):
        return obj
    policy = GroupPolicy(gang=GangPolicy(min_count=minimum))
    if demand.is_composite:
        policy = TreePolicy(gang=CompositeGangSchedulingPolicy(min_group_count=minimum))
    return changed(obj, spec={"scheduling_policy": policy})


def _without_topology(obj, demand):
    return changed(obj, spec={"scheduling_constraints": None}) if _is_meant(obj, demand) else obj
