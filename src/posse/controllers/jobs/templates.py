"""Makes the pods of a Job from its template: names, labels, the index and what tells the pod about it."""

from typing import Any

from posse.controllers.jobs.pods import (
    COMPLETION_INDEX,
    INDEX_FAILURE_COUNT,
    INDEX_IGNORED_FAILURE_COUNT,
    TRACKING_FINALIZER,
)
from posse.kinds.registry import JOB

Json = dict[str, Any]

INDEX_VARIABLE = "JOB_COMPLETION_INDEX"
# The server appends five characters and cuts what comes before them at this length.
NAME_PREFIX_LENGTH_MAX = 58


def new_pod(job: Json) -> Json:
    """Return a pod of a Job whose pods are all alike."""
    metadata, template = job["metadata"], job["spec"]["template"]
    given = template.get("metadata") or {}
    made: Json = {
        "generateName": f"{metadata['name']}-",
        "namespace": metadata["namespace"],
        "labels": dict(given.get("labels") or {}),
        "annotations": dict(given.get("annotations") or {}),
        "finalizers": [*(given.get("finalizers") or ()), TRACKING_FINALIZER],
        "ownerReferences": [_owner(metadata)],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": made, "spec": dict(template["spec"])}


def new_indexed_pod(job: Json, index: int) -> Json:
    pod = new_pod(job)
    metadata, spec, name = pod["metadata"], pod["spec"], job["metadata"]["name"]
    suffix = f"-{index}-"
    metadata["generateName"] = name[: NAME_PREFIX_LENGTH_MAX - len(suffix)] + suffix
    metadata["labels"][COMPLETION_INDEX] = str(index)
    metadata["annotations"][COMPLETION_INDEX] = str(index)
    spec["hostname"] = f"{name}-{index}"
    for containers in ("initContainers", "containers"):
        if spec.get(containers):
            spec[containers] = [_told_its_index(container) for container in spec[containers]]
    return pod


def count_failures(pod: Json, failures: int, ignored_failures: int) -> None:
    """Note on a new pod how often its index has failed before."""
    annotations = pod["metadata"]["annotations"]
    annotations[INDEX_FAILURE_COUNT] = str(failures)
    if ignored_failures:
        annotations[INDEX_IGNORED_FAILURE_COUNT] = str(ignored_failures)


def _owner(metadata: Json) -> Json:
    return {
        "apiVersion": JOB.api_version,
        "kind": JOB.name,
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _told_its_index(container: Json) -> Json:
    variables = container.get("env") or []
    if any(variable.get("name") == INDEX_VARIABLE for variable in variables):
        return container
    source = {"fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.labels['{COMPLETION_INDEX}']"}}
    return {**container, "env": [*variables, {"name": INDEX_VARIABLE, "valueFrom": source}]}
