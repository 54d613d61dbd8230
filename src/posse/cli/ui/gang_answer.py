"""What the page tells about one group: its story as `posse explain` prints it, members, events, remedies."""

from collections.abc import Iterator
from typing import Any

import msgspec

from posse.cli.explain.history import happenings, left_for
from posse.cli.explain.run import Asked, group_story
from posse.cli.explain.targets import typed
from posse.cli.reading.placements import gpus_of
from posse.cli.ui.document import group_id
from posse.cli.ui.remedy_questions import remedy_answer
from posse.engine.explain.explanation import Explanation
from posse.engine.keys import GroupKey
from posse.kinds.registry import EVENT
from posse.model.pod import Pod

Json = dict[str, Any]


def gang_answer(asked: Asked, key: GroupKey) -> Json:
    survey = asked.survey
    explanation = survey.explain(key)
    now = explanation.situation
    obj = survey.object_of(key) or {}
    return {
        "id": group_id(key),
        "target": typed(key),
        "namespace": key.namespace,
        "story": sections(group_story(asked, key)),
        "members": [_member(pod) for pod in _pods(asked, explanation, key)],
        "tree": [group_id(one.key) for one in explanation.tree],
        "conditions": (obj.get("status") or {}).get("conditions") or [],
        **_events(asked, key, str((obj.get("metadata") or {}).get("uid", ""))),
        **remedy_answer(explanation, key),
        "wouldGoTo": dict(now.placement),
        "closest": explanation.domain,
        "missing": [
            {"example": one.example.name, "pods": one.number, "fit": one.fit, "resource": one.resource}
            for one in explanation.obstacles
        ],
        "topologyKey": now.topology_key,
        "minimum": now.minimum,
        "priority": now.priority,
    }


def sections(lines: Iterator[str]) -> list[Json]:
    """Headings with the lines below them; the first line is the headline."""
    found: list[Json] = []
    for line in lines:
        if line and not line.startswith(" "):
            found.append({"heading": line, "lines": []})
        elif line:
            found[-1]["lines"].append(line.removeprefix("  "))
    return found


def _pods(asked: Asked, explanation: Explanation, key: GroupKey) -> list[Pod]:
    keys = [one.key for one in explanation.tree] if key.is_composite else [key]
    return [pod for one in keys for pod in asked.survey.members.get(one, {}).values()]


def _member(pod: Pod) -> Json:
    return {
        "name": pod.metadata.name,
        "node": pod.spec.node_name,
        "phase": pod.status.phase,
        "gpus": gpus_of([pod]),
        "priority": pod.spec.priority or 0,
        "isTerminating": bool(pod.metadata.deletion_timestamp),
        "nominatedNode": pod.status.nominated_node_name,
    }


def _events(asked: Asked, key: GroupKey, uid: str) -> Json:
    """Events about it, and about what was preempted for it."""
    members = asked.survey.members.get(key, {}).values()
    uids = {uid, *(pod.metadata.uid for pod in members)} - {""}
    events = list(asked.source.objects(EVENT, key.namespace, lambda _: None))
    return {
        "events": msgspec.to_builtins(happenings(events, uids)),
        "victims": msgspec.to_builtins(left_for(events, uids)),
    }
