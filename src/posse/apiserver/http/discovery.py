"""What the server serves, told in the two ways clients ask: one document per group and version, or all at
once.

Derived from the served kinds alone, so the documents never change while the process runs.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.machinery.subresources import BODIES

VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
STATUS_VERBS = ("get", "patch", "update")
SUBRESOURCE_VERBS: dict[str, tuple[str, ...]] = {
    "binding": ("create",),
    "eviction": ("create",),
    "finalize": ("update",),
    "token": ("create",),
    "scale": STATUS_VERBS,
    "status": STATUS_VERBS,
}
_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")
_STABILITY = {None: 2, "beta": 1, "alpha": 0}


def api_versions() -> Json:
    """The answer to /api."""
    # The addresses are for clients behind a network translation, which a loopback server has none of.
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}


def api_group_list(kinds: Sequence[Kind]) -> Json:
    """The answer to /apis."""
    groups = [_group(kinds, group) for group in _groups(kinds) if group]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def api_group(kinds: Sequence[Kind], group: str) -> Json:
    """The answer to /apis/GROUP."""
    return {"kind": "APIGroup", "apiVersion": "v1"} | _group(kinds, group)


def api_resource_list(kinds: Sequence[Kind], group: str, version: str) -> Json:
    """The answer to /api/v1 and to /apis/GROUP/VERSION."""
    resources = [
        entry
        for kind in kinds
        if kind.group == group and version in kind.versions
        for entry in _resource_entries(kind)
    ]
    group_version = f"{group}/{version}" if group else version
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version,
        "resources": resources,
    }


def discovery_list(kinds: Sequence[Kind], groups: Iterable[str]) -> Json:
    """Aggregated discovery: the answer to /api (the core group) or /apis (all others) in one document."""
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [_discovered_group(kinds, group) for group in groups],
    }


def documents(kinds: Sequence[Kind]) -> dict[str, Json]:
    """Return every plain discovery document by its path."""
    result = {"/api": api_versions(), "/apis": api_group_list(kinds)}
    for group in _groups(kinds):
        if group:
            result[f"/apis/{group}"] = api_group(kinds, group)
        for version in versions_of(kinds, group):
            path = f"/apis/{group}/{version}" if group else f"/api/{version}"
            result[path] = api_resource_list(kinds, group, version)
    return result


def aggregated_documents(kinds: Sequence[Kind]) -> dict[str, Json]:
    """Return both aggregated discovery documents by their path."""
    named = [group for group in _groups(kinds) if group]
    return {"/api": discovery_list(kinds, [""]), "/apis": discovery_list(kinds, named)}


def versions_of(kinds: Sequence[Kind], group: str) -> list[str]:
    """Return the served versions of a group, the preferred one first: stable, then beta, then alpha; newest
    first.
    """
    versions = {version for kind in kinds if kind.group == group for version in kind.versions}
    return sorted(versions, key=_version_rank, reverse=True)


def _version_rank(version: str) -> tuple[int, int, int]:
    match = _VERSION.fullmatch(version)
    if match is None:
        return (-1, 0, 0)
    major, stage, minor = match.groups()
    return (_STABILITY[stage], int(major), int(minor or 0))


def _groups(kinds: Sequence[Kind]) -> list[str]:
    return list(dict.fromkeys(kind.group for kind in kinds))


def _group(kinds: Sequence[Kind], group: str) -> Json:
    versions = [
        {"groupVersion": f"{group}/{version}", "version": version} for version in versions_of(kinds, group)
    ]
    return {"name": group, "versions": versions, "preferredVersion": versions[0]}


def _resource_entries(kind: Kind) -> list[Json]:
    entry: Json = {
        "name": kind.plural,
        "singularName": kind.singular,
        "namespaced": kind.namespaced,
        "kind": kind.name,
        "verbs": _verbs(kind),
    }
    return [entry | _naming(kind), *(_subresource_entry(kind, name) for name in _subresources(kind))]


def _subresource_entry(kind: Kind, subresource: str) -> Json:
    body = BODIES.get(subresource)
    entry: Json = {
        "name": f"{kind.plural}/{subresource}",
        "singularName": "",
        "namespaced": kind.namespaced,
        "kind": body.kind if body else kind.name,
        "verbs": list(SUBRESOURCE_VERBS[subresource]),
    }
    if body and body.group != kind.group:
        entry |= {"group": body.group, "version": body.version}
    return entry


def _discovered_group(kinds: Sequence[Kind], group: str) -> Json:
    versions = [
        {
            "version": version,
            "freshness": "Current",
            "resources": [
                _discovered_resource(kind, version)
                for kind in kinds
                if kind.group == group and version in kind.versions
            ],
        }
        for version in versions_of(kinds, group)
    ]
    return {"metadata": {"name": group} if group else {}, "versions": versions}


def _discovered_resource(kind: Kind, version: str) -> Json:
    entry: Json = {
        "resource": kind.plural,
        "responseKind": {"group": kind.group, "version": version, "kind": kind.name},
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": _verbs(kind),
    }
    subresources = [_discovered_subresource(kind, version, name) for name in _subresources(kind)]
    return entry | _naming(kind) | ({"subresources": subresources} if subresources else {})


def _discovered_subresource(kind: Kind, version: str, subresource: str) -> Json:
    body = BODIES.get(subresource)
    group, body_version, name = body[1:] if body else (kind.group, version, kind.name)
    response = {"group": group, "version": body_version, "kind": name}
    verbs = list(SUBRESOURCE_VERBS[subresource])
    return {"subresource": subresource, "responseKind": response, "verbs": verbs}


def _subresources(kind: Kind) -> tuple[str, ...]:
    return (*kind.subresources, "status") if kind.has_status else kind.subresources


def _verbs(kind: Kind) -> list[str]:
    return [verb for verb in VERBS if kind.has_delete_collection or verb != "deletecollection"]


def _naming(kind: Kind) -> dict[str, Any]:
    naming = {"shortNames": list(kind.short_names), "categories": list(kind.categories)}
    return {field: names for field, names in naming.items() if names}
