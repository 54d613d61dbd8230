"""Runs `posse explain`: prints the engine's answer, then conditions and events from the API."""

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import takewhile

from rich.console import Console

from posse.cli.client import ApiClient
from posse.cli.configuration_file import engine_options
from posse.cli.explain.cluster_reader import Survey, listed, survey_cluster
from posse.cli.explain.ended_members import has_ended
from posse.cli.explain.group_words import headline, title
from posse.cli.explain.history import condition_lines, happening_lines, happenings, preemptors
from posse.cli.explain.targets import Target, groups_meant, listing, parse_target, typed
from posse.cli.explain.text import group_lines, headed, pod_lines
from posse.cli.problems import Problem
from posse.cli.session import Rules
from posse.engine.explain.group_status import GroupStatus
from posse.engine.groups.forms import DISRUPTION_TARGET, group_of
from posse.engine.keys import GroupKey
from posse.engine.preemption.marks import was_preempted
from posse.kinds.machinery.durations import since
from posse.kinds.registry import EVENT, POD
from posse.model.pod import Pod


def tell(client: ApiClient, words: tuple[str, str], namespace: str, rules: Rules) -> None:
    target, options = parse_target(*words), engine_options(rules)
    survey = survey_cluster(client, options)
    for number, story in enumerate(_stories(client, survey, target, namespace)):
        print_lines(["", *story] if number else story)
    survey.warn_of_faults()


def _stories(client: ApiClient, survey: Survey, target: Target, namespace: str) -> Iterator[Iterator[str]]:
    now = time.time()
    if target.kind is POD:
        yield _pod_story(client, survey, _pod_named(survey, target.name, namespace), now)
        return
    for key in groups_meant(survey, target, namespace):
        yield _group_story(client, survey, key, now)


def print_lines(lines: Iterable[str]) -> None:
    """Print headings in bold on a terminal and plain text elsewhere; long lines are never broken."""
    console = Console(soft_wrap=True, highlight=False, markup=False, emoji=False)
    for line in lines:
        console.print(line, style=None if line.startswith(" ") else "bold")


def _group_story(client: ApiClient, survey: Survey, key: GroupKey, now: float) -> Iterator[str]:
    explanation = survey.explain(key)
    told = list(group_lines(explanation, survey.fates(key), since(survey.created(key), now)))
    yield from told
    known = ". ".join(explanation.situation.sentences)
    if not explanation.obstacles:
        # With obstacles, the whole message was printed above in other words.
        known = said_already(explanation.situation.sentences, "\n".join(told))
    for line in _remembered_of_group(client, survey, explanation.situation, now):
        # The stored message mostly repeats the text above, and is long.
        yield line.replace(known, "as above") if known else line


def said_already(sentences: Sequence[str], told: str) -> str:
    """Return the leading sentences of a message that are already printed, without the last full stop."""
    return ". ".join(takewhile(lambda one: one in told, sentences))


def _remembered_of_group(
    client: ApiClient, survey: Survey, situation: GroupStatus, now: float
) -> Iterator[str]:
    key = situation.key
    obj = survey.object_of(key)
    if conditions := condition_lines(obj, now, situation.message):
        yield from headed("What its status says", conditions)
    members = survey.members.get(key, {}).values()
    group_uid = obj["metadata"].get("uid", "") if obj is not None else ""
    yield from _events(client, key.namespace, members, group_uid, now)


def _pod_named(survey: Survey, name: str, namespace: str) -> Pod:
    pod = survey.pods.get((namespace, name))
    if pod is None:
        others = [other for place, other in survey.pods if place == namespace]
        raise Problem(f'there is no pod "{name}" in namespace {namespace}; {listing(sorted(others))}')
    return pod


def _pod_story(client: ApiClient, survey: Survey, pod: Pod, now: float) -> Iterator[str]:
    explanation = survey.engine.explain_pod(pod.metadata.uid)
    if explanation is None:
        yield f"Pod {pod.metadata.namespace}/{pod.metadata.name} {_not_known(pod)}."
    else:
        yield from pod_lines(explanation)
    group = group_of(pod)
    if group is not None:
        yield from headed("Its group", _group_of_pod(survey, group))
    fits = explanation is not None and bool(explanation.target)
    yield from _remembered_of_pod(client, pod, now, "" if fits else None)


def _group_of_pod(survey: Survey, key: GroupKey) -> Iterator[str]:
    is_known = key in survey.group_keys()
    yield headline(survey.explain(key).situation, survey.fates(key)) if is_known else title(key)
    yield f"posse explain {typed(key)} -n {key.namespace}"


def _not_known(pod: Pod) -> str:
    if has_ended(pod):
        return f"has finished ({pod.status.phase})"
    return (
        f"is not scheduled by Posse: its schedulerName is {pod.spec.scheduler_name!r}, or it is invalid. "
        "If that is Posse under another name, pass its --scheduler-name or --config"
    )


def _remembered_of_pod(client: ApiClient, pod: Pod, now: float, verdict: str | None) -> Iterator[str]:
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
        lines = condition_lines({"status": {"conditions": told}}, now, verdict)
        yield from headed("What its status says", lines)
    yield from _events(client, pod.metadata.namespace, [pod], "", now)


def _events(
    client: ApiClient, namespace: str, members: Collection[Pod], group_uid: str, now: float
) -> Iterator[str]:
    events = list(listed(client, EVENT, namespace, lambda _: None))
    victims = {pod.metadata.uid for pod in members if was_preempted(pod)}
    if causes := preemptors(events, {group_uid, *victims} - {""}):
        yield from headed("Preempted for", causes)
    found = happenings(events, {group_uid, *(pod.metadata.uid for pod in members)})
    if found:
        yield from headed("Latest events", happening_lines(found, now))
