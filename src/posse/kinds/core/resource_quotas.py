"""ResourceQuota: its rules, and what of a quota an object takes."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator

from posse.kinds.columns import AGE, NAME
from posse.kinds.core.pod_amounts import Amounts, milli_amounts, pod_amounts
from posse.kinds.core.pod_defaults import quality_of_service
from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import entries, section
from posse.kinds.machinery.kind import Json, Kind, KindRules, PrintedColumn, clear_status, keep_spec
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.model.meta import Quantity
from posse.model.pod import ENDED_PHASES
from posse.model.quantity import canonical, parse_quantity
from posse.model.quota import (
    BEST_EFFORT,
    NOT_BEST_EFFORT,
    NOT_TERMINATING,
    PRIORITY_CLASS,
    TERMINATING,
    ResourceQuota,
)

ONE = 1000
# A quota may leave out the word.
REQUESTS = ("cpu", "memory", "ephemeral-storage")
_CLASS_SUFFIX = ".storageclass.storage.k8s.io/"


def validate(quota: ResourceQuota) -> list[FieldError]:
    return metadata_errors(quota.metadata, namespaced=True) + declared_errors("spec", quota.spec)


def validate_update(new: ResourceQuota, old: ResourceQuota) -> list[FieldError]:
    return metadata_update_errors(new.metadata, old.metadata) + declared_errors("spec", new.spec, old.spec)


# What follows works on stored objects, and on new ones that were validated.


def charge(kind: Kind, obj: Json, quota: Json) -> Amounts:
    """Return what the object takes of the resources that the quota bounds, in thousandths."""
    if not counts(kind, obj, quota):
        return Counter()
    hard, amounts = (quota.get("spec") or {}).get("hard") or {}, _amounts(kind, obj)
    return Counter({name: amounts[name] for name in hard if amounts[name]})


def counts(kind: Kind, obj: Json, quota: Json) -> bool:
    """Whether the quota is about the object at all: scopes are about pods that have not ended."""
    is_pod = kind.name == "Pod"
    if is_pod and (obj.get("status") or {}).get("phase") in ENDED_PHASES:
        return False
    scopes = list(_scopes(quota))
    return not scopes or (is_pod and all(fits(obj) for fits in scopes))


def missing_amounts(pod: Json, quota: Json) -> list[str]:
    """Return the requests and limits that every container must state, because the quota bounds them."""
    found = []
    for name in (quota.get("spec") or {}).get("hard") or {}:
        side, _, resource = (
            name.rpartition(".") if name.startswith(("requests.", "limits.")) else ("", "", name)
        )
        if resource not in ("cpu", "memory"):
            continue
        lacking = [
            container.get("name", "")
            for field in ("containers", "initContainers")
            for container in entries(section(pod, "spec"), field)
            if resource not in (section(container, "resources").get(side or "requests") or {})
        ]
        if lacking:
            found.append(f"{name} for: {','.join(lacking)}")
    return found


def printed_amount(thousandths: int, like: Quantity) -> str:
    """Write an amount in the manner of another: binary suffixes for what is counted in them."""
    units, rest = divmod(thousandths, ONE)
    is_binary = parse_quantity(like).family == "binary" and not rest and not units % 1024
    return canonical(f"{units // 1024}Ki" if is_binary else f"{thousandths}m")


def _amounts(kind: Kind, obj: Json) -> Amounts:
    amounts = Counter({f"count/{kind.group_resource}": ONE})
    if not kind.group:
        amounts[kind.plural] = ONE
    if kind.name == "Pod":
        requests, limits = pod_amounts(obj, "requests"), pod_amounts(obj, "limits")
        amounts.update({f"requests.{name}": amount for name, amount in requests.items()})
        amounts.update({f"limits.{name}": amount for name, amount in limits.items()})
        amounts.update({name: requests[name] for name in REQUESTS if name in requests})
    elif kind.name == "PersistentVolumeClaim":
        spec = section(obj, "spec")
        asked = milli_amounts(section(spec, "resources").get("requests") or {})["storage"]
        amounts["requests.storage"] = asked
        if named := spec.get("storageClassName"):
            amounts[f"{named}{_CLASS_SUFFIX}requests.storage"] = asked
            amounts[f"{named}{_CLASS_SUFFIX}persistentvolumeclaims"] = ONE
    elif kind.name == "Service":
        spec = section(obj, "spec")
        amounts["services.loadbalancers"] = ONE * (spec.get("type") == "LoadBalancer")
        amounts["services.nodeports"] = ONE * _node_ports(spec)
    return amounts


def _node_ports(service: Json) -> int:
    """How many ports of nodes a Service asks for; those of a load balancer may be left out."""
    ports = entries(service, "ports")
    if service.get("type") == "LoadBalancer" and service.get("allocateLoadBalancerNodePorts") is False:
        return sum(bool(port.get("nodePort")) for port in ports)
    return len(ports) if service.get("type") in ("NodePort", "LoadBalancer") else 0


def _scopes(quota: Json) -> Iterator[Callable[[Json], bool]]:
    spec = quota.get("spec") or {}
    for scope in spec.get("scopes") or ():
        yield _scope(scope, "Exists", ())
    for each in (spec.get("scopeSelector") or {}).get("matchExpressions") or ():
        yield _scope(each.get("scopeName") or "", each.get("operator") or "", each.get("values") or ())


def _scope(name: str, operator: str, values: Collection[str]) -> Callable[[Json], bool]:
    def of_class(pod: Json) -> bool:
        found = section(pod, "spec").get("priorityClassName") or ""
        if operator in ("In", "NotIn"):
            return (found in values) is (operator == "In")
        return bool(found) is (operator == "Exists")

    tests: dict[str, Callable[[Json], bool]] = {
        TERMINATING: _is_terminating,
        NOT_TERMINATING: lambda pod: not _is_terminating(pod),
        BEST_EFFORT: _is_best_effort,
        NOT_BEST_EFFORT: lambda pod: not _is_best_effort(pod),
        PRIORITY_CLASS: of_class,
    }
    return tests[name]


def _is_terminating(pod: Json) -> bool:
    return section(pod, "spec").get("activeDeadlineSeconds") is not None


def _is_best_effort(pod: Json) -> bool:
    return quality_of_service(section(pod, "spec")) == "BestEffort"


def _shown(is_limit: bool) -> Callable[[Json, float], str]:
    def cell(quota: Json, _now: float) -> str:
        status = quota.get("status") or {}
        used = status.get("used") or {}
        hard = sorted((status.get("hard") or {}).items())
        return ", ".join(
            f"{name}: {used.get(name, '0')}/{bound}"
            for name, bound in hard
            if name.startswith("limits.") is is_limit
        )

    return cell


RESOURCE_QUOTA = Kind(
    name="ResourceQuota",
    plural="resourcequotas",
    struct=ResourceQuota,
    rules=KindRules(
        prepare_create=clear_status,
        prepare_status_update=keep_spec,
        validate=validate,
        validate_update=validate_update,
    ),
    columns=(
        NAME,
        PrintedColumn("Request", "string", "Used of what may be requested.", 0, _shown(is_limit=False)),
        PrintedColumn("Limit", "string", "Used of what limits may be.", 0, _shown(is_limit=True)),
        AGE,
    ),
    short_names=("quota",),
    has_status=True,
)
