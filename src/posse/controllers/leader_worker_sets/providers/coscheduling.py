"""Gangs for the coscheduling plugin: a PodGroup of scheduling.x-k8s.io per replica, which pods name by a
label.

Pods must name the scheduler that runs the plugin themselves. In an embedded cluster Posse understands these
groups as well.
"""

from typing import Any

from posse.controllers.leader_worker_sets.keys import labels_of
from posse.controllers.leader_worker_sets.providers.contract import (
    ForeignGroups,
    Made,
    group_metadata,
    minimum,
)
from posse.controllers.leader_worker_sets.providers.requirements import replica_requests
from posse.kinds.registry import COSCHEDULING_POD_GROUP
from posse.model.leader_worker_set import LeaderWorkerSetSpec

Json = dict[str, Any]

GROUP_LABEL = "scheduling.x-k8s.io/pod-group"


class CoschedulingProvider(ForeignGroups):
    name = "coscheduling"
    kinds = (COSCHEDULING_POD_GROUP,)

    def inject(self, pod: Json, group: str) -> None:
        pod["metadata"].setdefault("labels", {})[GROUP_LABEL] = group

    def group_of(self, leader: Json) -> str:
        return str(labels_of(leader).get(GROUP_LABEL, ""))

    def group(self, _lws: Json, spec: LeaderWorkerSetSpec, leader: Json) -> Made:
        obj = {
            "apiVersion": COSCHEDULING_POD_GROUP.api_version,
            "kind": COSCHEDULING_POD_GROUP.name,
            "metadata": group_metadata(leader, self.group_of(leader)),
            "spec": {"minMember": minimum(spec), "minResources": replica_requests(spec)},
        }
        return Made(COSCHEDULING_POD_GROUP, obj)
