"""One line about each group, for `posse gangs` and for the summary of a controller's groups."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from posse.cli.explain.group_words import FINISHED, cause, shown_state
from posse.cli.explain.targets import short_name
from posse.cli.reading.cluster_reader import Survey
from posse.cli.reading.owners import Owners
from posse.cli.reading.placements import domains_of, gpus_of, rack_label
from posse.engine.explain.group_status import GroupStatus, State
from posse.engine.forecast.forecast import Forecast
from posse.engine.forecast.forecast_note import ForecastNote, note_of
from posse.engine.keys import GroupKey
from posse.model.timestamps import format_timestamp

_MAY_START_LATER = (State.WAITING, State.FITS)
"""What fits may wait as well: only its scheduler knows the capacity that it reserves for others."""
_AT_REST = (State.SCHEDULED, FINISHED)


class GroupLine(msgspec.Struct, frozen=True, rename="camel"):
    namespace: str
    name: str
    form: str
    state: str
    policy: str
    """Gang or Basic; empty while no object describes the group."""
    on_nodes: int
    minimum: int
    """Of pods, or of groups for a group of groups."""
    members: int
    created: str
    why: str
    kind: str = "PodGroup"
    depth: int = 0
    """How many groups of groups are above it."""
    started_groups: int | None = None
    """Of a group of groups: those directly below it that have started."""
    priority: int = 0
    gpus: int = 0
    """Requested by its pods, whether they are on nodes or wait."""
    topology_key: str = ""
    preferred_topology: tuple[str, ...] = ()
    """Labels whose values its pods share if possible, the widest first; without those that no node has."""
    minimum_run_seconds: float = 0.0
    protected_until: str = ""
    """Until when it is not preempted, because it has not run for that long; empty if it may be."""
    racks: tuple[str, ...] = ()
    """Of the nodes of its pods: values of its topology key, else of the label that names racks."""
    owner: str = ""
    """The topmost controller, as in jobset/train."""
    labels: dict[str, str] = {}
    """Of the object that describes it."""
    forecast: ForecastNote | None = None
    """Of a group that waits: when it is expected to start."""

    @property
    def is_waiting(self) -> bool:
        return self.state not in _AT_REST

    def order(self) -> tuple[bool, str, str, str, str]:
        return not self.is_waiting, self.created, self.namespace, self.name, self.form


def lines_of(
    survey: Survey,
    owners: Owners | None,
    namespace: str | None,
    wanted: Collection[GroupKey] | None = None,
    forecasts: Mapping[GroupKey, Forecast] | None = None,
) -> Iterator[GroupLine]:
    """Lines of the groups in the namespace, and only of those wanted if that is given."""
    rack = rack_label(survey.nodes.values())
    for now in survey.situations():
        if namespace in {None, now.key.namespace} and (wanted is None or now.key in wanted):
            line = _line(survey, owners, rack, now)
            forecast = (forecasts or {}).get(now.key) if now.state in _MAY_START_LATER else None
            yield msgspec.structs.replace(line, forecast=note_of(forecast)) if forecast is not None else line


def in_order(lines: Iterable[GroupLine]) -> list[GroupLine]:
    """Sort by root, waiting groups first; the groups of a tree stay together."""
    return [line for tree in sorted(trees_of(lines), key=lambda tree: tree[0].order()) for line in tree]


def trees_of(lines: Iterable[GroupLine]) -> list[list[GroupLine]]:
    trees: list[list[GroupLine]] = []
    for line in lines:
        if line.depth and trees:
            trees[-1].append(line)
        else:
            trees.append([line])
    return trees


def _line(survey: Survey, owners: Owners | None, rack: str, now: GroupStatus) -> GroupLine:
    key, fates = now.key, survey.fates(now.key)
    pods = survey.members.get(key, {}).values()
    owner = owners.owner_of(key) if owners is not None else None
    metadata = (survey.object_of(key) or {}).get("metadata") or {}
    return GroupLine(
        key.namespace,
        short_name(key),
        key.form,
        shown_state(now, fates),
        now.policy,
        now.counts.on_nodes,
        now.minimum,
        now.counts.members,
        survey.created(key),
        cause(now, fates),
        kind="CompositePodGroup" if key.is_composite else "PodGroup",
        depth=now.depth,
        started_groups=now.groups.started if now.groups is not None else None,
        priority=now.priority,
        gpus=gpus_of(pods),
        topology_key=now.topology_key,
        preferred_topology=now.preferred_topology,
        minimum_run_seconds=now.minimum_run_seconds,
        protected_until=format_timestamp(math.ceil(now.protected_until)) if now.protected_until else "",
        racks=tuple(domains_of(pods, survey.nodes, now.topology_key or rack)),
        owner=str(owner) if owner is not None else "",
        labels=metadata.get("labels") or {},
    )
