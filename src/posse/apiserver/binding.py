"""What binding does to a pod, and when it is refused. Pure.

Whether the node exists is not asked, as in Kubernetes: the scheduler has just seen it, and it may go at any
time anyway.
"""

from posse.apiserver.deleting import check_preconditions
from posse.kinds.machinery.errors import CONFLICT, ApiError, FieldError, bad_request, invalid
from posse.kinds.machinery.kind import Json
from posse.kinds.registry import POD
from posse.model.binding import Binding
from posse.model.decoding import ShapeError, decode
from posse.model.timestamps import format_timestamp

BINDING_RESOURCE = "pods/binding"


def bound(pod: Json, body: Json, now: float) -> Json:
    """Return the pod as it is once bound."""
    binding = _read(pod["metadata"]["name"], body)
    check_preconditions(POD, pod, binding.metadata.uid, "")
    if refusal := _refusal(pod):
        raise _conflict(pod["metadata"]["name"], refusal)
    return {
        **pod,
        "metadata": _with_extras(pod["metadata"], binding),
        "spec": {**pod.get("spec", {}), "nodeName": binding.target.name},
        "status": _scheduled_status(pod.get("status", {}), now),
    }


def _read(name: str, body: Json) -> Binding:
    try:
        binding = decode(Binding, body)
    except ShapeError as error:
        raise bad_request(f'Binding in version "v1" cannot be handled as a Binding: {error}') from error
    if binding.metadata.name not in {"", name}:
        raise bad_request("name in URL does not match name in Binding object")
    errors = []
    if binding.target.kind not in {"", "Node"}:
        errors.append(FieldError.not_supported("target.kind", binding.target.kind, ("Node", "<empty>")))
    if not binding.target.name:
        errors.append(FieldError.required("target.name"))
    if errors:
        raise invalid(POD, name, errors)
    return binding


def _refusal(pod: Json) -> str:
    name, spec = pod["metadata"]["name"], pod.get("spec", {})
    if "deletionTimestamp" in pod["metadata"]:
        return f"pod {name} is being deleted, cannot be assigned to a host"
    if spec.get("nodeName"):
        return f'pod {name} is already assigned to node "{spec["nodeName"]}"'
    if spec.get("schedulingGates"):
        return f"pod {name} has non-empty .spec.schedulingGates"
    return ""


def drawn_along(name: str) -> ApiError:
    """What a pod is told that was to be bound together with one that cannot be."""
    return _conflict(name, f"a pod that pod {name} is bound together with cannot be bound")


def _conflict(name: str, text: str) -> ApiError:
    message = f'Operation cannot be fulfilled on {BINDING_RESOURCE} "{name}": {text}'
    return ApiError(CONFLICT, "Conflict", message, {"name": name, "kind": BINDING_RESOURCE})


def _with_extras(metadata: Json, binding: Binding) -> Json:
    """Labels and annotations of the binding end up on the pod."""
    metadata = dict(metadata)
    extras = {"labels": binding.metadata.labels, "annotations": binding.metadata.annotations}
    for field, values in extras.items():
        if values:
            metadata[field] = {**metadata.get(field, {}), **values}
    return metadata


def _scheduled_status(status: Json, now: float) -> Json:
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": format_timestamp(now)}
    others = [each for each in status.get("conditions", ()) if each.get("type") != "PodScheduled"]
    kept = {name: value for name, value in status.items() if name != "nominatedNodeName"}
    return {**kept, "conditions": [*others, scheduled]}
