"""Checks the plugin sets of a profile: names, weights, and settings without effect."""

from collections.abc import Collection, Iterator

from posse.configuration.catalogue import INDISPENSABLE, NOT_DONE, REMOVED
from posse.configuration.plugin_sets import ALL
from posse.configuration.problems import ConfigurationProblem, suggestion
from posse.configuration.shapes import PluginEntry, Plugins, PluginSet
from posse.model.structure import fields_of

_WITHOUT_EFFECT = {
    "preEnqueue": "what keeps pods out of the queue is fixed",
    "queueSort": "the queue is always ordered by priority, then by age",
    "preFilter": "a rule prepares its filter itself; enable or disable it under filter",
    "preScore": "a rule prepares its score itself; enable or disable it under score",
    "reserve": "a decision reserves what it needs by itself",
    "preBind": "what comes before a binding is fixed",
    "bind": "Posse binds pods itself",
    "postBind": "nothing is asked after a binding",
    "placementGenerate": "where groups are tried is fixed",
    "podGroupPostFilter": "only single pods have room made for them",
}


def sets_by_point(plugins: Plugins) -> dict[str, PluginSet]:
    """By the names that the file uses."""
    attributes = type(plugins).__struct_fields__
    return {point: getattr(plugins, name) for point, name in zip(fields_of(Plugins), attributes, strict=True)}


def set_problems(plugins: Plugins, known: Collection[str], path: str) -> Iterator[ConfigurationProblem]:
    for point, entries in sets_by_point(plugins).items():
        yield from _enabled_problems(entries.enabled, known, f"{path}.{point}.enabled")
        yield from _disabled_problems(entries.disabled, known, f"{path}.{point}.disabled")


def set_notices(plugins: Plugins, path: str) -> Iterator[str]:
    for point, entries in sets_by_point(plugins).items():
        if point in _WITHOUT_EFFECT and (entries.enabled or entries.disabled):
            yield f"{path}.{point}: without effect; {_WITHOUT_EFFECT[point]}"
        for entry in entries.enabled:
            if entry.name in NOT_DONE:
                yield f"{path}.{point}.enabled: Posse has no {entry.name}; pods are scheduled without it"


def unknown_plugin(path: str, name: str, known: Collection[str]) -> ConfigurationProblem:
    if not name:
        return ConfigurationProblem(path, "is missing")
    if name in REMOVED:
        return ConfigurationProblem(
            path, f"{name} is no longer part of Kubernetes; NodeVolumeLimits does what it did"
        )
    return ConfigurationProblem(path, f"there is no plugin {name!r}", suggestion(name, known))


def _enabled_problems(
    entries: tuple[PluginEntry, ...], known: Collection[str], path: str
) -> Iterator[ConfigurationProblem]:
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        item = f"{path}[{index}]"
        if entry.name not in known:
            yield unknown_plugin(f"{item}.name", entry.name, known)
        elif entry.name in seen:
            yield ConfigurationProblem(f"{item}.name", f"{entry.name} is enabled twice; keep one")
        seen.add(entry.name)
        if entry.weight < 0:
            yield ConfigurationProblem(f"{item}.weight", f"must not be negative, and is {entry.weight}")


def _disabled_problems(
    entries: tuple[PluginEntry, ...], known: Collection[str], path: str
) -> Iterator[ConfigurationProblem]:
    for index, entry in enumerate(entries):
        item = f"{path}[{index}].name"
        if entry.name == ALL:
            continue
        if entry.name not in known:
            yield unknown_plugin(item, entry.name, known)
        elif entry.name in INDISPENSABLE:
            yield ConfigurationProblem(item, f"{entry.name} is part of Posse itself and cannot be disabled")
