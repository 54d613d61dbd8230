"""Gangs for YuniKorn: each replica is an application, described by annotations on its pods alone.

Every pod carries the whole description, since any of them may be seen first. The capacity of all task groups
is reserved as soon as one pod exists, so that a leader which must be ready before its workers are made does
not wait for capacity. Pods must name YuniKorn as their scheduler themselves.
"""

import json
from typing import Any

from posse.controllers.leader_worker_sets.keys import annotations_of, is_leader, labels_of
from posse.controllers.leader_worker_sets.providers.contract import ForeignGroups, Made
from posse.controllers.leader_worker_sets.providers.requirements import as_quantities, pod_requests
from posse.kinds.machinery.kind import Kind
from posse.model.leader_worker_set import LeaderWorkerSetSpec, LeaderWorkerTemplate
from posse.model.pod import PodTemplateSpec

Json = dict[str, Any]

PREFIX = "yunikorn.apache.org/"
APPLICATION = f"{PREFIX}app-id"
QUEUE = f"{PREFIX}queue"
TASK_GROUP_NAME = f"{PREFIX}task-group-name"
TASK_GROUPS = f"{PREFIX}task-groups"
POLICY_PARAMETERS = f"{PREFIX}schedulingPolicyParameters"
LEADER, WORKER = "leader", "worker"


class YunikornProvider(ForeignGroups):
    name = "yunikorn"
    waits_for_all = False
    kinds: tuple[Kind, ...] = ()

    def prepare(self, lws: Json, spec: LeaderWorkerSetSpec, template: Json) -> None:
        annotations, labels = template["metadata"]["annotations"], template["metadata"]["labels"]
        groups = task_groups(spec.leader_worker_template)
        has_own = is_leader(template) and len(groups) > 1
        annotations[TASK_GROUP_NAME] = LEADER if has_own else WORKER
        annotations[TASK_GROUPS] = json.dumps(groups, separators=(",", ":"))
        if parameters := annotations_of(lws).get(POLICY_PARAMETERS):
            annotations[POLICY_PARAMETERS] = parameters
        if queue := labels_of(lws).get(QUEUE) or annotations_of(lws).get(QUEUE):
            labels[QUEUE] = queue

    def inject(self, pod: Json, group: str) -> None:
        pod["metadata"].setdefault("labels", {})[APPLICATION] = group

    def group_of(self, leader: Json) -> str:
        return str(labels_of(leader).get(APPLICATION, ""))

    def group(self, _lws: Json, _spec: LeaderWorkerSetSpec, _leader: Json) -> Made | None:
        return None


def task_groups(template: LeaderWorkerTemplate) -> list[Json]:
    """A task group is of equal pods: leaders have one of their own if they are made from another template."""
    size = template.group_size
    if template.leader == template.worker_template or size == 1:
        return [_task_group(WORKER, size, template.leader)]
    return [
        _task_group(LEADER, 1, template.leader),
        _task_group(WORKER, size - 1, template.worker_template),
    ]


def _task_group(name: str, count: int, template: PodTemplateSpec) -> Json:
    return {"name": name, "minMember": count, "minResource": as_quantities(pod_requests(template))}
