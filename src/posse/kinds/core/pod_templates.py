"""Rules for pod templates, by themselves or inside other kinds: pods are judged before there are any."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import msgspec

from posse.kinds.columns import NAME_AND_AGE
from posse.kinds.core.pod_defaults import default_pod
from posse.kinds.core.pods import spec_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import section
from posse.kinds.machinery.kind import Json, Kind, KindRules
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors, template_metadata_errors
from posse.model.container import Container
from posse.model.meta import LabelSelector
from posse.model.placement import Affinity
from posse.model.pod import PodTemplate, PodTemplateSpec
from posse.model.selectors import SelectorError, label_query
from posse.model.volume import PersistentVolumeClaim, PersistentVolumeClaimVolumeSource, Volume


def template_errors(field: str, template: PodTemplateSpec) -> list[FieldError]:
    errors = template_metadata_errors(template.metadata) + spec_errors(template.spec)
    return [replace(error, field=f"{field}.{error.field}") for error in errors]


def selection_errors(selector: LabelSelector | None, labels: Mapping[str, str]) -> list[FieldError]:
    """Pods of the template are those that the selector finds. One that cannot be read is told by itself."""
    try:
        if selector is None or label_query(selector).matches(labels):
            return []
    except SelectorError:
        return []
    text = "`selector` does not match template `labels`"
    return [FieldError.invalid("spec.template.metadata.labels", labels, text)]


def with_claims(template: PodTemplateSpec, claims: Iterable[PersistentVolumeClaim]) -> PodTemplateSpec:
    """Return the template with the volumes that its pods get from claims, whose names do not matter yet."""
    present = {volume.name for volume in template.spec.volumes}
    names = dict.fromkeys(claim.metadata.name for claim in claims)
    source = PersistentVolumeClaimVolumeSource(claim_name="claim")
    added = tuple(
        Volume(name=name, persistent_volume_claim=source) for name in names if name and name not in present
    )
    spec = msgspec.structs.replace(template.spec, volumes=(*template.spec.volumes, *added))
    return msgspec.structs.replace(template, spec=spec)


def with_scheduling_of(template: PodTemplateSpec, other: PodTemplateSpec) -> PodTemplateSpec:
    """The template with what `other` says of where its pods go and what they ask for, and with its labels."""
    metadata = msgspec.structs.replace(
        template.metadata, labels=other.metadata.labels, annotations=other.metadata.annotations
    )
    spec = msgspec.structs.replace(
        template.spec,
        affinity=_with_node_affinity(template.spec.affinity, other.spec.affinity),
        node_selector=other.spec.node_selector,
        tolerations=other.spec.tolerations,
        scheduling_gates=other.spec.scheduling_gates,
        containers=_with_resources(template.spec.containers, other.spec.containers),
        init_containers=_with_resources(template.spec.init_containers, other.spec.init_containers),
    )
    return msgspec.structs.replace(template, metadata=metadata, spec=spec)


def _with_node_affinity(old: Affinity | None, new: Affinity | None) -> Affinity | None:
    wanted = msgspec.structs.replace(old or Affinity(), node_affinity=(new or Affinity()).node_affinity)
    return None if new is None and wanted == Affinity() else wanted


def _with_resources(old: tuple[Container, ...], new: tuple[Container, ...]) -> tuple[Container, ...]:
    if len(old) != len(new):
        return old
    return tuple(
        msgspec.structs.replace(container, resources=other.resources)
        for container, other in zip(old, new, strict=True)
    )


def _default(obj: Json) -> None:
    default_pod(section(obj, "template"))


def _validate(obj: PodTemplate) -> list[FieldError]:
    return metadata_errors(obj.metadata, namespaced=True) + template_errors("template", obj.template)


def _validate_update(new: PodTemplate, old: PodTemplate) -> list[FieldError]:
    errors = metadata_update_errors(new.metadata, old.metadata)
    return errors if new.template == old.template else errors + template_errors("template", new.template)


POD_TEMPLATE = Kind(
    name="PodTemplate",
    plural="podtemplates",
    struct=PodTemplate,
    rules=KindRules(default=_default, validate=_validate, validate_update=_validate_update),
    columns=NAME_AND_AGE,
)
