"""LimitRange: its rules, and what it does to new pods and claims: defaults are filled in, bounds checked."""

from collections.abc import Iterable, Iterator, Mapping

from posse.kinds.columns import NAME, value_at
from posse.kinds.core.pod_amounts import milli_amounts, pod_amounts
from posse.kinds.machinery.declared import Rules, declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import entries, section
from posse.kinds.machinery.kind import Json, Kind, KindRules, PrintedColumn
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.model.meta import Quantity
from posse.model.quantity import QuantityError, canonical, milli_value
from posse.model.quota import CLAIM, CONTAINER, POD, LimitRange, LimitRangeItem, limit_type


def default(obj: Json) -> None:
    """An upper bound is the default limit, and that is the default request, unless they are stated."""
    for item in entries(section(obj, "spec"), "limits"):
        if item.get("type") == CONTAINER:
            _fill(section(item, "default"), section(item, "max"))
            _fill(section(item, "defaultRequest"), section(item, "default"))
            _fill(section(item, "defaultRequest"), section(item, "min"))
            for name in ("default", "defaultRequest", "max", "min"):
                if not item[name]:
                    del item[name]


def validate(ranges: LimitRange) -> list[FieldError]:
    errors = metadata_errors(ranges.metadata, namespaced=True)
    return errors + declared_errors("spec", ranges.spec, rules=_RULES)


def validate_update(new: LimitRange, old: LimitRange) -> list[FieldError]:
    return metadata_update_errors(new.metadata, old.metadata) + validate(new)


def _item_errors(field: str, item: LimitRangeItem) -> list[FieldError]:
    errors = []
    if item.type != CONTAINER and not limit_type.problems(item.type):
        text = f"may not be specified when `type` is '{item.type}'"
        sides = {"default": item.default, "defaultRequest": item.default_request}
        errors = [FieldError.forbidden(f"{field}.{name}", text) for name, amounts in sides.items() if amounts]
    try:
        return errors or _order_errors(field, item)
    except QuantityError:
        # Told by itself.
        return errors


def _order_errors(field: str, item: LimitRangeItem) -> list[FieldError]:
    """A lower bound, a default request, a default and an upper bound follow one another."""
    errors, steps = [], [("min", item.min), ("defaultRequest", item.default_request)]
    steps += [("default", item.default), ("max", item.max)]
    for place, (low_name, low) in enumerate(steps):
        for high_name, high in steps[place + 1 :]:
            for name in low.keys() & high.keys():
                if milli_value(low[name]) > milli_value(high[name]):
                    text = f"{low_name} value {low[name]} is greater than {high_name} value {high[name]}"
                    errors.append(FieldError.invalid(f"{field}.{low_name}[{name}]", low[name], text))
    return errors


_RULES: Rules = {LimitRangeItem: _item_errors}


# What follows works on stored ranges and on new objects that are not validated yet.


def fill_limits(pod: Json, ranges: Iterable[Json]) -> None:
    """Give containers the requests and limits that they leave out."""
    spec = section(pod, "spec")
    for item in _items(ranges, CONTAINER):
        for container in (*entries(spec, "initContainers"), *entries(spec, "containers")):
            for side, defaults in (("limits", "default"), ("requests", "defaultRequest")):
                if item.get(defaults):
                    _fill(section(section(container, "resources"), side), item[defaults])


def _fill(amounts: Json, defaults: Mapping[str, Quantity]) -> None:
    for name, amount in defaults.items():
        amounts.setdefault(name, amount)


def pod_limit_problems(pod: Json, ranges: Iterable[Json]) -> list[str]:
    ranges, spec = list(ranges), section(pod, "spec")
    if not ranges:
        return []
    problems: list[str] = []
    for container in (*entries(spec, "initContainers"), *entries(spec, "containers")):
        resources = section(container, "resources")
        sides = milli_amounts(resources.get("requests") or {}), milli_amounts(resources.get("limits") or {})
        for item in _items(ranges, CONTAINER):
            problems += _problems(item, *sides)
    for item in _items(ranges, POD):
        problems += _problems(item, pod_amounts(pod, "requests"), pod_amounts(pod, "limits"))
    return problems


def claim_limit_problems(claim: Json, ranges: Iterable[Json]) -> list[str]:
    requests = milli_amounts(section(section(claim, "spec"), "resources").get("requests") or {})
    return [text for item in _items(ranges, CLAIM) for text in _problems(item, requests, requests)]


def _items(ranges: Iterable[Json], kind: str) -> Iterator[Json]:
    for each in ranges:
        yield from (item for item in (each.get("spec") or {}).get("limits") or () if item.get("type") == kind)


def _problems(item: Json, requests: Mapping[str, int], limits: Mapping[str, int]) -> Iterator[str]:
    kind = item["type"]
    for name, bound in (item.get("min") or {}).items():
        text = f"minimum {name} usage per {kind} is {bound}"
        if name not in requests:
            yield f"{text}.  No request is specified"
        elif requests[name] < milli_value(bound):
            yield f"{text}, but request is {_printed(requests[name])}"
    for name, bound in (item.get("max") or {}).items():
        text = f"maximum {name} usage per {kind} is {bound}"
        if name not in limits:
            yield f"{text}.  No limit is specified"
        elif limits[name] > milli_value(bound):
            yield f"{text}, but limit is {_printed(limits[name])}"
    for name, bound in (item.get("maxLimitRequestRatio") or {}).items():
        request, limit = requests.get(name, 0), limits.get(name, 0)
        if not request or limit * 1000 > milli_value(bound) * request:
            ratio = f"provided ratio is {limit / request:f}" if request else "no request is specified"
            yield f"{name} max limit to request ratio per {kind} is {bound}, but {ratio}"


def _printed(thousandths: int) -> str:
    return canonical(f"{thousandths}m")


LIMIT_RANGE = Kind(
    name="LimitRange",
    plural="limitranges",
    struct=LimitRange,
    rules=KindRules(default=default, validate=validate, validate_update=validate_update),
    columns=(
        NAME,
        PrintedColumn(
            "Created At",
            "string",
            "When it was created.",
            0,
            value_at("metadata", "creationTimestamp", absent=""),
        ),
    ),
    short_names=("limits",),
)
