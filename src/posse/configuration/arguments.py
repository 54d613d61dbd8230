"""The arguments that a profile gives to its plugins: each plugin once, the right kind, nothing unknown."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from posse.configuration.argument_checks import argument_problems
from posse.configuration.catalogue import BUILT_IN, NOT_DONE
from posse.configuration.decoding import decoded
from posse.configuration.plugin_checks import unknown_plugin
from posse.configuration.problems import ConfigurationProblem
from posse.configuration.shapes import (
    API_VERSION,
    Arguments,
    DefaultPreemptionArgs,
    DynamicResourcesArgs,
    InterPodAffinityArgs,
    NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    PluginConfig,
    PodTopologySpreadArgs,
    VolumeBindingArgs,
)

A = TypeVar("A", bound=Arguments)

_SHAPES: dict[str, type[Arguments]] = {
    "NodeResourcesFit": NodeResourcesFitArgs,
    "NodeResourcesBalancedAllocation": NodeResourcesBalancedAllocationArgs,
    "NodeAffinity": NodeAffinityArgs,
    "PodTopologySpread": PodTopologySpreadArgs,
    "InterPodAffinity": InterPodAffinityArgs,
    "DefaultPreemption": DefaultPreemptionArgs,
    "VolumeBinding": VolumeBindingArgs,
    "DynamicResources": DynamicResourcesArgs,
}
_FIXED = frozenset({"DefaultPreemption", "DynamicResources", "VolumeBinding"})
"""Plugins whose arguments are checked but ignored: Posse always uses the defaults of Kubernetes."""


@dataclass(frozen=True, slots=True)
class PluginArguments:
    known: Mapping[str, Arguments] = field(default_factory=dict)
    """Of plugins of kube-scheduler."""
    outside: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Of plugins from installed packages, unchanged from the file."""

    def of(self, name: str, struct: type[A]) -> A:
        args = self.known.get(name)
        return args if isinstance(args, struct) else struct()


class ArgumentReader:
    """Reads the pluginConfig of one profile."""

    def __init__(
        self, known: Collection[str], problems: list[ConfigurationProblem], notices: list[str]
    ) -> None:
        self._known = known
        self._problems = problems
        self._notices = notices

    def read(self, configs: tuple[PluginConfig, ...], path: str) -> PluginArguments:
        known: dict[str, Arguments] = {}
        raw: dict[str, Mapping[str, Any]] = {}
        for index, config in enumerate(configs):
            item = f"{path}[{index}]"
            if config.name in known or config.name in raw:
                self._refuse(f"{item}.name", f"{config.name} is configured twice; put its arguments together")
            elif config.name not in self._known:
                self._problems.append(unknown_plugin(f"{item}.name", config.name, self._known))
            elif config.name in _SHAPES:
                known[config.name] = self._checked(config, f"{item}.args")
            elif config.name in BUILT_IN:
                self._refuse(f"{item}.name", f"{config.name} takes no arguments; remove the entry")
            else:
                raw[config.name] = self._free_form(config.args, f"{item}.args")
        return PluginArguments(known, raw)

    def _checked(self, config: PluginConfig, path: str) -> Arguments:
        name, misfits = config.name, list[ConfigurationProblem]()
        args = decoded(_SHAPES[name], {} if config.args is None else config.args, path, misfits)
        wrong = [*_kind_problems(args, name, path), *argument_problems(args, path)]
        # Fields that did not fit were dropped, so they are not reported as missing.
        wrong = misfits + [
            one for one in wrong if not any(_overlap(one.path, other.path) for other in misfits)
        ]
        if wrong:
            self._problems += wrong
            return _SHAPES[name]()
        if name in _FIXED and config.args:
            self._notices.append(f"{path}: without effect; Posse always uses the default values")
        if name in NOT_DONE:
            self._notices.append(f"{path}: without effect; Posse has no {name}")
        return args

    def _free_form(self, args: Any, path: str) -> Mapping[str, Any]:
        if isinstance(args, dict) or args is None:
            return args or {}
        self._refuse(path, "expected an object")
        return {}

    def _refuse(self, path: str, message: str) -> None:
        self._problems.append(ConfigurationProblem(path, message))


def _kind_problems(args: Arguments, name: str, path: str) -> Iterator[ConfigurationProblem]:
    for field_name, given, right in (
        ("apiVersion", args.api_version, API_VERSION),
        ("kind", args.kind, f"{name}Args"),
    ):
        if given not in {"", right}:
            yield ConfigurationProblem(f"{path}.{field_name}", f"must be {right}, not {given!r}")


def _overlap(one: str, other: str) -> bool:
    """Whether one path is a prefix of the other."""
    longer, shorter = max(one, other, key=len), min(one, other, key=len)
    return longer == shorter or longer.startswith((f"{shorter}.", f"{shorter}["))
