"""Runs `posse explain`: prints the engine's answer, then conditions and events from the API."""

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from rich.console import Console

from posse.cli.configuration_file import rules_in_force
from posse.cli.explain.controller_words import (
    MAX_STORIES,
    controller_lines,
    controller_object,
    first_waiting,
    summary,
)
from posse.cli.explain.data import group_data, pod_data
from posse.cli.explain.forecast_words import starts_text
from posse.cli.explain.group_line import in_order, lines_of
from posse.cli.explain.group_words import headline, title
from posse.cli.explain.history import condition_lines, happening_lines, happenings, preemptors
from posse.cli.explain.queue_words import published_place
from posse.cli.explain.run_time_words import deadline_text, learned_text
from posse.cli.explain.targets import (
    Target,
    group_probably_meant,
    groups_meant,
    listing,
    parse_target,
    typed,
)
from posse.cli.explain.text import group_lines, headed, pod_lines
from posse.cli.output import Output, print_data
from posse.cli.problems import Problem
from posse.cli.reading.cluster_reader import Survey, survey_cluster
from posse.cli.reading.ended_members import has_ended
from posse.cli.reading.forecasts import forecasts_for, published_forecasts
from posse.cli.reading.owners import CONTROLLERS, Owners
from posse.cli.reading.sources import ClusterSource
from posse.cli.session import Rules
from posse.engine.explain.group_status import GroupStatus
from posse.engine.forecast.forecast import Unforeseen
from posse.engine.forecast.forecast_note import note_of
from posse.engine.groups.forms import DISRUPTION_TARGET, group_of
from posse.engine.keys import GroupKey
from posse.engine.preemption.marks import was_preempted
from posse.engine.queue.run_times import ExpectedRunTime, RunTimeSource
from posse.kinds.machinery.durations import since
from posse.kinds.registry import EVENT, POD
from posse.model.pod import Pod

Json = dict[str, Any]


def tell(source: ClusterSource, words: tuple[str, str], namespace: str, rules: Rules, output: Output) -> None:
    target, options = parse_target(*words), rules_in_force(rules, source)
    survey = survey_cluster(source, options)
    asked = Asked(source, survey, Owners(survey, source, namespace), source.now())
    if output.is_data:
        print_data(_data(asked, target, namespace), output)
        return
    for number, story in enumerate(_stories(asked, target, namespace)):
        print_lines(["", *story] if number else story)
    survey.warn_of_faults()


@dataclass(frozen=True, slots=True)
class Asked:
    """What all parts of an answer are made from."""

    source: ClusterSource
    survey: Survey
    owners: Owners
    now: float


def _data(asked: Asked, target: Target, namespace: str) -> list[Json]:
    """All groups that are meant, then pods without a group."""
    survey = asked.survey
    if target.kind is POD:
        return [pod_data(survey, _pod_named(survey, target.name, namespace))]
    if target.kind not in CONTROLLERS:
        return group_data(survey, asked.owners, groups_meant(survey, target, namespace), asked.now)
    uid = controller_object(asked.source, target, namespace)["metadata"].get("uid", "")
    alone = [pod for pod in asked.owners.pods_of(uid, namespace) if group_of(pod) is None]
    groups = group_data(survey, asked.owners, asked.owners.groups_of(uid, namespace), asked.now)
    return [*groups, *(pod_data(survey, pod) for pod in alone)]


def _stories(asked: Asked, target: Target, namespace: str) -> Iterator[Iterable[str]]:
    if target.kind is POD:
        yield _pod_story(asked, _pod_named(asked.survey, target.name, namespace))
    elif target.kind in CONTROLLERS:
        yield from _controller_stories(asked, target, namespace)
    else:
        yield from _group_stories(asked, groups_meant(asked.survey, target, namespace))


def _controller_stories(asked: Asked, target: Target, namespace: str) -> Iterator[Iterable[str]]:
    """A summary, then the story of what waits: of its group, or of a pod without a group."""
    obj = controller_object(asked.source, target, namespace)
    uid = obj["metadata"].get("uid", "")
    pods = asked.owners.pods_of(uid, namespace)
    keys = asked.owners.groups_of(uid, namespace)
    own = [*controller_lines(obj, keys, pods), *_told_of(asked, obj)]
    yield own
    if keys:
        yield from _group_stories(asked, keys)
    elif waiting := [pod for pod in pods if not pod.spec.node_name and not has_ended(pod)]:
        yield _pod_story(asked, waiting[0])


def _group_stories(asked: Asked, keys: Sequence[GroupKey]) -> Iterator[Iterable[str]]:
    """The story of each group; of many, a summary and the story of the first that waits."""
    if len(keys) <= MAX_STORIES:
        yield from (group_story(asked, key) for key in keys)
        return
    lines = in_order(lines_of(asked.survey, asked.owners, None, keys))
    yield summary(lines, asked.now)
    if first := first_waiting(asked.survey, keys):
        yield group_story(asked, first)


def _told_of(asked: Asked, obj: Json) -> Iterator[str]:
    if conditions := condition_lines(obj, asked.now):
        yield from headed("What its status says", conditions)
    metadata = obj["metadata"]
    yield from _events(asked, metadata.get("namespace", ""), (), metadata.get("uid", ""))


def print_lines(lines: Iterable[str]) -> None:
    """Print headings in bold on a terminal and plain text elsewhere; long lines are never broken."""
    console = Console(soft_wrap=True, highlight=False, markup=False, emoji=False)
    for line in lines:
        console.print(line, style=None if line.startswith(" ") else "bold")


