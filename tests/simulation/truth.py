"""Whether everything written is what an engine would say that reads the cluster for the first time."""

import re

from posse.engine.decisions import Bind, Evict, ReportGroup, ReportPod, Solve
from posse.engine.events import Observed
from posse.engine.explain.group_status import shown_state
from posse.engine.groups.forms import (
    INITIALLY_SCHEDULED,
    MINIMUM_RUNNING,
    PLACEMENT_EXISTS,
    TREE_INITIALLY_SCHEDULED,
)
from posse.engine.keys import GroupKey
from posse.engine.state.invariants import ensure
from posse.model.pod import Pod
from posse.model.workload import CompositePodGroup, PodGroup
from tests.simulation.world import FINISHED
from tests.support.builders import NAMESPACE, changed
from tests.support.followed_advice import answered

ADVICE = re.compile(
    r" (Any of these would let|No change was found|No advice on what|No node (is large|has|would)).*"
)
"""The part of a message that tells what would help."""
_TYPES = {PodGroup: INITIALLY_SCHEDULED, CompositePodGroup: TREE_INITIALLY_SCHEDULED, Pod: "PodScheduled"}


def all_that_is_told_is_true(world, make_engine, running):
    """Compare what is written, and the live view, with what a fresh engine says that is not shown any refusal."""
    engine = make_engine()
    for kind in world.kinds:
        for obj in world.objects[kind].values():
            engine.absorb(Observed(_unrefused(obj)))
    engine.take_over(world.now)
    held = {status.key: status for status in engine.situations()}
    decisions = _decided(engine, world.now)
    moved = [one for one in decisions if isinstance(one, Bind | Evict)]
    if moved:
        return False
    _the_live_view_agrees(running, engine, held)
    groups = {one.group: one for one in decisions if isinstance(one, ReportGroup) and _is_refusal(one)}
    for obj in (*world.groups.values(), *world.composites.values()):
        key = GroupKey(NAMESPACE, obj.metadata.name, is_composite=isinstance(obj, CompositePodGroup))
        if _remembers_more(running, engine, key):
            continue
        _group_is_told_the_truth(obj, groups.get(key), held[key])
        _the_finding_agrees(obj, groups.get(key))
    pods = {one.pod.uid: one for one in decisions if isinstance(one, ReportPod)}
    for obj in world.pods.values():
        if obj.status.phase not in FINISHED and not obj.spec.node_name:
            _pod_is_told_the_truth(obj, pods.get(obj.metadata.uid))
    return True


def _decided(engine, now):
    """What it decides, with the answers of the exact search; advice is left for later."""
    decisions, questions = [], [None]
    while questions or engine.has_work:
        latest = engine.decide(now)
        decisions += latest
        questions = [one for one in latest if isinstance(one, Solve)]
        for question in questions:
            engine.absorb(answered(question))
    return decisions


def _is_refusal(report):
    return report.minimum_running is False or not report.scheduled


def _said(told):
    return told.reason, _words(told.message)


def _words(text):
    """The message without advice, which may come later."""
    return ADVICE.sub("", text)


def _remembers_more(running, fresh, key):
    """A running scheduler has seen how pods ended that are gone by now; the cluster does not tell.

    Nor does it tell which pods ended before their group was recreated.
    """
    keys = [key]
    for one in keys:
        keys += [child for child in fresh._knowledge.groups.links.children(one) if child not in keys]
    pairs = [(running._knowledge.groups.get(one), fresh._knowledge.groups.get(one)) for one in keys]
    return any(_ends(known) != _ends(new) for known, new in pairs if known is not None and new is not None)


def _ends(group):
    return group.ended, group.has_completed_members


def _the_live_view_agrees(running, fresh, held):
    """`posse gangs` lists what `situations` returns, and `posse explain` begins with it."""
    for line in running.overview().groups:
        if _remembers_more(running, fresh, line.key):
            continue
        listed, explained = held[line.key], fresh.explain(line.key).situation
        states = {line.state, shown_state(listed), shown_state(explained)}
        ensure(len(states) == 1, "one situation has one name", group=line.key.name, states=states)


def _group_is_told_the_truth(obj, expected, status):
    written = refusal_of(obj)
    law, name = "the condition of a group is true", obj.metadata.name
    if expected is not None:
        ensure(
            written is not None and _said(written) == _said(expected),
            law,
            group=name,
            written=written,
            expected=(expected.reason, expected.message),
        )
    elif written is not None:
        ensure(
            _words(written.message) == _words(status.message),
            law,
            group=name,
            written=written,
            expected=(status.state, status.message),
        )


def _the_finding_agrees(obj, expected):
    """What was found of a placement belongs to the present refusal, or to the start."""
    found = next((one for one in obj.status.conditions if one.type == PLACEMENT_EXISTS), None)
    refusal = refusal_of(obj)
    if found is None:
        return
    law, name = "what was found of a placement is true", obj.metadata.name
    ensure((found.status == "True") == (refusal is None), law, group=name, found=found, refusal=refusal)
    if expected is not None and expected.finding is not None:
        outcome = expected.finding.outcome
        ensure(found.reason == outcome, law, group=name, found=found, expected=outcome)


def _pod_is_told_the_truth(obj, expected):
    written = refusal_of(obj)
    if expected is not None:
        ensure(
            written is not None and _said(written) == _said(expected),
            "the condition of a pod is true",
            pod=obj.metadata.name,
            written=written,
            expected=(expected.reason, expected.message),
        )


def refusal_of(obj):
    """The condition that says why it waits, or waits again."""
    names = (_TYPES[type(obj)], MINIMUM_RUNNING)
    return next((one for one in obj.status.conditions if one.type in names and one.status == "False"), None)


def _unrefused(obj):
    written = refusal_of(obj) if type(obj) in _TYPES else None
    if written is None:
        return obj
    return changed(
        obj, status={"conditions": tuple(one for one in obj.status.conditions if one is not written)}
    )
