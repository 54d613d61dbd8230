"""Rules for ResourceSlice: where its devices are, and what each of them is."""

from functools import partial

from posse.kinds.columns import AGE, NAME, value_at
from posse.kinds.devices.capacities import CAPACITY_RULES, SHARED_CAPACITY_RULES
from posse.kinds.devices.device_rules import binding_errors
from posse.kinds.devices.device_taints import stamp_taint
from posse.kinds.machinery.declared import Rules, Whole, declared_errors, fields_errors, fixed_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import entries, section
from posse.kinds.machinery.kind import Json, Kind, KindRules, PrintedColumn
from posse.kinds.machinery.label_selectors import SELECTOR_RULES
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.model.device import (
    ATTRIBUTES_AND_CAPACITIES_MAX,
    DEVICES_MAX_ADVANCED,
    Device,
    ResourceSlice,
    ResourceSliceSpec,
)

_PLACES = ("nodeName", "nodeSelector", "allNodes")
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
    errors = metadata_errors(resource_slice.metadata, namespaced=False)
    return errors + declared_errors("spec", resource_slice.spec, rules=_RULES)


def validate_update(new: ResourceSlice, old: ResourceSlice) -> list[FieldError]:
    errors = metadata_update_errors(new.metadata, old.metadata)
    if new.spec == old.spec:
        return errors
    errors += fixed_errors("spec", new.spec, old.spec)
    return errors + declared_errors("spec", new.spec, rules=_RULES)


def _spec_errors(path: str, spec: ResourceSliceSpec, rules: Rules) -> list[FieldError]:
    pool = "name", "resourceSliceCount", "generation"
    errors = [
        *fields_errors(path, spec, rules, "driver"),
        *fields_errors(f"{path}.pool", spec.pool, rules, *pool),
        *_place_errors(path, spec, rules),
    ]
    if spec.shared_counters and spec.devices:
        text = "only one of `sharedCounters` or `devices` is allowed"
        errors.append(FieldError.invalid(path, "", text))
    return [
        *errors,
        *_devices_errors(path, spec, rules),
        *fields_errors(path, spec, rules, "sharedCounters"),
    ]


def _place_errors(path: str, spec: ResourceSliceSpec, rules: Rules) -> list[FieldError]:
    errors = fields_errors(path, spec, rules, *_PLACES)
    if spec.node_selector is not None and len(spec.node_selector.node_selector_terms) != 1:
        terms = spec.node_selector.node_selector_terms
        text = "must have exactly one node selector term"
        errors.append(FieldError.invalid(f"{path}.nodeSelector.nodeSelectorTerms", terms, text))
    errors += fields_errors(path, spec, rules, "perDeviceNodeSelection")
    chosen = _chosen_places(spec) + (["`perDeviceNodeSelection`"] if spec.per_device_node_selection else [])
    text = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
    return errors + _choice_errors(path, chosen, text, f"{text}, but multiple fields are set")


def _chosen_places(holder: ResourceSliceSpec | Device) -> list[str]:
    values = holder.node_name, holder.node_selector, holder.all_nodes
    return [f"`{name}`" for name, value in zip(_PLACES, values, strict=True) if value]


def _choice_errors(path: str, chosen: list[str], none: str, several: str) -> list[FieldError]:
    if not chosen:
        return [FieldError.required(path, none)]
    return [FieldError.invalid(path, f"{{{', '.join(chosen)}}}", several)] if len(chosen) > 1 else []


def _devices_errors(path: str, spec: ResourceSliceSpec, rules: Rules) -> list[FieldError]:
    count = len(spec.devices)
    if count > DEVICES_MAX_ADVANCED and any(map(_is_advanced, spec.devices)):
        return [FieldError.too_many(f"{path}.devices", count, DEVICES_MAX_ADVANCED)]
    is_placed = bool(spec.per_device_node_selection)
    device_rules: Rules = {**rules, Device: Whole(partial(_device_errors, is_placed=is_placed))}
    return fields_errors(path, spec, device_rules, "devices")


def _is_advanced(device: Device) -> bool:
    return bool(device.taints or device.consumes_counters) or any(
        one.int_values or one.bool_values or one.string_values or one.version_values
        for one in device.attributes.values()
    )


def _device_errors(path: str, device: Device, rules: Rules, *, is_placed: bool) -> list[FieldError]:
    errors = fields_errors(path, device, rules, "name")
    count = len(device.attributes) + len(device.capacity)
    if count > ATTRIBUTES_AND_CAPACITIES_MAX:
        at_most = ATTRIBUTES_AND_CAPACITIES_MAX
        text = f"the total number of attributes and capacities must not exceed {at_most}"
        errors.append(FieldError.invalid(path, count, text))
    capacity_rules = SHARED_CAPACITY_RULES if device.allow_multiple_allocations else CAPACITY_RULES
    binding = "bindingConditions", "bindingFailureConditions"
    return [
        *errors,
        *fields_errors(path, device, rules, "attributes"),
        *fields_errors(path, device, capacity_rules, "capacity"),
        *fields_errors(path, device, rules, "taints", "consumesCounters", *binding),
        *binding_errors(path, device),
        *(_device_place_errors(path, device, rules) if is_placed else _misplaced_errors(path, device)),
    ]


def _misplaced_errors(path: str, device: Device) -> list[FieldError]:
    if device.node_name is None and device.node_selector is None and device.all_nodes is None:
        return []
    text = (
        "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` "
        "is set to true in the ResourceSlice spec"
    )
    return [FieldError.invalid(path, None, text)]


def _device_place_errors(path: str, device: Device, rules: Rules) -> list[FieldError]:
    text = (
        "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
        "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"
    )
    errors = fields_errors(path, device, rules, *_PLACES)
    return errors + _choice_errors(path, _chosen_places(device), text, text)


_RULES: Rules = {**SELECTOR_RULES, ResourceSliceSpec: Whole(_spec_errors)}

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
