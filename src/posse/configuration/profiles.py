"""One profile of the file: which rules take part, in which order and with which weight."""

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from posse.configuration.arguments import ArgumentReader, PluginArguments
from posse.configuration.catalogue import BUILT_IN, DEFAULT_PLUGINS, FULLNESS, PODS_COUNT, PREEMPTION
from posse.configuration.outside import PluginLoader, PluginUnusable, outside_rules
from posse.configuration.plugin_checks import set_notices, set_problems
from posse.configuration.plugin_sets import at_point, merged, weight_of
from posse.configuration.problems import ConfigurationProblem
from posse.configuration.rules import domain_resources_of, limits_of, rules_of, spreading_of
from posse.configuration.shapes import PackingShape, PluginEntry, Plugins, PluginSet, ProfileShape
from posse.engine.nodes.resources import NOTHING_LIMITED
from posse.engine.pods.policy import PodPolicy
from posse.engine.queue.policies import POLICIES, PRIORITY_FIFO
from posse.engine.rules.plugin_guard import PluginFaults
from posse.engine.rules.profile import DomainScoring, PackingPolicy, Profile
from posse.model.formats import label_key

_NO_RULES = Profile()


class Weighted(Protocol):
    weight: int


W = TypeVar("W", bound=Weighted)


class ProfileReader:
    """Reads profiles one by one and collects the problems and notices of all."""

    def __init__(self, plugins: Mapping[str, PluginLoader]) -> None:
        self.problems: list[ConfigurationProblem] = []
        self.notices: list[str] = []
        self.faults = PluginFaults()
        self._plugins = plugins
        self._known = BUILT_IN | plugins.keys()
        for name in sorted(BUILT_IN & plugins.keys()):
            self.notices.append(
                f"plugin {name} of an installed package is ignored; Kubernetes has its own {name}"
            )

    def read(self, shape: ProfileShape, path: str) -> Profile:
        plugins, sets = shape.plugins, f"{path}.plugins"
        self.problems += set_problems(plugins, self._known, sets)
        self.notices += set_notices(plugins, sets)
        reader = ArgumentReader(self._known, self.problems, self.notices)
        arguments = reader.read(shape.plugin_config, f"{path}.pluginConfig")
        everywhere = merged(DEFAULT_PLUGINS, plugins.multi_point)
        enabled = [*everywhere, *plugins.filter.enabled, *plugins.score.enabled, *plugins.permit.enabled]
        rules = self._rules(dict.fromkeys(entry.name for entry in enabled), arguments, sets)
        self.problems += _misplaced(plugins, rules, sets)
        packing = self._packing(shape.packing, f"{path}.packing")
        queue_policy = self._queue_policy(shape.queue_policy, f"{path}.queuePolicy")
        assembled = _assembled(_Choice(everywhere, rules), plugins, arguments)
        return replace(assembled, packing=packing, queue_policy=queue_policy)

    def _queue_policy(self, name: str | None, path: str) -> str:
        if name is not None and name not in POLICIES:
            self.problems.append(
                ConfigurationProblem(path, f"must be one of {', '.join(POLICIES)}, not {name!r}")
            )
        return name or PRIORITY_FIFO.name

    def _packing(self, shape: PackingShape | None, path: str) -> PackingPolicy | None:
        if shape is None:
            return None
        for index, key in enumerate(shape.topology_keys):
            problems = label_key(key)
            if key in shape.topology_keys[:index]:
                problems.append(f"{key} is there twice; name each level once, the widest first")
            self.problems += [
                ConfigurationProblem(f"{path}.topologyKeys[{index}]", problem) for problem in problems
            ]
        return PackingPolicy(shape.topology_keys, shape.single_pods)

    def _rules(self, names: Iterable[str], arguments: PluginArguments, path: str) -> dict[str, Profile]:
        rules: dict[str, Profile] = {}
        for name in names:
            if name in BUILT_IN:
                rules[name] = rules_of(name, arguments)
            elif name in self._plugins:
                rules[name] = self._outside_rules(name, arguments, path)
        return rules

    def _outside_rules(self, name: str, arguments: PluginArguments, path: str) -> Profile:
        try:
            return outside_rules(name, self._plugins[name], arguments.outside.get(name, {}), self.faults)
        except PluginUnusable as unusable:
            self.problems.append(ConfigurationProblem(path, f"plugin {name} {unusable}"))
            return _NO_RULES


