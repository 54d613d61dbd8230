"""Rules for ResourceSlice: where its devices are, and what each of them is."""

import re
from collections.abc import Mapping

from posse.kinds.columns import AGE, NAME, value_at
from posse.kinds.devices.capacities import capacities_errors, quantity_errors
from posse.kinds.devices.device_names import (
    binding_condition_errors,
    device_errors,
    driver_errors,
    pool_errors,
    qualified_name_errors,
)
from posse.kinds.devices.device_taints import stamp_taint
from posse.kinds.machinery.checks import duplicates, formatted, immutable, required
from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import entries, section
from posse.kinds.machinery.kind import Json, Kind, KindRules, PrintedColumn
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.model.device import (
    ATTRIBUTES_AND_CAPACITIES_MAX,
    CONSUMED_SETS_MAX,
    COUNTER_SETS_MAX,
    COUNTERS_MAX,
    DEVICES_MAX,
    DEVICES_MAX_ADVANCED,
    TAINTS_MAX,
    Counter,
    Device,
    DeviceAttribute,
    ResourcePool,
    ResourceSlice,
    ResourceSliceSpec,
)
from posse.model.formats import dns_label, dns_subdomain
from posse.model.placement import NodeSelector

ATTRIBUTE_BYTES_MAX = 64
_NUMBER = r"(0|[1-9]\d*)"
_PRE_RELEASE = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_BUILD = "[0-9a-zA-Z-]+"
_SEMANTIC_VERSION = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRE_RELEASE}(\.{_PRE_RELEASE})*)?(\+{_BUILD}(\.{_BUILD})*)?",
    re.ASCII,
)
# Kubernetes drops these unless an alpha feature gate is on.
_DROPPED_FROM_SPEC = ("partitionTypeAttribute", "skipNodeOperations")
_DROPPED_FROM_DEVICE = ("nodeAllocatableResources",)


def drop_alpha_fields(obj: Json) -> None:
    spec = section(obj, "spec")
    for name in _DROPPED_FROM_SPEC:
        spec.pop(name, None)
    for device in entries(spec, "devices"):
        for name in _DROPPED_FROM_DEVICE:
            device.pop(name, None)


def stamp(obj: Json, _old: Json | None, now: str) -> None:
    for device in entries(section(obj, "spec"), "devices"):
        for taint in entries(device, "taints"):
            stamp_taint(taint, now)


def validate(resource_slice: ResourceSlice) -> list[FieldError]:
    return metadata_errors(resource_slice.metadata, namespaced=False) + _spec_errors(resource_slice.spec)


def validate_update(new: ResourceSlice, old: ResourceSlice) -> list[FieldError]:
    errors = metadata_update_errors(new.metadata, old.metadata)
    if new.spec == old.spec:
        return errors
    for field, value, before in (
        ("spec.driver", new.spec.driver, old.spec.driver),
        ("spec.pool.name", new.spec.pool.name, old.spec.pool.name),
        ("spec.nodeName", new.spec.node_name, old.spec.node_name),
    ):
        if value != before:
            errors.append(immutable(field, value))
    return errors + _spec_errors(new.spec)


def _spec_errors(spec: ResourceSliceSpec) -> list[FieldError]:
    errors = [
        *driver_errors("spec.driver", spec.driver),
        *_pool_errors("spec.pool", spec.pool),
        *_place_errors("spec", spec),
    ]
    if spec.shared_counters and spec.devices:
        text = "only one of `sharedCounters` or `devices` is allowed"
        errors.append(FieldError.invalid("spec", "", text))
    return [*errors, *_devices_errors("spec.devices", spec), *_counter_sets_errors(spec)]


def _pool_errors(path: str, pool: ResourcePool) -> list[FieldError]:
    errors = pool_errors(f"{path}.name", pool.name)
    if pool.resource_slice_count <= 0:
        field = f"{path}.resourceSliceCount"
        errors.append(FieldError.invalid(field, pool.resource_slice_count, "must be greater than zero"))
    if pool.generation < 0:
        text = "must be greater than or equal to zero"
        errors.append(FieldError.invalid(f"{path}.generation", pool.generation, text))
    return errors


