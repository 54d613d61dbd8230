"""Reads a whole cluster into an engine, once and without changes.

The engine that schedules also explains, on any cluster.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console

from posse.cli.client import Refused
from posse.cli.reading.ended_members import Fates, fates_of, has_ended
from posse.cli.reading.sources import ClusterSource
from posse.cli.session import warn
from posse.engine.engine import Engine
from posse.engine.events import Observed
from posse.engine.explain.explanation import Explanation
from posse.engine.explain.group_status import GroupStatus, situation_of_ended
from posse.engine.groups.forms import WORKLOAD_REF, form_of, group_of
from posse.engine.keys import GroupKey
from posse.engine.options import EngineOptions
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import JOB
from posse.model.decoding import ShapeError, decode
from posse.model.node import Node
from posse.model.pod import Pod
from posse.model.workload import Workload
from posse.runtime.watching.followed_kinds import FOLLOWED_KINDS
from posse.writes.group_status import object_kind

Json = dict[str, Any]


@dataclass(slots=True)
class Survey:
    engine: Engine
    pods: dict[tuple[str, str], Pod] = field(default_factory=dict)
    """By namespace and name."""
    members: dict[GroupKey, dict[str, Pod]] = field(default_factory=dict)
    """By name; finished pods included."""
    nodes: dict[str, Node] = field(default_factory=dict)
    _objects: dict[tuple[Kind, str, str], Json] = field(default_factory=dict)

    def object_of(self, key: GroupKey) -> Json | None:
        """The stored object that describes the group."""
        return self.find(object_kind(key), key.namespace, key.name)

    def find(self, kind: Kind, namespace: str, name: str) -> Json | None:
        return self._objects.get((kind, namespace, name))

    def created(self, key: GroupKey) -> str:
        """Creation time of the object that describes the group, or else of its oldest pod."""
        obj = self.object_of(key)
        if obj is not None:
            return str(obj["metadata"].get("creationTimestamp", ""))
        return min(
            (pod.metadata.creation_timestamp for pod in self.members.get(key, {}).values()), default=""
        )

    def fates(self, key: GroupKey) -> Fates:
        return fates_of(self.members.get(key, {}).values())

    def objects(self) -> Iterator[Json]:
        """Objects in stored form, without pods."""
        return iter(self._objects.values())

    def of_kind(self, kind: Kind) -> Iterator[Json]:
        """Objects of one kind in stored form; pods are in `pods`."""
        return (obj for (own, _, _), obj in self._objects.items() if own is kind)

    def group_keys(self) -> list[GroupKey]:
        known = {group.key: None for group in self.engine.overview().groups}
        return [*known, *self._ended_keys(known)]

    def situations(self) -> Iterator[GroupStatus]:
        known = set()
        for now in self.engine.situations():
            known.add(now.key)
            yield now
        for key in self._ended_keys(known):
            yield self._situation_of_ended(key)

    def explain(self, key: GroupKey) -> Explanation:
        return self.engine.explain(key) or Explanation(self._situation_of_ended(key))

    def _ended_keys(self, known: Collection[GroupKey]) -> list[GroupKey]:
        """Groups that only finished pods name; the engine drops those."""
        return [
            key
            for key, pods in self.members.items()
            if key not in known and all(map(has_ended, pods.values()))
        ]

    def _situation_of_ended(self, key: GroupKey) -> GroupStatus:
        obj = self.object_of(key) if form_of(key).is_implied else None
        implied = WORKLOAD_REF.implied_group(decode(Workload, obj), key) if obj else None
        return situation_of_ended(key, implied)

    def warn_of_faults(self) -> None:
        """Rules of installed packages that failed were left out of the answer."""
        for fault in self.engine.take_faults():
            warn(fault)

    def note(self, kind: Kind, obj: Json) -> None:
        metadata = obj["metadata"]
        self._objects[kind, metadata.get("namespace", ""), metadata["name"]] = obj

    def note_pod(self, pod: Pod) -> None:
        self.pods[pod.metadata.namespace, pod.metadata.name] = pod
        group = group_of(pod)
        if group is not None:
            self.members.setdefault(group, {})[pod.metadata.name] = pod


def survey_cluster(source: ClusterSource, options: EngineOptions) -> Survey:
    with Console(stderr=True).status("Reading the cluster") as status:
        return survey_of(source, options, status.update)


def survey_of(source: ClusterSource, options: EngineOptions, tell: Callable[[str], None]) -> Survey:
    """`tell` shows the progress."""
    survey = Survey(Engine(options))
    for kind, struct in FOLLOWED_KINDS:
        for obj in _readable(source, kind, tell):
            _take_in(survey, kind, struct, obj)
    tell("Computing the state of the groups")
    survey.engine.take_over(source.now())
    return survey


def _readable(source: ClusterSource, kind: Kind, tell: Callable[[str], None]) -> Iterator[Json]:
    """Without the right to list Jobs, only their limits are not known; all other kinds are needed."""
    try:
        yield from source.objects(kind, None, tell)
    except Refused as refusal:
        if kind is not JOB:
            raise
        warn(f"run times that Jobs state are not known: {refusal}")


def _take_in(survey: Survey, kind: Kind, struct: type[Any], obj: Json) -> None:
    """Leave out an object that cannot be decoded, as the scheduler does."""
    try:
        decoded = decode(struct, obj)
    except ShapeError as error:
        metadata = obj["metadata"]
        warn(f"leaving out {kind.singular} {metadata.get('namespace', '')}/{metadata['name']}: {error}")
        return
    survey.engine.absorb(Observed(decoded))
    if isinstance(decoded, Pod):
        survey.note_pod(decoded)
        return
    if isinstance(decoded, Node):
        survey.nodes[decoded.metadata.name] = decoded
    survey.note(kind, obj)
