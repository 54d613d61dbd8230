"""Volumes that the Jobs of a JobSet share: which claims there are, who uses them, and what is wrong with the
asking.
"""

from collections.abc import Iterator

from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.model.formats import dns_label
from posse.model.jobset import JobSetSpec, ReplicatedJob
from posse.model.pod import PodSpec
from posse.model.volume import PersistentVolumeClaim


def claim_name(template: str, jobset: str) -> str:
    return f"{template}-{jobset}"


def claim_templates(spec: JobSetSpec) -> Iterator[PersistentVolumeClaim]:
    for policy in spec.volume_claim_policies:
        yield from policy.templates


def mounted_names(pod: PodSpec) -> set[str]:
    containers = (*pod.init_containers, *pod.containers)
    return {mount.name for container in containers for mount in container.volume_mounts}


def claims_errors(name: str, spec: JobSetSpec) -> list[FieldError]:
    field = "spec.volumeClaimPolicies"
    errors: list[FieldError] = []
    seen: set[str] = set()
    for number, policy in enumerate(spec.volume_claim_policies):
        for index, template in enumerate(policy.templates):
            path = f"{field}[{number}].templates[{index}]"
            errors += _template_errors(path, name, template, spec.replicated_jobs)
            if template.metadata.name in seen:
                errors.append(FieldError.duplicate(f"{path}.metadata.name", template.metadata.name))
            seen.add(template.metadata.name)
    return errors


def _template_errors(
    field: str, jobset: str, template: PersistentVolumeClaim, jobs: tuple[ReplicatedJob, ...]
) -> list[FieldError]:
    name = template.metadata.name
    if not name:
        return [FieldError.required(f"{field}.metadata.name")]
    errors = declared_errors(f"{field}.spec", template.spec)
    if template.metadata.namespace:
        text = "the claim is made in the namespace of the JobSet"
        errors.append(FieldError.forbidden(f"{field}.metadata.namespace", text))
    claim = claim_name(name, jobset)
    errors += [
        FieldError.invalid(f"{field}.metadata.name", name, f"the claim would be called {claim}: {problem}")
        for problem in dns_label(claim)
    ]
    pods = [job.template.spec.template.spec for job in jobs]
    if not any(name in mounted_names(pod) for pod in pods):
        text = "no container of any replicatedJob mounts a volume of this name"
        errors.append(FieldError.invalid(f"{field}.metadata.name", name, text))
    if any(volume.name == name for pod in pods for volume in pod.volumes):
        text = "a replicatedJob has a volume of this name already"
        errors.append(FieldError.invalid(f"{field}.metadata.name", name, text))
    return errors