@dataclass(frozen=True, slots=True)
class _Choice:
    everywhere: Sequence[PluginEntry]
    """What multiPoint and the defaults enable."""
    rules: Mapping[str, Profile]

    def at(self, point: PluginSet, speaks: Callable[[Profile], bool]) -> list[tuple[int, Profile]]:
        """Weights and rules of the plugins of a point."""

        def implements(name: str) -> bool:
            return speaks(self.rules.get(name, _NO_RULES))

        entries = at_point(self.everywhere, point, implements)
        return [(weight_of(entry), self.rules.get(entry.name, _NO_RULES)) for entry in entries]


def _assembled(choice: _Choice, plugins: Plugins, arguments: PluginArguments) -> Profile:
    filtering = choice.at(plugins.filter, _filters)
    filters = [rule for _, rules in filtering for rule in rules.filters]
    scoring = choice.at(plugins.score, _scores)
    fits = any(rule.name == "NodeResourcesFit" for rule in filters)
    return Profile(
        preconditions=tuple(rule for _, rules in filtering for rule in rules.preconditions),
        narrowings=tuple(rule for _, rules in filtering for rule in rules.narrowings),
        filters=tuple(filters),
        row_scores=tuple(_weighing(r, weight) for weight, rules in scoring for r in rules.row_scores),
        relative_scores=tuple(
            _weighing(r, weight) for weight, rules in scoring for r in rules.relative_scores
        ),
        cluster_scores=tuple(_weighing(r, weight) for weight, rules in scoring for r in rules.cluster_scores),
        group_rules=tuple(
            r for _, rules in choice.at(plugins.permit, _group_rules) for r in rules.group_rules
        ),
        domain_scoring=_domain_scoring(choice.everywhere, plugins.placement_score, arguments),
        policy=PodPolicy(limits_of(arguments) if fits else NOTHING_LIMITED, spreading_of(arguments)),
        preempts=_preempts(choice.everywhere, plugins.post_filter),
    )


def _domain_scoring(
    everywhere: Sequence[PluginEntry], point: PluginSet, arguments: PluginArguments
) -> DomainScoring:
    entries = at_point(everywhere, point, {FULLNESS, PODS_COUNT}.__contains__)
    weights = {entry.name: weight_of(entry) for entry in entries}
    # The number of pods always counts; it is part of what a group's placement is.
    return DomainScoring(domain_resources_of(arguments), weights.get(FULLNESS, 0), weights.get(PODS_COUNT, 1))


def _preempts(everywhere: Sequence[PluginEntry], point: PluginSet) -> bool:
    return any(entry.name == PREEMPTION for entry in at_point(everywhere, point, PREEMPTION.__eq__))


def _weighing(rule: W, weight: int) -> W:
    weighed = copy.copy(rule)
    weighed.weight = weight
    return weighed


def _filters(rules: Profile) -> bool:
    return bool(rules.filters)


def _scores(rules: Profile) -> bool:
    return bool(rules.row_scores or rules.relative_scores or rules.cluster_scores)


def _group_rules(rules: Profile) -> bool:
    return bool(rules.group_rules)


def _misplaced(plugins: Plugins, rules: Mapping[str, Profile], path: str) -> list[ConfigurationProblem]:
    """Plugins that are enabled at a point for which they have no rule."""
    points = (
        ("filter", plugins.filter, _filters),
        ("score", plugins.score, _scores),
        ("permit", plugins.permit, _group_rules),
    )
    return [
        ConfigurationProblem(
            f"{path}.{point}.enabled[{index}].name", f"{entry.name} has no rule for this point; remove it"
        )
        for point, entries, speaks in points
        for index, entry in enumerate(entries.enabled)
        if entry.name in rules and rules[entry.name] != _NO_RULES and not speaks(rules[entry.name])
    ]
