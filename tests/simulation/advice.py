"""Whether each advice, when followed, lets the group start: that of conditions, and that of `posse explain`."""

from posse.engine.events import Observed
from posse.engine.explain.group_status import State
from posse.engine.groups.tree import root_of
from posse.engine.placement_problem import Advice, Evicting, MoreNodes, RemedyProblem
from posse.engine.reporting.remedy_messages import advice_text, remedy_text
from posse.engine.state.invariants import ensure
from posse.model.pod import Pod
from posse.solver.remedies import remedies
from tests.simulation.truth import ADVICE, refusal_of
from tests.support.followed_advice import followed, starts


def every_advice_lets_it_start(world, make_engine, running):
    """Follow each advice in a cluster of its own; return how many there were."""
    objects = [obj for kind in world.kinds for obj in world.objects[kind].values()]
    engine = make_engine()
    for obj in objects:
        engine.absorb(Observed(obj))
    engine.take_over(world.now)
    waiting = [one.key for one in engine.situations() if one.state is State.WAITING and not one.depth]
    return sum(_advice_holds(world, objects, engine, running, key) for key in waiting)


def _advice_holds(world, objects, engine, running, key):
    explanation, written = engine.explain(key), _written(world, running, key)
    is_behind = bool(explanation.ahead.pods or explanation.ahead.groups)
    if written is not None and _shows_its_order(running, engine, key):
        ensure(written.is_behind == is_behind, "advice tells whether others come first", group=key.name)
    is_behind = is_behind or (written is not None and written.is_behind)
    members = set(root_of(engine._knowledge.groups, key).members)
    ways = dict.fromkeys([*_written_ways(written), *_explained_ways(explanation.remedy_problem)])
    for remedy, demands in ways:
        after = followed(remedy, demands, objects)
        if is_behind and isinstance(remedy, MoreNodes | Evicting):
            # What is ahead in the queue may take the capacity; the advice says so.
            after = [one for one in after if not _waits(one) or one.metadata.uid in members]
        ensure(
            starts(after, members, world.now),
            "a group starts when advice is followed",
            group=key.name,
            advice=remedy_text(remedy, demands),
        )
    return len(ways)


def _shows_its_order(running, engine, key):
    """Whether the cluster tells which entries come first.

    It does not where only the order of arrival decides, nor that a group keeps the place of a pod that is gone.
    """
    backlog, groups = running._knowledge.backlog, engine._knowledge.groups
    own = backlog.get(key).order()[:-1]
    is_tied = [one.order()[:-1] for one in backlog.refused()].count(own) > 1
    roots = ((one, root_of(groups, one.key)) for one in backlog.refused_groups())
    ages = [
        (one.since, min(each.created for each in root.unattached()))
        for one, root in roots
        if root is not None
    ]
    return not is_tied and all(since == oldest for since, oldest in ages)


def _explained_ways(problem):
    found = remedies(problem) if isinstance(problem, RemedyProblem) else None
    kinds = found.kinds if found is not None else ()
    return [(remedy, problem.demands) for kind in kinds for remedy in kind]


def _written_ways(advice):
    """Its condition names the first of each kind."""
    kinds = advice.remedies.kinds if advice is not None else ()
    return [(kind[0], advice.demands) for kind in kinds if kind]


def _written(world, running, key):
    """The advice in the condition of a group, as data; None if it has none."""
    obj = (world.composites if key.is_composite else world.groups).get(key.name)
    refusal = refusal_of(obj) if obj is not None else None
    if refusal is None or ADVICE.search(refusal.message) is None:
        return None
    advice = running._advisory.book._known[key].advice
    text = advice_text(advice)
    ensure(refusal.message.endswith(text), "advice is renewed", written=refusal.message, known=text)
    return advice if isinstance(advice, Advice) else None


def _waits(obj):
    return isinstance(obj, Pod) and not obj.spec.node_name
