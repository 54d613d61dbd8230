"""Summaries of a controller such as a Job: its groups and pods by state, and the causes of waiting."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from posse.cli.explain.group_line import GroupLine
from posse.cli.explain.group_table import table
from posse.cli.explain.group_words import groups, pods, shown_state
from posse.cli.explain.targets import Target, listing
from posse.cli.problems import Problem
from posse.cli.reading.cluster_reader import Survey
from posse.cli.reading.ended_members import has_ended
from posse.cli.reading.sources import ClusterSource
from posse.engine.explain.group_status import State
from posse.engine.groups.annotations import EXPECTED_DURATION, GROUP_ANNOTATIONS
from posse.engine.keys import GroupKey
from posse.model.pod import Pod

Json = dict[str, Any]

MAX_STORIES = 3
"""Up to this many groups are explained one by one."""
MAX_ROWS = 10
INDENT = "  "
KUEUE_QUEUE_LABEL = "kueue.x-k8s.io/queue-name"


def controller_object(source: ClusterSource, target: Target, namespace: str) -> Json:
    kind = target.kind
    if not source.serves(kind):
        raise Problem(f"this cluster has no {kind.plural}")
    found = {obj["metadata"]["name"]: obj for obj in source.objects(kind, namespace, lambda _: None)}
    if target.name not in found:
        others = listing(sorted(found), target.name)
        raise Problem(f'there is no {kind.name} "{target.name}" in namespace {namespace}; {others}')
    return found[target.name]


def controller_lines(obj: Json, keys: Sequence[GroupKey], members: Sequence[Pod]) -> Iterator[str]:
    """The first lines of the answer: what belongs to the controller."""
    who = f"{obj['kind']} {obj['metadata'].get('namespace', '')}/{obj['metadata']['name']}"
    leaves = [key for key in keys if not key.is_composite]
    has = [text for number, text in ((len(leaves), groups(len(leaves))),) if number]
    counts = Counter(_state_of(pod) for pod in members)
    has.append(f"{pods(len(members))} ({_listed(counts)})" if members else "no pods")
    yield f"{who} has {' and '.join(has)}.{_suspension(obj)}"
    yield from (f"  not used       {text}" for text in _unused(obj))


def _unused(obj: Json) -> Iterator[str]:
    """Annotations of a controller that its pod template does not have; of controllers only Jobs are read."""
    template = (obj.get("spec") or {}).get("template")
    if template is None:
        return
    annotations = (template.get("metadata") or {}).get("annotations") or {}
    own = obj["metadata"].get("annotations") or {}
    for name in GROUP_ANNOTATIONS:
        is_read = name == EXPECTED_DURATION and obj["kind"] == "Job"
        if name in own and name not in annotations and not is_read:
            yield f"its annotation {name}: write it on spec.template.metadata"


def _suspension(obj: Json) -> str:
    if not (obj.get("spec") or {}).get("suspend"):
        return ""
    queue = (obj["metadata"].get("labels") or {}).get(KUEUE_QUEUE_LABEL)
    if not queue:
        return " It is suspended."
    return (
        f" It is suspended, and waits for queue {queue} of Kueue unless its owner suspended it; "
        "`kubectl get workloads.kueue.x-k8s.io` says how far it is."
    )


def summary(lines: Sequence[GroupLine], now: float) -> Iterator[str]:
    """States of many groups, those that wait first, and how often each cause was found."""
    leaves = [line for line in lines if line.kind == "PodGroup"]
    yield f"{groups(len(leaves))}: {_listed(Counter(line.state for line in leaves))}"
    for row in table(lines[:MAX_ROWS], now, with_namespace=False, wide=False):
        yield f"{INDENT}{row}"
    if len(lines) > MAX_ROWS:
        yield f"{INDENT}and {len(lines) - MAX_ROWS} more; `posse gangs` lists them all"


def first_waiting(survey: Survey, keys: Sequence[GroupKey]) -> GroupKey | None:
    """The first of these groups that waits for capacity, else the first that is not at rest."""
    known = {now.key: shown_state(now, survey.fates(now.key)) for now in survey.situations()}
    waiting = [key for key in keys if known[key] == State.WAITING]
    others = [key for key in keys if known[key] not in {State.SCHEDULED, "Finished"}]
    return next(iter(waiting or others), None)


def _state_of(pod: Pod) -> str:
    if has_ended(pod):
        return pod.status.phase.lower()
    if pod.metadata.deletion_timestamp:
        return "terminating"
    return "on nodes" if pod.spec.node_name else "waiting"


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{number} {what}" for what, number in counts.most_common())
