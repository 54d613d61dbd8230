"""Leaves out of objects what no rule reads: environments, commands, annotations of others, managed fields."""

from typing import Any

Json = dict[str, Any]

_CONTAINER_FIELDS = frozenset({"name", "image", "resources", "ports", "restartPolicy"})
_CONTAINER_LISTS = frozenset({"containers", "initContainers", "ephemeralContainers"})
_UNREAD_VOLUMES = frozenset({"secret", "configMap", "projected", "downwardAPI", "hostPath", "emptyDir"})
_UNREAD_METADATA = frozenset({"managedFields", "selfLink"})
_UNREAD_STATUS = frozenset(
    {"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses", "podIP", "podIPs", "hostIP"}
    | {"hostIPs", "nodeInfo", "addresses", "daemonEndpoints", "volumesInUse"}
)
_UNREAD_SPEC = frozenset({"imagePullSecrets", "dnsConfig", "hostAliases", "securityContext"})
_READ_DOMAINS = ("posse.dev", "k8s.io", "volcano.sh")
"""Annotations with one of these domains, or below it, may be read."""


def pruned(obj: Json) -> Json:
    """The object without what no rule reads; the rest is as it was."""
    return {
        name: {key: value for key, value in part.items() if key not in _UNREAD_STATUS}
        if name == "status" and isinstance(part, dict)
        else _part(part, name)
        for name, part in obj.items()
        if name not in {"data", "binaryData", "stringData"}
    }


def _part(value: Any, field: str) -> Any:
    if isinstance(value, list):
        if field in _CONTAINER_LISTS:
            return [_only(item, _CONTAINER_FIELDS) for item in value]
        if field == "volumes":
            return [_without(item, _UNREAD_VOLUMES) for item in value]
        return [_part(item, "") for item in value]
    if not isinstance(value, dict):
        return value
    if field == "annotations":
        return {key: text for key, text in value.items() if _is_read(key)}
    kept = _without(value, _UNREAD_METADATA if field == "metadata" else _UNREAD_SPEC)
    return {key: _part(item, key) for key, item in kept.items()}


def _is_read(annotation: str) -> bool:
    domain = annotation.partition("/")[0] if "/" in annotation else ""
    return any(domain == known or domain.endswith(f".{known}") for known in _READ_DOMAINS)


def _only(item: Any, fields: frozenset[str]) -> Any:
    return {key: value for key, value in item.items() if key in fields} if isinstance(item, dict) else item


def _without(item: Any, fields: frozenset[str]) -> Any:
    return (
        {key: value for key, value in item.items() if key not in fields} if isinstance(item, dict) else item
    )
