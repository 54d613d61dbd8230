"""What if a group that is there had another priority, a smaller minimum or no topology constraint?"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from posse.cli.explain.targets import groups_meant, parse_target
from posse.cli.plan.overrides import Overrides, adjusted
from posse.cli.problems import Misuse
from posse.cli.reading.cluster_reader import Survey
from posse.cli.reading.sources import ClusterSource, DerivedSource
from posse.kinds.machinery.kind import Kind

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AdjustedSource(DerivedSource):
    """A source in which a group and its pods are changed."""

    overrides: Overrides
    groups: frozenset[str]
    """Uids of the objects that describe it."""
    pods: frozenset[str]

    def objects(self, kind: Kind, namespace: str | None, tell: Callable[[str], None]) -> Iterator[Json]:
        for obj in self.source.objects(kind, namespace, tell):
            is_changed = obj["metadata"].get("uid") in self.groups | self.pods
            yield adjusted(kind, obj, self.overrides) if is_changed else obj


def with_overrides(
    source: ClusterSource, survey: Survey, named: str, namespace: str, overrides: Overrides
) -> AdjustedSource:
    """Misuse or Problem: it is not a group, or is not there."""
    target = parse_target(named)
    if not target.forms:
        raise Misuse(f"--of: {named!r} is not a group, as in podgroup/NAME")
    keys = groups_meant(survey, target, namespace)
    objects = [found for key in keys if (found := survey.object_of(key)) is not None]
    return AdjustedSource(
        source,
        overrides,
        frozenset(obj["metadata"].get("uid", "") for obj in objects),
        frozenset(pod.metadata.uid for key in keys for pod in survey.members.get(key, {}).values()),
    )
