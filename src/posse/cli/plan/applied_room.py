"""Stops gangs to make room for a group: each pod is marked as a victim of the group, and deleted.

The scheduler reads the marks: nothing overtakes the group until its victims are gone.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from posse.cli.client import ApiClient, Refused
from posse.cli.problems import Problem
from posse.client.paths import path_of
from posse.engine.groups.forms import DISRUPTION_TARGET
from posse.engine.keys import GroupKey
from posse.engine.preemption.marks import PREEMPTION, mark_by_operator
from posse.kinds.machinery.errors import CONFLICT, NOT_FOUND
from posse.kinds.registry import POD
from posse.model.pod import Pod
from posse.model.timestamps import format_timestamp

Json = dict[str, Any]


def stop_gangs(
    client: ApiClient, group: GroupKey, victims: Sequence[Pod], now: float, say: Callable[[str], None]
) -> None:
    """Problem: a pod was not marked or not deleted. Others may have been."""
    condition = {
        "type": DISRUPTION_TARGET,
        "status": "True",
        "reason": PREEMPTION,
        "message": mark_by_operator(group),
        "lastTransitionTime": format_timestamp(now),
    }
    # The scheduler knows of all of them before the first leaves.
    marked = [pod for pod in victims if _done(pod, partial(_mark, client, pod, condition))]
    for pod in marked:
        if _done(pod, partial(client.delete, _path(pod), uid=pod.metadata.uid)):
            say(f"{_name(pod)} stopped")


def _done(pod: Pod, write: Callable[[], object]) -> bool:
    """Whether it was written; not if the pod is gone."""
    try:
        write()
    except Refused as refusal:
        if refusal.code in {NOT_FOUND, CONFLICT}:
            return False
        raise Problem(f"{_name(pod)} was not stopped: {refusal}") from refusal
    return True


def _mark(client: ApiClient, pod: Pod, condition: Json) -> Json:
    change = {"metadata": {"uid": pod.metadata.uid}, "status": {"conditions": [condition]}}
    return client.patch(_path(pod, "status"), change)


def _path(pod: Pod, subresource: str = "") -> str:
    return path_of(POD, "v1", pod.metadata.namespace, pod.metadata.name, subresource)


def _name(pod: Pod) -> str:
    return f"pod {pod.metadata.namespace}/{pod.metadata.name}"
