"""Which plugins run at an extension point, in which order and with which weight, as in kube-scheduler.

The multiPoint set changes the default plugins. A set for one point then disables some there, overrides
weights and order, or adds plugins for that point only.
"""

from collections.abc import Callable, Iterable, Sequence

from posse.configuration.shapes import PluginEntry, PluginSet

ALL = "*"


def merged(defaults: Sequence[PluginEntry], custom: PluginSet) -> list[PluginEntry]:
    """Defaults that are not disabled, with new weights but in place, then the other enabled plugins."""
    disabled = _names(custom.disabled)
    configured = {entry.name: entry for entry in custom.enabled}
    kept = [entry for entry in defaults if ALL not in disabled and entry.name not in disabled]
    replaced = _names(kept)
    return [
        *(configured.get(entry.name, entry) for entry in kept),
        *(entry for entry in custom.enabled if entry.name not in replaced),
    ]


def at_point(
    everywhere: Sequence[PluginEntry], point: PluginSet, implements: Callable[[str], bool]
) -> list[PluginEntry]:
    """Return the plugins of one extension point; `implements` says which multiPoint plugins apply there."""
    disabled = _names(point.disabled)
    if ALL in disabled:
        return list(point.enabled)
    present = [entry for entry in everywhere if implements(entry.name) and entry.name not in disabled]
    overridden = _names(present) & _names(point.enabled)
    return [
        *(entry for entry in point.enabled if entry.name in overridden),
        *(entry for entry in present if entry.name not in overridden),
        *(entry for entry in point.enabled if entry.name not in overridden),
    ]


def weight_of(entry: PluginEntry) -> int:
    """A plugin enabled without a weight has weight 1, even if its default weight is higher."""
    return entry.weight or 1


def _names(entries: Iterable[PluginEntry]) -> set[str]:
    return {entry.name for entry in entries}
