"""A round of decisions as a series of writes, in the order of `posse.runtime.scheduling.carrier`, each a step after which all may stop.

What was refused is absorbed when all bindings and evictions were tried and before anything is reported.
"""

from posse.engine.decisions import Bind, Evict, MarkDisrupted, ReportGroup, ReportPod
from posse.engine.events import (
    BindRefused,
    EvictionFailed,
    GroupReportFailed,
    MarkFailed,
    ReportFailed,
    ReportWithheld,
)
from posse.engine.groups.forms import DISRUPTION_TARGET, INITIALLY_SCHEDULED, TREE_INITIALLY_SCHEDULED
from posse.engine.keys import GroupRef, PodRef
from posse.engine.preemption.marks import PREEMPTION, mark_for
from posse.model.meta import Condition
from posse.model.pod import Pod
from posse.model.workload import CompositePodGroup, PodGroup
from posse.runtime.scheduling.report_merging import last_words, unfounded
from tests.simulation.faults import Answer
from tests.simulation.knowledge import group_name
from tests.simulation.laws import (
    bound_together_is_bound_whole,
    no_gang_is_bound_below_its_minimum,
    no_node_is_overfilled_knowingly,
)
from tests.simulation.world import CONFLICT, NOT_FOUND, UNAVAILABLE, Refused


class Server:
    """The world behind a connection that may fail."""

    def __init__(self, world, random, *, binds_whole):
        self.world = world
        self.faults = None
        self._random = random
        self.binds_whole = binds_whole
        """Whether the bindings of a group hold together or not at all; otherwise each is a write of its own."""

    def write(self, action, *arguments, **fields):
        """Have it done, unless the request or the answer gets lost; raise what went wrong."""
        answer = self.faults.answer(self._random)
        if answer is Answer.LOST_REQUEST:
            raise Refused(UNAVAILABLE, answer.value)
        action(*arguments, **fields)
        if answer is Answer.LOST_ANSWER:
            raise Refused(UNAVAILABLE, answer.value)

    def attempt(self, action, *arguments, **fields):
        """Return what went wrong, or None."""
        try:
            self.write(action, *arguments, **fields)
        except Refused as refusal:
            return refusal
        return None

    def bind(self, placements, group, beliefs):
        """Bind all of these in one write: all hold or none does."""
        for placement in placements:
            self.world.bindable(placement.pod)
        for placement in placements:
            self.world.bind(placement.pod, placement.node)
            no_node_is_overfilled_knowingly(self.world, beliefs.nodes[placement.node])
        if self.binds_whole and group is not None:
            bound_together_is_bound_whole(self.world, placements)
            for name in dict.fromkeys(group_name(self.world.pods[one.pod.name]) for one in placements):
                no_gang_is_bound_below_its_minimum(self.world, beliefs.groups[name])


def carry_out(server, decisions, beliefs, absorb, answered):
    """Absorb what was refused, and then have it known that what else was bound is on its node."""
    refusals, broken = [], set()
    for bind in decisions:
        if isinstance(bind, Bind):
            before = len(refusals)
            yield from _bind(server, bind, beliefs, refusals)
            broken |= {bind.group} if len(refusals) > before and bind.group is not None else set()
    for eviction in decisions:
        if isinstance(eviction, Evict):
            yield from _evict(server, eviction, refusals)
    withheld = unfounded(decisions, broken)
    for event in (*refusals, *(ReportWithheld(report.group) for report in withheld)):
        absorb(event)
    answered(
        placement.pod.uid for bind in decisions if isinstance(bind, Bind) for placement in bind.placements
    )
    yield from _report(server, [one for one in last_words(decisions) if one not in withheld], absorb)


def _bind(server, bind, beliefs, refusals):
    parts = [bind.placements] if server.binds_whole else [(placement,) for placement in bind.placements]
    for part in parts:
        refusal = server.attempt(server.bind, part, bind.group, beliefs)
        names = ", ".join(f"{placement.pod.name} to {placement.node}" for placement in part)
        if refusal is not None:
            refusals += [BindRefused(p.pod.uid, p.node, str(refusal)) for p in part]
        yield f"bind {names}{_outcome(refusal)}"


def preemptor_name(eviction):
    preemptor = eviction.preemptor
    return preemptor.key.name if isinstance(preemptor, GroupRef) else preemptor.name


def _evict(server, eviction, refusals):
    victim = eviction.pod
    condition = Condition(
        type=DISRUPTION_TARGET, status="True", reason=PREEMPTION, message=mark_for(eviction.preemptor)
    )
    refusal = server.attempt(server.world.set_condition, Pod, victim, condition)
    yield f"mark {victim.name} as a victim of {preemptor_name(eviction)}{_outcome(refusal)}"
    if refusal is None:
        refusal = server.attempt(_delete, server.world, victim)
        yield f"delete {victim.name}{_outcome(refusal)}"
    if refusal is not None and refusal.code not in {NOT_FOUND, CONFLICT}:
        refusals.append(EvictionFailed(victim.uid, str(refusal)))


def _delete(world, ref):
    world.delete_pod(world.find(Pod, ref))


def _report(server, reports, absorb):
    for report in reports:
        if isinstance(report, ReportPod):
            refusal = _report_pod(server, report)
            if refusal is not None and refusal.code == UNAVAILABLE:
                absorb(ReportFailed(report.pod.uid))
            yield f"report {report.pod.name}: {report.message} {report.nominated_node}{_outcome(refusal)}"
        elif isinstance(report, ReportGroup):
            refusal = _report_group(server, report)
            if refusal is not None and refusal.code == UNAVAILABLE:
                absorb(GroupReportFailed(report))
            yield f"report {report.group.name}: {report.reason} {report.message}{_outcome(refusal)}"
        elif isinstance(report, MarkDisrupted):
            refusal = _mark_group(server, report)
            if refusal is not None and refusal.code == UNAVAILABLE:
                absorb(MarkFailed(report))
            yield f"mark {report.group.name}: {report.message}{_outcome(refusal)}"


def _report_pod(server, report):
    condition = Condition(type="PodScheduled", status="False", reason=report.reason, message=report.message)
    return server.attempt(
        server.world.set_condition, Pod, report.pod, condition, nominated_node_name=report.nominated_node
    )


def _report_group(server, report):
    status = "True" if report.scheduled else "False"
    name = TREE_INITIALLY_SCHEDULED if report.group.is_composite else INITIALLY_SCHEDULED
    condition = Condition(type=name, status=status, reason=report.reason, message=report.message)
    return _set_on_group(server, report, condition)


def _set_on_group(server, told, condition):
    ref = PodRef(told.group.namespace, told.group.name, told.uid)
    kind = CompositePodGroup if told.group.is_composite else PodGroup
    return server.attempt(server.world.set_condition, kind, ref, condition)


def _mark_group(server, mark):
    status = "True" if mark.message else "False"
    condition = Condition(type=DISRUPTION_TARGET, status=status, message=mark.message)
    return _set_on_group(server, mark, condition)


def _outcome(refusal):
    return f" ({refusal})" if refusal else ""
