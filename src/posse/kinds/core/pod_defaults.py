"""What Kubernetes fills in when a pod is created: defaults of its spec, its first status, its quality of
service.
"""

from collections.abc import Iterable, Iterator

from posse.kinds.machinery.filling import entries, fill, fill_text, section
from posse.kinds.machinery.kind import Json
from posse.model.quantity import QuantityError, milli_value

DEFAULT_SCHEDULER = "default-scheduler"
GRACE_SECONDS = 30
GATED_MESSAGE = "Scheduling is blocked due to non-empty scheduling gates"
# The resources that decide the quality of service; others do not count.
QUALITY_RESOURCES = ("cpu", "memory")


def default_pod(obj: Json) -> None:
    spec = section(obj, "spec")
    fill_text(spec, "restartPolicy", "Always")
    fill_text(spec, "dnsPolicy", "ClusterFirst")
    fill_text(spec, "schedulerName", DEFAULT_SCHEDULER)
    fill(spec, "terminationGracePeriodSeconds", GRACE_SECONDS)
    fill(spec, "enableServiceLinks", value=True)
    fill(spec, "securityContext", {})
    for container in (*entries(spec, "containers"), *entries(spec, "initContainers")):
        _default_container(container, host_network=spec.get("hostNetwork") is True)
    _default_requests(section(spec, "resources") if "resources" in spec else {})


def _default_container(container: Json, *, host_network: bool) -> None:
    fill_text(container, "terminationMessagePath", "/dev/termination-log")
    fill_text(container, "terminationMessagePolicy", "File")
    fill_text(container, "imagePullPolicy", _pull_policy(container.get("image")))
    for port in entries(container, "ports"):
        fill_text(port, "protocol", "TCP")
        if host_network and port.get("hostPort") in (None, 0) and "containerPort" in port:
            port["hostPort"] = port["containerPort"]
    _default_requests(section(container, "resources"))


def _default_requests(resources: Json) -> None:
    """A limit without a request asks for as much as it allows."""
    limits = resources.get("limits")
    if isinstance(limits, dict) and limits:
        requests = section(resources, "requests")
        for name, amount in limits.items():
            fill(requests, name, amount)


def _pull_policy(image: object) -> str:
    """A tag that may move is pulled again, a fixed one is not.

    A colon may also belong to a registry's port.
    """
    name = image.rpartition("/")[2] if isinstance(image, str) else ""
    fixed = "@" in name or (":" in name and not name.endswith(":latest"))
    return "IfNotPresent" if fixed else "Always"


def first_status(obj: Json) -> None:
    """A new pod is pending, whatever status its creator sent."""
    status: Json = {"phase": "Pending", "qosClass": quality_of_service(section(obj, "spec"))}
    if entries(section(obj, "spec"), "schedulingGates"):
        status["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "reason": "SchedulingGated",
                "message": GATED_MESSAGE,
            }
        ]
    obj["status"] = status


def quality_of_service(spec: Json) -> str:
    """Amounts that make no sense count as none: they are refused later."""
    whole_pod = spec.get("resources")
    if isinstance(whole_pod, dict) and (whole_pod.get("requests") or whole_pod.get("limits")):
        parts = [whole_pod]
    else:
        containers = (*entries(spec, "containers"), *entries(spec, "initContainers"))
        parts = [section(container, "resources") for container in containers]
    if not any(_amounts(part, kind) for part in parts for kind in ("requests", "limits")):
        return "BestEffort"
    return "Guaranteed" if all(map(_is_guaranteed, parts)) else "Burstable"


def _is_guaranteed(resources: Json) -> bool:
    limits = _amounts(resources, "limits")
    return len(limits) == len(QUALITY_RESOURCES) and _amounts(resources, "requests") == limits


def _amounts(resources: Json, kind: str) -> dict[str, int]:
    amounts = resources.get(kind)
    return dict(_positive(amounts.items())) if isinstance(amounts, dict) else {}


def _positive(amounts: Iterable[tuple[str, object]]) -> Iterator[tuple[str, int]]:
    for name, amount in amounts:
        if name in QUALITY_RESOURCES and isinstance(amount, str | int | float):
            try:
                thousandths = milli_value(amount)
            except QuantityError:
                continue
            if thousandths > 0:
                yield name, thousandths
