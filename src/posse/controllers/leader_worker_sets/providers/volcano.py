"""Gangs for Volcano: a PodGroup of scheduling.volcano.sh for each replica, which pods name by an annotation.

Pods must name Volcano as their scheduler themselves. In an embedded cluster Posse understands these groups as
well.
"""

from typing import Any

from posse.controllers.leader_worker_sets.keys import annotations_of
from posse.controllers.leader_worker_sets.providers.contract import (
    ForeignGroups,
    Made,
    group_metadata,
    minimum,
)
from posse.controllers.leader_worker_sets.providers.requirements import replica_requests
from posse.kinds.registry import VOLCANO_POD_GROUP
from posse.model.leader_worker_set import LeaderWorkerSetSpec

Json = dict[str, Any]

GROUP_NAME = "scheduling.k8s.io/group-name"
QUEUE_NAME = "scheduling.volcano.sh/queue-name"
INHERITED = "volcano.sh/"


class VolcanoProvider(ForeignGroups):
    name = "volcano"
    kinds = (VOLCANO_POD_GROUP,)

    def inject(self, pod: Json, group: str) -> None:
        pod["metadata"].setdefault("annotations", {})[GROUP_NAME] = group

    def group_of(self, leader: Json) -> str:
        return str(annotations_of(leader).get(GROUP_NAME, ""))

    def group(self, lws: Json, spec: LeaderWorkerSetSpec, leader: Json) -> Made:
        metadata = group_metadata(leader, self.group_of(leader))
        inherited = {name: text for name, text in annotations_of(lws).items() if name.startswith(INHERITED)}
        wanted: Json = {"minMember": minimum(spec), "minResources": replica_requests(spec)}
        if queue := annotations_of(lws).get(QUEUE_NAME):
            wanted["queue"] = queue
        obj = {
            "apiVersion": VOLCANO_POD_GROUP.api_version,
            "kind": VOLCANO_POD_GROUP.name,
            "metadata": metadata | ({"annotations": inherited} if inherited else {}),
            "spec": wanted,
        }
        return Made(VOLCANO_POD_GROUP, obj)
