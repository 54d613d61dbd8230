"""What the StatefulSet controller needs to know of a pod, and how the pods of a set are made."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from posse.controllers.stateful_sets.claims import claim_name, claims_of
from posse.controllers.steps import is_deleting, owner_reference
from posse.kinds.registry import STATEFUL_SET
from posse.model.pod import ENDED_PHASES
from posse.model.pod_readiness import ready_since

Json = dict[str, Any]

POD_NAME = "statefulset.kubernetes.io/pod-name"
POD_INDEX = "apps.kubernetes.io/pod-index"
REVISION = "controller-revision-hash"


@dataclass(frozen=True, slots=True)
class SetPod:
    ordinal: int
    revision: str
    phase: str
    is_deleting: bool
    # Since when it is ready, None when it is not.
    ready_since: float | None
    obj: Json

    @property
    def has_ended(self) -> bool:
        return self.phase in ENDED_PHASES

    @property
    def is_ready(self) -> bool:
        return self.phase == "Running" and self.ready_since is not None

    def available_at(self, min_ready_seconds: int) -> float | None:
        """Return from when on the pod counts as available, None when that is not in sight."""
        if not self.is_ready or self.ready_since is None:
            return None
        return self.ready_since + min_ready_seconds if min_ready_seconds else 0.0


def read_pods(set_name: str, pods: Iterable[Json]) -> list[SetPod]:
    """Read the pods of a set, without those whose names are not made from its own."""
    return [_read(pod, ordinal) for pod in pods if (ordinal := ordinal_of(set_name, pod)) is not None]


def ordinal_of(set_name: str, pod: Json) -> int | None:
    parent, _, number = pod["metadata"]["name"].rpartition("-")
    is_number = number.isascii() and number.isdigit() and len(number) <= 10
    return int(number) if parent == set_name and is_number else None


def _read(pod: Json, ordinal: int) -> SetPod:
    status = pod.get("status") or {}
    return SetPod(
        ordinal=ordinal,
        revision=(pod["metadata"].get("labels") or {}).get(REVISION, ""),
        phase=status.get("phase") or "Pending",
        is_deleting=is_deleting(pod),
        ready_since=ready_since(pod),
        obj=pod,
    )


def new_pod(stateful_set: Json, template: Json, revision: str, ordinal: int) -> Json:
    metadata, spec = stateful_set["metadata"], stateful_set["spec"]
    given, name = template.get("metadata") or {}, f"{metadata['name']}-{ordinal}"
    identity = {POD_NAME: name, POD_INDEX: str(ordinal), REVISION: revision}
    pod_spec = dict(template["spec"]) | {"hostname": name}
    if spec.get("serviceName"):
        pod_spec["subdomain"] = spec["serviceName"]
    claims = {claim["metadata"]["name"] for claim in claims_of(stateful_set)}
    if claims:
        others = [volume for volume in pod_spec.get("volumes") or () if volume["name"] not in claims]
        pod_spec["volumes"] = [*others, *(_volume(claim, name) for claim in sorted(claims))]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": metadata["namespace"],
            "labels": {**(given.get("labels") or {}), **identity},
            "annotations": dict(given.get("annotations") or {}),
            "finalizers": list(given.get("finalizers") or ()),
            "ownerReferences": [owner_reference(STATEFUL_SET, stateful_set)],
        },
        "spec": pod_spec,
    }


def _volume(claim: str, pod_name: str) -> Json:
    return {"name": claim, "persistentVolumeClaim": {"claimName": claim_name(claim, pod_name)}}
