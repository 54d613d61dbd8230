"""Completes pods of a LeaderWorkerSet after creation, in clusters without the webhook for it.

Leaders are made from one template, so they are told apart afterwards, by labels; a scheduling gate keeps them
from being scheduled before that. They are all reached through the Service that is shared, even where each
replica has one of its own. What their containers are told is worked out by the kubelet. What cannot be done
in this way is refused.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from posse.controllers.gated_pods import GATE, let_through
from posse.controllers.leader_worker_sets.environment import (
    GROUP_SIZE,
    LEADER_ADDRESS,
    TPU_RESOURCE,
    WORKER_INDEX_VARIABLE,
    containers_of,
)
from posse.controllers.leader_worker_sets.keys import (
    GROUP_INDEX,
    LEADER,
    NAME,
    SIZE,
    WORKER_INDEX,
    annotations_of,
    is_leader,
    labels_of,
)
from posse.controllers.leader_worker_sets.pod_admission import PodSurroundings, place_pod
from posse.kinds.machinery.errors import FieldError
from posse.model.leader_worker_set import (
    EXCLUSIVE_TOPOLOGY,
    SUBGROUP_EXCLUSIVE_TOPOLOGY,
    LeaderWorkerSet,
)
from posse.model.pod import PodTemplateSpec

Json = dict[str, Any]

POD_NAME = "LWS_POD_NAME"
# Written by the StatefulSet controller on every pod it makes.
POD_INDEX = "apps.kubernetes.io/pod-index"
NEEDS_WEBHOOK = "needs pods that are changed as they are made, which no webhook does in this cluster"


def prepare_leaders(template: Json, namespace: str) -> None:
    """Change the template of leaders so that they wait to be completed."""
    spec = template["spec"]
    spec["schedulingGates"] = [*(spec.get("schedulingGates") or ()), {"name": GATE}]
    address = f"$({POD_NAME}).{labels_of(template)[NAME]}.{namespace}"
    own_name = {"name": POD_NAME, "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    _tell(template, own_name, _value(LEADER_ADDRESS, address), _value(WORKER_INDEX_VARIABLE, LEADER))


def prepare_workers(template: Json, leader: Json) -> None:
    metadata = leader["metadata"]
    address = f"{metadata['name']}.{labels_of(leader)[NAME]}.{metadata['namespace']}"
    own_index = {"fieldRef": {"fieldPath": f"metadata.labels['{POD_INDEX}']"}}
    _tell(
        template,
        _value(LEADER_ADDRESS, address),
        {"name": WORKER_INDEX_VARIABLE, "valueFrom": own_index},
    )


def _tell(template: Json, *variables: Json) -> None:
    told = (*variables, _value(GROUP_SIZE, annotations_of(template)[SIZE]))
    names = {variable["name"] for variable in told}
    template["spec"] = deepcopy(template["spec"])
    for container in containers_of(template):
        others = [item for item in container.get("env") or () if item.get("name") not in names]
        container["env"] = [*told, *others]


def _value(name: str, text: str) -> Json:
    return {"name": name, "value": text}


def is_complete(pod: Json) -> bool:
    return (GROUP_INDEX if is_leader(pod) else WORKER_INDEX) in labels_of(pod)


def completed(pod: Json, find_pod: Callable[[str], Json | None]) -> Json:
    """Return a pod with its place in the replica and in the group, free to be scheduled."""
    placed = deepcopy(pod)
    place_pod(placed, PodSurroundings(pod["metadata"]["uid"], find_pod))
    return let_through(pod, placed["metadata"])


def refusals(lws: LeaderWorkerSet) -> list[FieldError]:
    """Say what of a set cannot be had in such a cluster."""
    template = lws.spec.leader_worker_template
    errors = [
        FieldError.forbidden(f"metadata.annotations[{name}]", NEEDS_WEBHOOK)
        for name in (EXCLUSIVE_TOPOLOGY, SUBGROUP_EXCLUSIVE_TOPOLOGY)
        if name in lws.metadata.annotations
    ]
    if any(_asks_for_tpus(pods) for pods in (template.leader, template.worker_template)):
        errors.append(FieldError.forbidden("spec.leaderWorkerTemplate", f"{TPU_RESOURCE} {NEEDS_WEBHOOK}"))
    return errors


def _asks_for_tpus(pods: PodTemplateSpec) -> bool:
    containers = (*pods.spec.containers, *pods.spec.init_containers)
    return any(TPU_RESOURCE in (*item.resources.requests, *item.resources.limits) for item in containers)
