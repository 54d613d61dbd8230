"""Rules for DeviceClass."""

from posse.kinds.columns import NAME_AND_AGE
from posse.kinds.devices.device_rules import DEVICE_RULES
from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.kind import Kind, KindRules
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.model.resource_claim import DeviceClass


def validate(device_class: DeviceClass) -> list[FieldError]:
    errors = metadata_errors(device_class.metadata, namespaced=False)
    return errors + declared_errors("spec", device_class.spec, rules=DEVICE_RULES)


def validate_update(new: DeviceClass, old: DeviceClass) -> list[FieldError]:
    errors = metadata_update_errors(new.metadata, old.metadata)
    if new.spec == old.spec:
        return errors
    return errors + declared_errors("spec", new.spec, rules=DEVICE_RULES)


DEVICE_CLASS = Kind(
    name="DeviceClass",
    plural="deviceclasses",
    group="resource.k8s.io",
    namespaced=False,
    struct=DeviceClass,
    rules=KindRules(validate=validate, validate_update=validate_update),
    columns=NAME_AND_AGE,
)
