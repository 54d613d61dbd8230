"""Of which resources a node never gives more than it has. All of them, unless a profile says otherwise."""

from dataclasses import dataclass

from posse.engine.resources import is_extended


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """Somebody else watches over what is ignored; only extended resources can be."""

    ignored: tuple[str, ...] = ()
    ignored_groups: tuple[str, ...] = ()
    """Domains: example.com stands for example.com/gpu and whatever else begins so."""
    are_enforced: bool = True
    """False: nodes are never full."""

    def cover(self, resource: str) -> bool:
        if not self.are_enforced or not is_extended(resource):
            return self.are_enforced
        return resource not in self.ignored and resource.partition("/")[0] not in self.ignored_groups


ALL_LIMITED = ResourceLimits()
NOTHING_LIMITED = ResourceLimits(are_enforced=False)
