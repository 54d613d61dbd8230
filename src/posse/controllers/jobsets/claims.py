"""The claims of a JobSet: one per template, shared by all pods that mount it, and retained if asked for."""

from collections.abc import Iterator
from typing import Any

from posse.controllers.jobsets.names import JOBSET_NAME
from posse.controllers.steps import owner_reference
from posse.kinds.registry import JOB_SET, PERSISTENT_VOLUME_CLAIM
from posse.kinds.sets.jobset_claims import claim_name, claim_templates, mounted_names
from posse.model.jobset import RETAIN, JobSet, ReplicatedJob

Json = dict[str, Any]


def new_claims(obj: Json) -> Iterator[Json]:
    metadata = obj["metadata"]
    for policy in obj["spec"].get("volumeClaimPolicies") or ():
        is_retained = (policy.get("retentionPolicy") or {}).get("whenDeleted") == RETAIN
        for template in policy.get("templates") or ():
            given = template["metadata"]
            yield {
                "apiVersion": PERSISTENT_VOLUME_CLAIM.api_version,
                "kind": PERSISTENT_VOLUME_CLAIM.name,
                "metadata": {
                    "name": claim_name(given["name"], metadata["name"]),
                    "namespace": metadata["namespace"],
                    "labels": (given.get("labels") or {}) | {JOBSET_NAME: metadata["name"]},
                    "annotations": dict(given.get("annotations") or {}),
                    "ownerReferences": [] if is_retained else [owner_reference(JOB_SET, obj)],
                },
                "spec": template.get("spec") or {},
            }


def shared_volumes(jobset: JobSet, job: ReplicatedJob) -> list[Json]:
    """The volumes that the pods of a replicatedJob get because their containers mount them."""
    mounted = mounted_names(job.template.spec.template.spec)
    names = [template.metadata.name for template in claim_templates(jobset.spec)]
    return [
        {
            "name": name,
            "persistentVolumeClaim": {"claimName": claim_name(name, jobset.metadata.name)},
        }
        for name in names
        if name in mounted
    ]