def _place_errors(path: str, spec: ResourceSliceSpec) -> list[FieldError]:
    errors, chosen = _node_errors(path, spec, "must be either unset or set to a non-empty string")
    if spec.node_selector is not None and len(spec.node_selector.node_selector_terms) != 1:
        terms = spec.node_selector.node_selector_terms
        text = "must have exactly one node selector term"
        errors.append(FieldError.invalid(f"{path}.nodeSelector.nodeSelectorTerms", terms, text))
    if spec.per_device_node_selection:
        chosen.append("`perDeviceNodeSelection`")
    elif spec.per_device_node_selection is not None:
        field = f"{path}.perDeviceNodeSelection"
        errors.append(FieldError.invalid(field, False, "must be either unset or set to true"))
    text = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
    if not chosen:
        errors.append(FieldError.required(path, text))
    elif len(chosen) > 1:
        several = f"{{{', '.join(chosen)}}}"
        errors.append(FieldError.invalid(path, several, f"{text}, but multiple fields are set"))
    return errors


def _node_errors(
    path: str, place: ResourceSliceSpec | Device, empty: str
) -> tuple[list[FieldError], list[str]]:
    """What is wrong with the fields that say which nodes, and those that are set."""
    errors: list[FieldError] = []
    chosen = []
    if place.node_name:
        chosen.append("`nodeName`")
        errors += formatted(f"{path}.nodeName", place.node_name, dns_subdomain)
    elif place.node_name is not None:
        errors.append(FieldError.invalid(f"{path}.nodeName", "", empty))
    if isinstance(place.node_selector, NodeSelector):
        chosen.append("`nodeSelector`")
        errors += declared_errors(f"{path}.nodeSelector", place.node_selector)
    if place.all_nodes:
        chosen.append("`allNodes`")
    elif place.all_nodes is not None:
        text = "must be either unset or set to true"
        errors.append(FieldError.invalid(f"{path}.allNodes", False, text))
    return errors, chosen


def _devices_errors(field: str, spec: ResourceSliceSpec) -> list[FieldError]:
    at_most = DEVICES_MAX_ADVANCED if any(map(_is_advanced, spec.devices)) else DEVICES_MAX
    if len(spec.devices) > at_most:
        return [FieldError.too_many(field, len(spec.devices), at_most)]
    errors = []
    for index, device in enumerate(spec.devices):
        errors += _device_errors(f"{field}[{index}]", device)
        errors += _device_place_errors(f"{field}[{index}]", device, spec)
    names = [device.name for device in spec.devices]
    return errors + duplicates(field, names, names)


def _is_advanced(device: Device) -> bool:
    return bool(device.taints or device.consumes_counters) or any(
        one.int_values or one.bool_values or one.string_values or one.version_values
        for one in device.attributes.values()
    )


def _device_errors(path: str, device: Device) -> list[FieldError]:
    errors = device_errors(f"{path}.name", device.name)
    count = len(device.attributes) + len(device.capacity)
    if count > ATTRIBUTES_AND_CAPACITIES_MAX:
        at_most = ATTRIBUTES_AND_CAPACITIES_MAX
        text = f"the total number of attributes and capacities must not exceed {at_most}"
        errors.append(FieldError.invalid(path, count, text))
    for name, attribute in device.attributes.items():
        errors += qualified_name_errors(f"{path}.attributes", name)
        errors += _attribute_errors(f"{path}.attributes[{name}]", attribute)
    is_shared = bool(device.allow_multiple_allocations)
    return [
        *errors,
        *capacities_errors(f"{path}.capacity", device.capacity, is_shared=is_shared),
        *_taint_errors(f"{path}.taints", device),
        *_consumption_errors(f"{path}.consumesCounters", device),
        *binding_condition_errors(path, device.binding_conditions, device.binding_failure_conditions),
    ]


def _device_place_errors(path: str, device: Device, spec: ResourceSliceSpec) -> list[FieldError]:
    if not spec.per_device_node_selection:
        if device.node_name is None and device.node_selector is None and device.all_nodes is None:
            return []
        text = (
            "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` "
            "is set to true in the ResourceSlice spec"
        )
        return [FieldError.invalid(path, None, text)]
    errors, chosen = _node_errors(path, device, "must not be empty")
    text = (
        "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
        "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"
    )
    if not chosen:
        errors.append(FieldError.required(path, text))
    elif len(chosen) > 1:
        errors.append(FieldError.invalid(path, f"{{{', '.join(chosen)}}}", text))
    return errors


