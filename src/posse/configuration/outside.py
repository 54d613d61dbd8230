"""Plugins from installed packages: each is a class that derives from one protocol of the engine.

Errors while loading or creating a plugin are problems of the configuration; the guard handles later ones.
"""

from collections.abc import Callable, Mapping
from typing import Any

from posse.engine.rules.contract import (
    ClusterScore,
    ClusterScoreRule,
    FilterRule,
    GroupRule,
    RelativeScore,
    RelativeScoreRule,
    RowScore,
    RowScoreRule,
)
from posse.engine.rules.plugin_guard import (
    GuardedClusterScore,
    GuardedFilterRule,
    GuardedGroupRule,
    GuardedRelativeScore,
    GuardedRowScore,
    GuardedScoreRule,
    PluginFaults,
)
from posse.engine.rules.profile import Profile

PluginLoader = Callable[[], object]
"""Returns the object that the entry point names; may raise anything."""


class PluginUnusable(Exception):  # noqa: N818 - the message goes on from the plugin's name
    """Why the plugin cannot be used."""


def outside_rules(
    name: str, load: PluginLoader, arguments: Mapping[str, Any], faults: PluginFaults
) -> Profile:
    plugin_class, protocol = _loaded(load)
    rule = _made(plugin_class, arguments)
    called = getattr(rule, "name", None)
    if called != name:
        raise PluginUnusable(f"calls itself {called!r}; its name attribute must be {name!r}")
    if protocol in _SCORES and not isinstance(getattr(rule, "weight", None), int):
        raise PluginUnusable("has no weight; a score has one, for when the file gives none")
    return _GUARDED[protocol](rule, faults)


def _loaded(load: PluginLoader) -> tuple[type, type]:
    """The class, and the protocol it implements."""
    try:
        loaded = load()
    except Exception as error:
        raise PluginUnusable(f"cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(loaded, type):
        raise PluginUnusable("is not a class; its entry point must name one")
    implemented = [protocol for protocol in _GUARDED if protocol in loaded.__mro__]
    if len(implemented) != 1:
        choices = ", ".join(protocol.__name__ for protocol in _GUARDED)
        raise PluginUnusable(f"must derive from exactly one of {choices} (posse.engine.rules.contract)")
    return loaded, implemented[0]


def _made(plugin_class: type, arguments: Mapping[str, Any]) -> Any:
    try:
        return plugin_class(arguments)
    except Exception as error:
        raise PluginUnusable(f"does not accept its arguments: {type(error).__name__}: {error}") from error


def _filter(rule: FilterRule, faults: PluginFaults) -> Profile:
    return Profile(filters=(GuardedFilterRule(rule, faults),))


def _row_score(rule: RowScoreRule, faults: PluginFaults) -> Profile:
    return Profile(row_scores=(GuardedScoreRule[RowScore](rule, faults, GuardedRowScore),))


def _relative_score(rule: RelativeScoreRule, faults: PluginFaults) -> Profile:
    return Profile(relative_scores=(GuardedScoreRule[RelativeScore](rule, faults, GuardedRelativeScore),))


def _cluster_score(rule: ClusterScoreRule, faults: PluginFaults) -> Profile:
    return Profile(cluster_scores=(GuardedScoreRule[ClusterScore](rule, faults, GuardedClusterScore),))


def _group_rule(rule: GroupRule, faults: PluginFaults) -> Profile:
    return Profile(group_rules=(GuardedGroupRule(rule, faults),))


_GUARDED: dict[type, Callable[[Any, PluginFaults], Profile]] = {
    FilterRule: _filter,
    RowScoreRule: _row_score,
    RelativeScoreRule: _relative_score,
    ClusterScoreRule: _cluster_score,
    GroupRule: _group_rule,
}
_SCORES = frozenset({RowScoreRule, RelativeScoreRule, ClusterScoreRule})
