"""`posse plan --make-room-for`: the fewest gangs to stop so that a group starts, and what becomes of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import typer

from posse.cli.client import ApiClient
from posse.cli.configuration_file import rules_in_force
from posse.cli.output import Output, print_data
from posse.cli.plan.applied_room import stop_gangs
from posse.cli.plan.groups_named import group_named
from posse.cli.plan.room_budgets import check_budgets
from posse.cli.plan.trial import settle, submit
from posse.cli.problems import Misuse, Problem
from posse.cli.reading.cluster_reader import Survey, survey_cluster
from posse.cli.reading.sources import ApiSource, ClusterSource
from posse.cli.session import Rules
from posse.cli.tables import aligned
from posse.engine.events import Observed, Vanished
from posse.engine.keys import GroupKey
from posse.engine.placement_problem import RemedyProblem
from posse.engine.preemption.marks import described
from posse.model.pod import Pod
from posse.solver.making_room import RoomPlan, fewest_stopped

STARTS_AGAIN, WAITS = "starts again on other nodes", "waits"
NOTHING_CHANGED = "Nothing has been changed."
TAKES_BACK = "would preempt it: has a higher priority, so stop it for good"


@dataclass(frozen=True, slots=True)
class StoppedGang:
    name: str
    pods: int
    then: str
    """What becomes of it when it is submitted again after the group has started."""


@dataclass(frozen=True, slots=True)
class RoomReport:
    group: str
    stop: tuple[StoppedGang, ...]
    least: int
    """At least so many have to be stopped: this is proven."""
    starts: bool
    """Whether the group starts in their place; others that wait may come first."""


@dataclass(frozen=True, slots=True)
class FoundRoom:
    """A plan, and the pods that it stops."""

    report: RoomReport
    group: GroupKey
    victims: tuple[Pod, ...]


def show_room(source: ClusterSource, named: str, namespace: str, rules: Rules, output: Output) -> None:
    """Exit: 0 if the group starts in place of what is stopped, 3 otherwise."""
    report = room_for(source, named, namespace, rules).report
    _show(report, output, advice_lines(report))
    raise typer.Exit(0 if report.starts else 3)


def make_room(client: ApiClient, named: str, namespace: str | None, rules: Rules, output: Output) -> None:
    """Show the plan, and carry it out. Exit: 3 if the group would not start; then nothing is stopped."""
    source = ApiSource(client)
    found = room_for(source, named, namespace or source.default_namespace, rules)
    report = found.report
    takes_back = any(one.then == TAKES_BACK for one in report.stop)
    is_useful = report.starts and not takes_back
    if is_useful:
        check_budgets(source, found.victims)
    _show(report, output, stopping_lines(report) if is_useful else advice_lines(report))
    if takes_back:
        raise Problem("nothing was stopped: what has a higher priority would take the place back")
    if not report.starts:
        raise typer.Exit(3)
    stop_gangs(client, found.group, found.victims, source.now(), lambda text: typer.echo(text, err=True))


def _show(report: RoomReport, output: Output, closing: Sequence[str]) -> None:
    if output.is_data:
        print_data(msgspec.to_builtins(report), output)
    else:
        for line in (*room_lines(report), *closing):
            typer.echo(line)


def room_for(source: ClusterSource, named: str, namespace: str, rules: Rules) -> FoundRoom:
    return room_in(source, survey_cluster(source, rules_in_force(rules, source)), named, namespace)


def room_in(source: ClusterSource, survey: Survey, named: str, namespace: str) -> FoundRoom:
    """Misuse or Problem: it is no group, does not wait, or nothing that could be stopped helps."""
    key = group_named(source, survey, "--make-room-for", named, namespace)
    if key.is_composite:
        raise Misuse("--make-room-for: name one of the groups of the tree, as in podgroup/NAME")
    what = described(key)
    plan = _plan(survey, key, what)
    pods = {pod.metadata.uid: pod for pod in survey.pods.values()}
    victims = tuple(pods[uid] for unit in plan.stopped or () for uid in unit.pods)
    return FoundRoom(_consequences(survey, key, what, plan, pods, source.now()), key, victims)


def _plan(survey: Survey, key: GroupKey, what: str) -> RoomPlan:
    problem = survey.engine.room_problem(key)
    if problem is None:
        raise Problem(f"{what} does not wait for a place, so no room has to be made for it")
    if not isinstance(problem, RemedyProblem):
        raise Problem(
            f"{what} has rules that the exact search does not know; `posse explain` says what is in its way"
        )
    plan = fewest_stopped(problem)
    if plan.is_impossible:
        raise Problem(
            f"{what} would not fit if everything on the nodes open to it were stopped;"
            " `posse explain` says what would help"
        )
    if plan.stopped is None:
        raise Problem(f"no answer was found for {what}; at least {plan.least} gangs have to be stopped")
    return plan


def _consequences(
    survey: Survey, key: GroupKey, what: str, plan: RoomPlan, pods: dict[str, Pod], now: float
) -> RoomReport:
    """Stop the gangs in the engine's copy of the cluster, let it decide, and submit them again."""
    engine, stopped = survey.engine, plan.stopped or ()
    for uid in (uid for unit in stopped for uid in unit.pods):
        engine.absorb(Vanished(pods[uid]))
    members = survey.members.get(key, {}).values()
    own = {pod.metadata.uid for pod in members if not pod.spec.node_name}
    starts = bool(settle(engine, pods, now).nodes.keys() & own)
    again = [_waiting(pods[uid]) for unit in stopped for uid in unit.pods]
    later = submit(engine, [Observed(pod) for pod in again], pods, now)
    preempted = {eviction.pod.uid for eviction in later.evictions} & own
    gangs = []
    for unit in stopped:
        then = STARTS_AGAIN if all(uid in later.nodes for uid in unit.pods) else WAITS
        gangs.append(StoppedGang(unit.name, len(unit.pods), TAKES_BACK if preempted else then))
    return RoomReport(what, tuple(gangs), plan.least, starts)


def _waiting(pod: Pod) -> Pod:
    spec = msgspec.structs.replace(pod.spec, node_name="")
    return msgspec.structs.replace(
        pod, spec=spec, status=msgspec.structs.replace(pod.status, phase="Pending", start_time="")
    )


def room_lines(report: RoomReport) -> list[str]:
    if not report.stop:
        return [f"{report.group} fits without stopping anything; others that wait may come before it."]
    count, proven = len(report.stop), len(report.stop) == report.least
    how = "fewer do not suffice, which is proven" if proven else f"at least {report.least} are needed"
    lines = [f"To make room for {report.group}, stop {count} of what runs ({how}):", ""]
    rows = [["GANG", "PODS", "THEN"], *([one.name, str(one.pods), one.then] for one in report.stop)]
    return [*lines, *aligned(rows), ""]


def advice_lines(report: RoomReport) -> list[str]:
    """What to do, where nothing is done yet."""
    if not report.stop:
        return []
    if not report.starts:
        return ["Others that wait would take the place before it; see `posse gangs`.", NOTHING_CHANGED]
    if any(one.then == TAKES_BACK for one in report.stop):
        return ["Stop these for good: they would take the place back.", NOTHING_CHANGED]
    again = f"when {report.group} has started, submit them again."
    return [f"Stop all of these first, such as with --apply; {again}", NOTHING_CHANGED]


def stopping_lines(report: RoomReport) -> list[str]:
    """What happens, where they are stopped now."""
    if not report.stop:
        return []
    again = f"submit others again when {report.group} has started."
    return [f"They are stopped now. Pods that have a controller come back by themselves, and wait; {again}"]
