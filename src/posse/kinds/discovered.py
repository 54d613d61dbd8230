"""What a cluster serves, read from its discovery documents: which version of each kind to speak, and whose
groups it has.

The plain documents are read, which every release has: /apis names the groups, and one more document per group
and version names what is in it. The caller fetches them.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.registry import KINDS, POD_GROUP, POSSE_POD_GROUP, WORKLOAD

GROUPS_PATH = "/apis"


class ClusterForm(StrEnum):
    """By whose kinds groups are described in a cluster: those of Kubernetes, or those that Posse brings
    along.
    """

    NATIVE = "native"
    CRD = "crd"


class _Resource(NamedTuple):
    group: str
    version: str
    plural: str


class Discovered:
    """`lists` are the documents found under the paths that `paths_to_ask` names."""

    def __init__(self, lists: Iterable[Json]) -> None:
        self._served = frozenset(resource for document in lists for resource in _resources(document))

    def version_of(self, kind: Kind) -> str | None:
        """The version in which to speak of this kind: of those that both sides know, the one nearest to the
        hub.
        """
        for version in kind.versions:
            if _Resource(kind.group, version, kind.plural) in self._served:
                return version
        return None

    @property
    def form(self) -> ClusterForm | None:
        """None if groups cannot be described at all yet. Where both can, Kubernetes comes first, as with
        pods.
        """
        if self.version_of(POD_GROUP) or self.version_of(WORKLOAD):
            return ClusterForm.NATIVE
        return ClusterForm.CRD if self.version_of(POSSE_POD_GROUP) else None


def paths_to_ask(groups: Json) -> list[str]:
    """Given what is found under GROUPS_PATH: where the cluster tells what it serves of the kinds that Posse
    knows.
    """
    known = {kind.api_version_of(version) for kind in KINDS if kind.group for version in kind.versions}
    offered = [version["groupVersion"] for group in groups.get("groups", ()) for version in group["versions"]]
    return ["/api/v1", *(f"/apis/{name}" for name in offered if name in known)]


def _resources(document: Json) -> Iterable[_Resource]:
    group, _, version = document["groupVersion"].rpartition("/")
    return [_Resource(group, version, entry["name"]) for entry in document["resources"]]
