"""What cluster autoscalers are asked for: a ProvisioningRequest per waiting group, with pod templates.

It asks for all pods that must start together, at once or not at all. Those that would fit already are the
autoscaler's to find: it knows how many nodes of which pool the others need.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from posse.engine.keys import GroupKey

Json = dict[str, Any]

API_VERSION = "autoscaling.x-k8s.io/v1"
ATOMIC_CLASS = "best-effort-atomic-scale-up.autoscaling.x-k8s.io"
CONSUMES = "autoscaling.x-k8s.io/consume-provisioning-request"
CONSUMED_CLASS = "autoscaling.x-k8s.io/provisioning-class-name"
OWN_LABELS = {"app.kubernetes.io/managed-by": "posse"}
GROUP_ANNOTATION = "scheduling.posse.dev/provisioning-for"
"""The group that a ProvisioningRequest asks nodes for."""
MAX_POD_SETS = 32
"""More of them cannot be in one request."""
_MAX_NAME = 200
_DIGEST_LENGTH = 10
_NOT_OF_TEMPLATES = frozenset(
    {"nodeName", "schedulerName", "schedulingGroup", "schedulingGates", "hostname", "subdomain"}
)


@dataclass(frozen=True, slots=True)
class ProvisioningDemand:
    namespace: str
    name: str
    templates: tuple[Json, ...]
    request: Json

    @property
    def pod_annotations(self) -> dict[str, str]:
        """They keep an autoscaler from adding nodes for single pods of the group."""
        return {CONSUMES: self.name, CONSUMED_CLASS: ATOMIC_CLASS}


def demand_of(
    group: GroupKey, pod_sets: Sequence[tuple[Json, int]], domain: Mapping[str, str]
) -> ProvisioningDemand:
    """`pod_sets` are examples of pods and numbers; `domain` the labels of nodes where all of them must be."""
    specs = [(_template(pod, domain), count) for pod, count in pod_sets]
    digest = hashlib.sha256(json.dumps([str(group), specs], sort_keys=True).encode()).hexdigest()
    name = f"{group.name[:_MAX_NAME]}-{digest[:_DIGEST_LENGTH]}"
    about: Json = {"labels": OWN_LABELS, "annotations": {GROUP_ANNOTATION: str(group)}}
    templates: tuple[Json, ...] = tuple(
        {
            "apiVersion": "v1",
            "kind": "PodTemplate",
            "metadata": {"name": f"{name}-{number}", "namespace": group.namespace, **about},
            "template": template,
        }
        for number, (template, _) in enumerate(specs)
    )
    sets = [
        {"podTemplateRef": {"name": template["metadata"]["name"]}, "count": count}
        for template, (_, count) in zip(templates, specs, strict=True)
    ]
    request = {
        "apiVersion": API_VERSION,
        "kind": "ProvisioningRequest",
        "metadata": {"name": name, "namespace": group.namespace, **about},
        "spec": {"provisioningClassName": ATOMIC_CLASS, "podSets": sets},
    }
    return ProvisioningDemand(group.namespace, name, templates, request)


def _template(pod: Json, domain: Mapping[str, str]) -> Json:
    spec = {name: value for name, value in pod["spec"].items() if name not in _NOT_OF_TEMPLATES}
    # Volumes with the token of a pod have a name of its own; without them equal pods have equal templates.
    spec["volumes"] = [one for one in spec.get("volumes") or () if not _is_token(one["name"])]
    for kind in ("containers", "initContainers"):
        if kind in spec:
            spec[kind] = [_without_token(container) for container in spec[kind]]
    if domain:
        spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **domain}
    return {"metadata": {"labels": pod["metadata"].get("labels") or {}}, "spec": spec}


def _without_token(container: Json) -> Json:
    mounts = [one for one in container.get("volumeMounts") or () if not _is_token(one["name"])]
    return container | {"volumeMounts": mounts}


def _is_token(volume: str) -> bool:
    return volume.startswith("kube-api-access-")


def has_failed(request: Json) -> str:
    """Return since when the autoscaler has given it up; empty if it has not."""
    conditions: Iterable[Json] = (request.get("status") or {}).get("conditions") or ()
    failed = (one for one in conditions if one["type"] == "Failed" and one["status"] == "True")
    return next((str(one["lastTransitionTime"]) for one in failed), "")
