"""The data of the page: nodes with what runs there, groups, single pods, and totals.

It is made from the status that `posse gangs` and `posse top` print.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from posse.cli.explain.group_line import GroupLine, lines_of
from posse.cli.explain.targets import short_name
from posse.cli.reading.cluster_reader import Survey
from posse.cli.reading.ended_members import has_ended
from posse.cli.reading.forecasts import published_forecasts
from posse.cli.reading.owners import Owners
from posse.cli.reading.placements import domain_label, is_gpu, rack_label, requests_of
from posse.cli.top.usage import default_resource, total_of
from posse.engine.groups.forms import group_of
from posse.engine.keys import GroupKey
from posse.engine.nodes.resources import CPU, MEMORY, PODS, node_allocatable
from posse.model.node import Node
from posse.model.pod import Pod
from posse.model.timestamps import TimestampError, format_timestamp, parse_timestamp

Json = dict[str, Any]

BLOCKS = ("block", "zone")
"""What racks stand in, by the last part of the label; the first that nodes have."""


def group_id(key: GroupKey) -> str:
    return _id(
        key.namespace, "CompositePodGroup" if key.is_composite else "PodGroup", key.form, short_name(key)
    )


def pod_id(pod: Pod) -> str:
    return _id(pod.metadata.namespace, "Pod", "", pod.metadata.name)


def _id(namespace: str, kind: str, form: str, name: str) -> str:
    return f"{namespace}/{kind}/{form}/{name}"


def document_of(survey: Survey, owners: Owners, now: float) -> Json:
    resource = default_resource(survey.nodes.values())
    return {
        "cluster": _cluster(survey, resource),
        "nodes": _nodes(survey, resource),
        "gangs": _gangs(survey, owners, now),
        "pods": {pod_id(pod): _alone(pod, resource) for pod in _pods_alone(survey)},
    }


def _cluster(survey: Survey, resource: str) -> Json:
    total = total_of(survey, resource)
    nodes = survey.nodes.values()
    return {
        "resource": resource,
        "isGpu": is_gpu(resource),
        "total": total.total,
        "held": total.held,
        "reserved": total.reserved,
        "free": total.free,
        "closed": total.closed,
        "requested": total.waiting,
        "rackLabel": rack_label(nodes),
        "blockLabel": _block_label(nodes),
    }


def _block_label(nodes: Iterable[Node]) -> str:
    known = list(nodes)
    return next((label for noun in BLOCKS if (label := domain_label(known, noun))), "")


def _nodes(survey: Survey, resource: str) -> dict[str, Json]:
    holders: dict[str, dict[str, int]] = {}
    used: dict[str, Counter[str]] = {}
    for pod in survey.pods.values():
        requests = requests_of(pod) if pod.spec.node_name and not has_ended(pod) else {}
        used.setdefault(pod.spec.node_name, Counter()).update({PODS: 1} | requests)
        if amount := requests.get(resource, 0):
            key = group_of(pod)
            who = group_id(key) if key is not None else pod_id(pod)
            own = holders.setdefault(pod.spec.node_name, {})
            own[who] = own.get(who, 0) + amount
    nodes = survey.nodes.values()
    rack, block = rack_label(nodes), _block_label(nodes)
    return {
        name: {
            "rack": node.metadata.labels.get(rack, ""),
            "block": node.metadata.labels.get(block, ""),
            "total": node_allocatable(node).get(resource, 0),
            "holders": holders.get(name, {}),
            "closed": _why_closed(node, used.get(name, {})),
        }
        for name, node in survey.nodes.items()
    }


def _why_closed(node: Node, used: Mapping[str, int]) -> str:
    """Why free capacity there is stranded: no pod may start, or something else has run out."""
    if node.spec.unschedulable:
        return "cordoned"
    taints = [one.key for one in node.spec.taints if one.effect in {"NoSchedule", "NoExecute"}]
    if taints:
        return f"tainted {', '.join(taints)}"
    there = node_allocatable(node)
    full = [name for name in (CPU, MEMORY, PODS) if name in there and used.get(name, 0) >= there[name]]
    return f"no {' and '.join(full)} left" if full else ""


def _gangs(survey: Survey, owners: Owners, now: float) -> dict[str, Json]:
    lines = list(lines_of(survey, owners, None, forecasts=published_forecasts(survey, now)))
    positions = _positions(lines, is_by_age=not survey.engine.is_queue_by_run_time)
    times = _times(survey, now)
    found: dict[str, Json] = {}
    root = ""
    for line in lines:
        name = _id(line.namespace, line.kind, line.form, line.name)
        root = name if not line.depth else root
        found[name] = msgspec.to_builtins(line) | {
            "isWaiting": line.is_waiting,
            "position": positions.get(id(line), 0),
            "root": root,
            **times.get(name, {}),
        }
    return found


def _positions(lines: Iterable[GroupLine], *, is_by_age: bool) -> dict[int, int]:
    """The place among groups that wait: by priority, then by age or as their scheduler has told."""
    waiting = [line for line in lines if line.is_waiting and not line.depth]
    waiting = [line for line in waiting if is_by_age or _entries_ahead(line) is not None]
    waiting.sort(
        key=lambda line: (-line.priority, _entries_ahead(line) or 0, line.created, line.namespace, line.name)
    )
    return {id(line): number for number, line in enumerate(waiting, start=1)}


def _entries_ahead(line: GroupLine) -> int | None:
    ahead = line.forecast.ahead if line.forecast is not None else None
    return ahead.pods + ahead.groups if ahead is not None else None


def _times(survey: Survey, now: float) -> dict[str, Json]:
    """When the pods of each group were first on nodes, and when the last of them ended or is expected to."""
    found = {}
    for key, members in survey.members.items():
        started = min((time for pod in members.values() if (time := _scheduled(pod))), default="")
        ended = [_ended(pod) for pod in members.values() if has_ended(pod)]
        has_ended_whole = len(ended) == len(members)
        found[group_id(key)] = {
            "started": started,
            "ended": max(ended, default="") if has_ended_whole else "",
            "expectedEnd": "" if has_ended_whole else _expected_end(survey, key, started, now),
        }
    return found


def _expected_end(survey: Survey, key: GroupKey, started: str, now: float) -> str:
    """Empty for a group that waits, runs longer than was expected, or may run for any time."""
    try:
        end = parse_timestamp(started) + survey.engine.expected_run_time(key).usual
    except TimestampError:
        return ""
    return format_timestamp(end) if now < end < math.inf else ""


def _scheduled(pod: Pod) -> str:
    conditions = [one for one in pod.status.conditions if one.type == "PodScheduled" and one.status == "True"]
    return next((one.last_transition_time for one in conditions), "")


def _ended(pod: Pod) -> str:
    return max((one.last_transition_time for one in pod.status.conditions), default="")


def _pods_alone(survey: Survey) -> Iterator[Pod]:
    return (pod for pod in survey.pods.values() if group_of(pod) is None and not has_ended(pod))


def _alone(pod: Pod, resource: str) -> Json:
    return {
        "namespace": pod.metadata.namespace,
        "name": pod.metadata.name,
        "node": pod.spec.node_name,
        "priority": pod.spec.priority or 0,
        "created": pod.metadata.creation_timestamp,
        "amount": requests_of(pod).get(resource, 0),
    }
