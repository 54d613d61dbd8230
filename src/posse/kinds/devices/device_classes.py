"""Rules for DeviceClass."""

from posse.kinds.columns import NAME_AND_AGE
from posse.kinds.devices.device_claims import opaque_errors
from posse.kinds.devices.device_selectors import selectors_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.kind import Kind, KindRules
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.model.formats import is_extended, label_key
from posse.model.resource_claim import CONFIGURATIONS_MAX, DeviceClass, DeviceClassSpec


def validate(device_class: DeviceClass) -> list[FieldError]:
    return metadata_errors(device_class.metadata, namespaced=False) + _spec_errors(device_class.spec)


def validate_update(new: DeviceClass, old: DeviceClass) -> list[FieldError]:
    errors = metadata_update_errors(new.metadata, old.metadata)
    return errors if new.spec == old.spec else errors + _spec_errors(new.spec)


def _spec_errors(spec: DeviceClassSpec) -> list[FieldError]:
    errors = selectors_errors("spec.selectors", spec.selectors)
    if len(spec.config) > CONFIGURATIONS_MAX:
        errors.append(FieldError.too_many("spec.config", len(spec.config), CONFIGURATIONS_MAX))
    else:
        for index, entry in enumerate(spec.config):
            errors += opaque_errors(f"spec.config[{index}].opaque", entry.opaque)
    name = spec.extended_resource_name
    if name is not None and not _is_extended_resource(name):
        text = "must be a valid extended resource name"
        errors.append(FieldError.invalid("spec.extendedResourceName", name, text))
    return errors


def _is_extended_resource(name: str) -> bool:
    return is_extended(name) and not name.startswith("requests.") and not label_key(f"requests.{name}")


DEVICE_CLASS = Kind(
    name="DeviceClass",
    plural="deviceclasses",
    group="resource.k8s.io",
    namespaced=False,
    struct=DeviceClass,
    rules=KindRules(validate=validate, validate_update=validate_update),
    columns=NAME_AND_AGE,
)
