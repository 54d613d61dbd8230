"""Nodes and pods as a watch shows them, for the view of a cluster that is served elsewhere."""

from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import NODE, POD
from posse.runtime.embedded.usage import NodeUsage, node_usage
from posse.runtime.watching.informers import Follower, Json, attend
from posse.transport.transport import Transport

Key = tuple[str, str]
Objects = dict[Key, Json]


class ObservedNodes:
    def __init__(self, transport: Transport) -> None:
        self._nodes: Objects = {}
        self._pods: Objects = {}
        self._followers = (_following(transport, NODE, self._nodes), _following(transport, POD, self._pods))

    async def run(self) -> None:
        """Follow both until cancelled."""
        await attend(self._followers)

    def usage(self) -> list[NodeUsage]:
        nodes = [self._nodes[key] for key in sorted(self._nodes)]
        return list(node_usage(nodes, self._pods.values()))


def _following(transport: Transport, kind: Kind, objects: Objects) -> Follower:
    def see(obj: Json) -> None:
        objects[_key(obj)] = obj

    def lose(obj: Json) -> None:
        objects.pop(_key(obj), None)

    return Follower(transport, kind, see, lose)


def _key(obj: Json) -> Key:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]