def _attribute_errors(path: str, attribute: DeviceAttribute) -> list[FieldError]:
    given = [
        getattr(attribute, name)
        for name in attribute.__struct_fields__
        if getattr(attribute, name) not in (None, ())
    ]
    errors = [] if len(given) == 1 else [FieldError.invalid(path, "", "exactly one value must be specified")]
    for name, texts in (("string", attribute.string_value), ("version", attribute.version_value)):
        if texts is not None:
            errors += _text_errors(f"{path}.{name}", texts, is_version=name == "version")
    for name, several in (("strings", attribute.string_values), ("versions", attribute.version_values)):
        for index, text in enumerate(several):
            errors += _text_errors(f"{path}.{name}[{index}]", text, is_version=name == "versions")
    return errors


def _text_errors(field: str, text: str, *, is_version: bool) -> list[FieldError]:
    errors = []
    if is_version and not _SEMANTIC_VERSION.fullmatch(text):
        problem = "must be a string compatible with semver.org spec 2.0.0"
        errors.append(FieldError.invalid(field, text, problem))
    if len(text.encode(errors="surrogatepass")) > ATTRIBUTE_BYTES_MAX:
        errors.append(FieldError.too_long(field, ATTRIBUTE_BYTES_MAX))
    return errors


def _taint_errors(field: str, device: Device) -> list[FieldError]:
    if len(device.taints) > TAINTS_MAX:
        return [FieldError.too_many(field, len(device.taints), TAINTS_MAX)]
    return [
        error
        for index, taint in enumerate(device.taints)
        for error in declared_errors(f"{field}[{index}]", taint)
    ]


def _consumption_errors(field: str, device: Device) -> list[FieldError]:
    consumed = device.consumes_counters
    if len(consumed) > CONSUMED_SETS_MAX:
        return [FieldError.too_many(field, len(consumed), CONSUMED_SETS_MAX)]
    errors = []
    for index, entry in enumerate(consumed):
        path = f"{field}[{index}]"
        errors += required(f"{path}.counterSet", entry.counter_set, dns_label)
        errors += _counters_errors(f"{path}.counters", entry.counters)
    names = [entry.counter_set for entry in consumed]
    return errors + duplicates(field, names, names)


def _counter_sets_errors(spec: ResourceSliceSpec) -> list[FieldError]:
    field, sets = "spec.sharedCounters", spec.shared_counters
    if len(sets) > COUNTER_SETS_MAX:
        return [FieldError.too_many(field, len(sets), COUNTER_SETS_MAX)]
    errors = []
    for index, counter_set in enumerate(sets):
        path = f"{field}[{index}]"
        errors += required(f"{path}.name", counter_set.name, dns_label)
        errors += _counters_errors(f"{path}.counters", counter_set.counters)
    names = [counter_set.name for counter_set in sets]
    return errors + duplicates(field, names, names)


def _counters_errors(field: str, counters: Mapping[str, Counter]) -> list[FieldError]:
    if not counters:
        return [FieldError.required(field)]
    if len(counters) > COUNTERS_MAX:
        return [FieldError.too_many(field, len(counters), COUNTERS_MAX)]
    errors = []
    for name, counter in counters.items():
        errors += formatted(field, name, dns_label)
        errors += quantity_errors(f"{field}[{name}].value", counter.value)
    return errors


RESOURCE_SLICE = Kind(
    name="ResourceSlice",
    plural="resourceslices",
    group="resource.k8s.io",
    namespaced=False,
    struct=ResourceSlice,
    rules=KindRules(
        default=drop_alpha_fields, stamp=stamp, validate=validate, validate_update=validate_update
    ),
    columns=(
        NAME,
        PrintedColumn("Node", "string", "Node of the devices.", 0, value_at("spec", "nodeName", absent="")),
        PrintedColumn("Driver", "string", "Driver of the devices.", 0, value_at("spec", "driver", absent="")),
        PrintedColumn(
            "Pool", "string", "Pool of the devices.", 0, value_at("spec", "pool", "name", absent="")
        ),
        AGE,
    ),
    selectable_fields=("spec.nodeName", "spec.driver", "spec.pool.name"),
)
