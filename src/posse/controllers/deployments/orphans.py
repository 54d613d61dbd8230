"""ReplicaSets without a controller, which a Deployment adopts if its selector matches; and names taken."""

from collections import defaultdict

from posse.controllers.observed import ObservedObjects
from posse.controllers.steps import controller_uid, is_deleting
from posse.kinds.machinery.kind import Json
from posse.kinds.registry import REPLICA_SET
from posse.model.decoding import decode
from posse.model.deployment import Deployment
from posse.model.selectors import label_query


class OtherSets:
    """The ReplicaSets of all namespaces, by name; those that have no controller are orphans."""

    def __init__(self) -> None:
        self._sets = ObservedObjects()
        # Uids of orphans, by namespace.
        self._orphans: defaultdict[str, dict[str, None]] = defaultdict(dict)

    def see(self, obj: Json) -> bool:
        """Return whether the set is an orphan."""
        metadata = obj["metadata"]
        self._sets.see(REPLICA_SET, obj)
        self._orphans[metadata["namespace"]].pop(metadata["uid"], None)
        is_orphan = not controller_uid(obj) and not is_deleting(obj)
        if is_orphan:
            self._orphans[metadata["namespace"]][metadata["uid"]] = None
        return is_orphan

    def lose(self, obj: Json) -> None:
        self._sets.lose(obj)
        self._orphans[obj["metadata"]["namespace"]].pop(obj["metadata"]["uid"], None)

    def is_taken(self, namespace: str, name: str) -> bool:
        return self._sets.at(REPLICA_SET, namespace, name) is not None

    def adoptable(self, deployment: Json) -> list[Json]:
        """Return the orphans that the selector of the Deployment matches."""
        orphans = self._orphans.get(deployment["metadata"]["namespace"])
        selector = decode(Deployment, deployment).spec.selector if orphans else None
        if not orphans or selector is None:
            return []
        query = label_query(selector)
        found = [each for uid in orphans if (each := self._sets.get(uid)) is not None]
        return [each for each in found if query.matches(each["metadata"].get("labels") or {})]
