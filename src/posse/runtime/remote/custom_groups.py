"""A Transport for controllers of Kubernetes' own groups, on a cluster whose groups are custom resources.

It replaces Workloads and groups by those of scheduling.posse.dev, and the schedulingGroup of a pod template
by a label.
"""

from collections.abc import AsyncIterator, Mapping, Sequence

from posse.engine.groups.forms import POSSE_LABEL
from posse.kinds.machinery.errors import ApiError
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.registry import (
    COMPOSITE_POD_GROUP,
    JOB,
    POD_GROUP,
    POSSE_COMPOSITE_POD_GROUP,
    POSSE_POD_GROUP,
    POSSE_WORKLOAD,
    WORKLOAD,
)
from posse.transport.objects import Listing, Page, WatchEvent
from posse.transport.patches import Patch
from posse.transport.transport import PodBinding, Transport

CUSTOM: Mapping[Kind, Kind] = {
    WORKLOAD: POSSE_WORKLOAD,
    POD_GROUP: POSSE_POD_GROUP,
    COMPOSITE_POD_GROUP: POSSE_COMPOSITE_POD_GROUP,
}


class CustomGroups:
    """Implements Transport."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(
        self, kind: Kind, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> Listing:
        return await self._transport.list(_custom(kind), namespace, labels=labels, fields=fields)

    def pages(self, kind: Kind, *, labels: str = "") -> AsyncIterator[Page]:
        return self._transport.pages(_custom(kind), labels=labels)

    def watch(
        self,
        kind: Kind,
        resource_version: str,
        namespace: str | None = None,
        *,
        labels: str = "",
        fields: str = "",
    ) -> AsyncIterator[Sequence[WatchEvent]]:
        return self._transport.watch(_custom(kind), resource_version, namespace, labels=labels, fields=fields)

    async def get(self, kind: Kind, namespace: str, name: str) -> Json:
        return await self._transport.get(_custom(kind), namespace, name)

    async def create(self, kind: Kind, namespace: str, obj: Json) -> Json:
        return await self._transport.create(_custom(kind), namespace, labelled(kind, obj))

    async def update(
        self, kind: Kind, namespace: str, name: str, obj: Json, *, subresource: str = ""
    ) -> Json:
        body = labelled(kind, obj)
        return await self._transport.update(_custom(kind), namespace, name, body, subresource=subresource)

    async def patch(
        self, kind: Kind, namespace: str, name: str, patch: Patch, *, subresource: str = ""
    ) -> Json:
        return await self._transport.patch(_custom(kind), namespace, name, patch, subresource=subresource)

    async def delete(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        *,
        grace_seconds: int | None = None,
        uid: str = "",
        propagation: str = "",
    ) -> Json:
        return await self._transport.delete(
            _custom(kind), namespace, name, grace_seconds=grace_seconds, uid=uid, propagation=propagation
        )

    async def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        await self._transport.bind(namespace, name, uid, node)

    async def bind_all(self, groups: Sequence[Sequence[PodBinding]]) -> Sequence[Sequence[ApiError | None]]:
        return await self._transport.bind_all(groups)


def _custom(kind: Kind) -> Kind:
    return CUSTOM.get(kind, kind)


def labelled(kind: Kind, obj: Json) -> Json:
    """Return the object as it is written: pods of a Job name their group by a label."""
    if kind in CUSTOM:
        return obj | {"apiVersion": CUSTOM[kind].api_version}
    template = obj["spec"]["template"] if kind is JOB else {}
    if "schedulingGroup" not in template.get("spec", {}):
        return obj
    spec = {name: value for name, value in template["spec"].items() if name != "schedulingGroup"}
    metadata = template.get("metadata") or {}
    named = {POSSE_LABEL: template["spec"]["schedulingGroup"]["podGroupName"]}
    labels = (metadata.get("labels") or {}) | named
    template = template | {"metadata": metadata | {"labels": labels}, "spec": spec}
    return obj | {"spec": obj["spec"] | {"template": template}}