def group_story(asked: Asked, key: GroupKey) -> Iterator[str]:
    survey = asked.survey
    explanation = survey.explain(key)
    age = since(survey.created(key), asked.now)
    root = explanation.tree[0].key if explanation.tree else key
    place = published_place(published_forecasts(survey, asked.now).get(root), asked.now)
    facts = list(_facts(asked, key, explanation.run_time))
    told = list(group_lines(explanation, survey.fates(key), age, facts, place))
    yield from told
    known = ". ".join(explanation.situation.sentences)
    if not explanation.obstacles:
        # With obstacles, the whole message was printed above in other words.
        known = said_already(explanation.situation.sentences, "\n".join(told))
    for line in _remembered_of_group(asked, explanation.situation):
        # The stored message mostly repeats the text above, and is long.
        yield line.replace(known, "as above") if known else line


def said_already(sentences: Sequence[str], told: str) -> str:
    """Return the leading sentences of a message that are already printed, without the last full stop."""
    return ". ".join(takewhile(lambda one: one in told, sentences))


def _facts(asked: Asked, key: GroupKey, known: ExpectedRunTime | None = None) -> Iterator[tuple[str, str]]:
    """`known` is its run time as far as the cluster tells; its scheduler may have learned more."""
    named, owner = asked.owners.controller_named(key), asked.owners.owner_of(key)
    if owner is not None:
        yield "owner", f"{owner}{' (controllerRef of its Workload)' if named is not None else ''}"
    if meant := group_probably_meant(asked.survey, key):
        yield "did you mean", f"{meant}, which exists"
    forecast = forecasts_for(asked.survey, asked.now).get(key)
    if forecast is not None and forecast.unforeseen is not Unforeseen.NODES:
        # For what fits on no node, the text below says so, with what would help.
        yield "starts", starts_text(note_of(forecast), asked.now, key.namespace)
    if known is not None and math.isfinite(known.deadline):
        starts = forecast.earliest if forecast is not None else None
        yield "deadline", deadline_text(known.deadline, starts, asked.now)
    is_unknown = known is not None and known.source is RunTimeSource.UNKNOWN
    if forecast is not None and forecast.learned is not None and is_unknown:
        yield "run time", learned_text(forecast.learned)


def _remembered_of_group(asked: Asked, situation: GroupStatus) -> Iterator[str]:
    key = situation.key
    obj = asked.survey.object_of(key)
    if conditions := condition_lines(obj, asked.now, situation.message):
        yield from headed("What its status says", conditions)
    members = asked.survey.members.get(key, {}).values()
    group_uid = obj["metadata"].get("uid", "") if obj is not None else ""
    yield from _events(asked, key.namespace, members, group_uid)


def _pod_named(survey: Survey, name: str, namespace: str) -> Pod:
    pod = survey.pods.get((namespace, name))
    if pod is None:
        others = [other for place, other in survey.pods if place == namespace]
        raise Problem(f'there is no pod "{name}" in namespace {namespace}; {listing(sorted(others), name)}')
    return pod


def _pod_story(asked: Asked, pod: Pod) -> Iterator[str]:
    explanation = asked.survey.engine.explain_pod(pod.metadata.uid)
    if explanation is None:
        yield f"Pod {pod.metadata.namespace}/{pod.metadata.name} {_not_known(asked, pod)}."
    else:
        yield from pod_lines(explanation)
    group = group_of(pod)
    if group is not None:
        yield from headed("Its group", _group_of_pod(asked, group))
    fits = explanation is not None and bool(explanation.target)
    yield from _remembered_of_pod(asked, pod, "" if fits else None)


def _group_of_pod(asked: Asked, key: GroupKey) -> Iterator[str]:
    survey = asked.survey
    is_known = key in survey.group_keys()
    yield headline(survey.explain(key).situation, survey.fates(key)) if is_known else title(key)
    yield from (f"{name}: {text}" for name, text in _facts(asked, key))
    yield f"posse explain {typed(key)} -n {key.namespace}"


def _not_known(asked: Asked, pod: Pod) -> str:
    if has_ended(pod):
        return f"has finished ({pod.status.phase})"
    if asked.survey.engine.schedules(pod):
        return "cannot be scheduled: its spec is invalid"
    return (
        f"is not scheduled by Posse: its schedulerName is {pod.spec.scheduler_name!r}. "
        "If that is Posse under another name, pass its --scheduler-name or --config"
    )


def _remembered_of_pod(asked: Asked, pod: Pod, verdict: str | None) -> Iterator[str]:
    told = [
        {
            "type": one.type,
            "status": one.status,
            "reason": one.reason,
            "message": one.message,
            "lastTransitionTime": one.last_transition_time,
        }
        for one in pod.status.conditions
        if one.type in {"PodScheduled", DISRUPTION_TARGET}
    ]
    if told:
        lines = condition_lines({"status": {"conditions": told}}, asked.now, verdict)
        yield from headed("What its status says", lines)
    yield from _events(asked, pod.metadata.namespace, [pod], "")


def _events(asked: Asked, namespace: str, members: Collection[Pod], group_uid: str) -> Iterator[str]:
    events = list(asked.source.objects(EVENT, namespace, lambda _: None))
    victims = {pod.metadata.uid for pod in members if was_preempted(pod)}
    if causes := preemptors(events, {group_uid, *victims} - {""}):
        yield from headed("Preempted for", causes)
    found = happenings(events, {group_uid, *(pod.metadata.uid for pod in members)})
    if found:
        yield from headed("Latest events", happening_lines(found, asked.now))
