"""Gangs of Kubernetes itself: a Workload for the set and a PodGroup for each replica, which pods name in
their spec.

A deleted PodGroup stays until the last pod that names it has finished. A new leader that named the group of
its predecessor would keep that group for ever, so each leader has a group of its own.
"""

import json
from typing import Any

import msgspec

from posse.controllers.gated_pods import GROUP_LABEL
from posse.controllers.group_templates import group_spec
from posse.controllers.leader_worker_sets.keys import NAME, annotations_of
from posse.controllers.leader_worker_sets.providers.contract import Made, group_metadata, group_name, minimum
from posse.controllers.leader_worker_sets.providers.requirements import replica_requests
from posse.controllers.steps import owner_reference
from posse.engine.groups.forms import MIN_RESOURCES_ANNOTATION
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import (
    LEADER_WORKER_SET,
    POD_GROUP,
    POSSE_POD_GROUP,
    POSSE_WORKLOAD,
    WORKLOAD,
)
from posse.model.leader_worker_set import (
    EXCLUSIVE_TOPOLOGY,
    LEADER_READY,
    NO_RECREATION,
    LeaderWorkerSetSpec,
    shared_claims,
)

Json = dict[str, Any]

TEMPLATE_NAME = "replica"


class PosseProvider:
    name = "posse"
    is_group_per_leader = True
    waits_for_all = True
    group_kind = POD_GROUP
    workload_kind = WORKLOAD

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return (self.workload_kind, self.group_kind)

    def blueprint(self, lws: Json, spec: LeaderWorkerSetSpec) -> Made:
        name = lws["metadata"]["name"]
        reference = {
            "apiGroup": LEADER_WORKER_SET.group,
            "kind": LEADER_WORKER_SET.name,
            "name": name,
        }
        obj = {
            "apiVersion": self.workload_kind.api_version,
            "kind": self.workload_kind.name,
            "metadata": {
                "name": name,
                "namespace": lws["metadata"]["namespace"],
                "labels": {NAME: name},
                "ownerReferences": [owner_reference(LEADER_WORKER_SET, lws)],
            },
            "spec": {
                "controllerRef": reference,
                "podGroupTemplates": [_template(lws, spec)],
            },
        }
        return Made(self.workload_kind, obj)

    def prepare(self, _lws: Json, _spec: LeaderWorkerSetSpec, _template: Json) -> None:
        return None

    def name_group(self, leader: Json, incarnation: str) -> str:
        return group_name(leader, incarnation)

    def inject(self, pod: Json, group: str) -> None:
        pod["spec"]["schedulingGroup"] = {"podGroupName": group}

    def group_of(self, leader: Json) -> str:
        return (leader["spec"].get("schedulingGroup") or {}).get("podGroupName") or ""

    def group(self, lws: Json, spec: LeaderWorkerSetSpec, leader: Json) -> Made:
        metadata = group_metadata(leader, self.group_of(leader))
        # The group lasts as long as pods name it, so deleting the leader must not wait for it.
        metadata["ownerReferences"] = [metadata["ownerReferences"][0] | {"blockOwnerDeletion": False}]
        if spec.startup_policy == LEADER_READY:
            requests = json.dumps(replica_requests(spec), separators=(",", ":"))
            metadata["annotations"] = {MIN_RESOURCES_ANNOTATION: requests}
        obj = {
            "apiVersion": self.group_kind.api_version,
            "kind": self.group_kind.name,
            "metadata": metadata,
            "spec": group_spec(lws["metadata"]["name"], _template(lws, spec)),
        }
        return Made(self.group_kind, obj)


class PosseCrdProvider(PosseProvider):
    """The same with Posse's custom resources, for clusters without PodGroups; pods name them by a label."""

    name = "posse-crd"
    group_kind = POSSE_POD_GROUP
    workload_kind = POSSE_WORKLOAD

    def inject(self, pod: Json, group: str) -> None:
        pod["metadata"].setdefault("labels", {})[GROUP_LABEL] = group

    def group_of(self, leader: Json) -> str:
        return str((leader["metadata"].get("labels") or {}).get(GROUP_LABEL, ""))


def _template(lws: Json, spec: LeaderWorkerSetSpec) -> Json:
    """How a replica is scheduled. A replica that is recreated as a whole is evicted as a whole."""
    template = spec.leader_worker_template
    mode = "single" if template.restart_policy == NO_RECREATION else "all"
    scheduling: Json = {
        "name": TEMPLATE_NAME,
        "schedulingPolicy": {"gang": {"minCount": minimum(spec)}},
        "disruptionMode": {mode: {}},
    }
    if shared := shared_claims(annotations_of(lws)):
        entries = template.worker_template.spec.resource_claims
        scheduling["resourceClaims"] = [
            msgspec.json.decode(msgspec.json.encode(entry)) for entry in entries if entry.name in shared
        ]
    if topology := annotations_of(lws).get(EXCLUSIVE_TOPOLOGY):
        scheduling["schedulingConstraints"] = {"topology": [{"key": topology}]}
    if template.leader.spec.priority_class_name:
        scheduling["priorityClassName"] = template.leader.spec.priority_class_name
    return scheduling
