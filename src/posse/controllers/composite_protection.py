"""A CompositePodGroup that is being deleted stays until no group names it as its parent; then its protection is lifted.

So trees go from the leaves to the root. The finalizer itself is put on by admission, the same one as on PodGroups. Groups that
are being deleted still count: their pods may still hold resources. Only groups that are each other's ancestors do not wait for
each other, once all of them are to go.
"""

from posse.controllers.podgroup_protection import Json, PodGroupName, Release, is_leaving, without_protection
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import COMPOSITE_POD_GROUP

_Child = tuple[Kind, str]


class CompositeProtection:
    """Objects seen go in; groups of groups that may go come out, each once per change that allows it."""

    def __init__(self) -> None:
        # Groups of groups that wait for deletion under protection; all others are of no interest.
        self._leaving: dict[PodGroupName, Json] = {}
        # The groups that name each parent. Parents without any have no entry.
        self._children: dict[PodGroupName, set[_Child]] = {}
        self._reconsider: dict[PodGroupName, None] = {}

    def see(self, kind: Kind, group: Json) -> None:
        """Take in a PodGroup or a CompositePodGroup; whom it names as its parent is for good."""
        name, parent = _name_of(group), _parent_of(group)
        if parent is not None:
            self._children.setdefault(parent, set()).add((kind, name.name))
        if kind is COMPOSITE_POD_GROUP:
            if is_leaving(group):
                self._leaving[name] = group
                self._reconsider |= dict.fromkeys([name, *self._leaving_ancestors(name)])
            else:
                self._leaving.pop(name, None)

    def lose(self, kind: Kind, group: Json) -> None:
        name, parent = _name_of(group), _parent_of(group)
        if kind is COMPOSITE_POD_GROUP:
            self._leaving.pop(name, None)
        if parent is None:
            return
        siblings = self._children.get(parent, set())
        siblings.discard((kind, name.name))
        if not siblings:
            self._children.pop(parent, None)
        self._reconsider[parent] = None

    def releases(self) -> list[Release]:
        """Return the groups of groups that may go by what has been seen since the last call."""
        reconsider, self._reconsider = self._reconsider, {}
        ready = [name for name in reconsider if name in self._leaving and self._is_free(name)]
        return [Release(*name, without_protection(self._leaving[name])) for name in ready]

    def _is_free(self, name: PodGroupName) -> bool:
        children = self._children.get(name)
        if not children:
            return True
        circle = self._leaving_ancestors(name)
        return all(
            kind is COMPOSITE_POD_GROUP and PodGroupName(name.namespace, child) in circle
            for kind, child in children
        )

    def _leaving_ancestors(self, name: PodGroupName) -> dict[PodGroupName, None]:
        """From the parent up, as long as they are to go; itself among them if it is its own ancestor."""
        found: dict[PodGroupName, None] = {}
        parent = _parent_of(self._leaving[name])
        while parent is not None and parent in self._leaving and parent not in found:
            found[parent] = None
            parent = _parent_of(self._leaving[parent])
        return found


def _name_of(group: Json) -> PodGroupName:
    return PodGroupName(group["metadata"]["namespace"], group["metadata"]["name"])


def _parent_of(group: Json) -> PodGroupName | None:
    parent = (group.get("spec") or {}).get("parentCompositePodGroupName")
    return PodGroupName(group["metadata"]["namespace"], parent) if parent else None
