"""Changes of a cluster that is only thought of: nodes added or gone, racks drained, workloads left out."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from posse.cli.explain.targets import groups_meant, listing, parse_target
from posse.cli.problems import Misuse, Problem
from posse.cli.reading.cluster_reader import Survey
from posse.cli.reading.owners import CONTROLLERS, Owners
from posse.cli.reading.placements import rack_label
from posse.cli.reading.sources import ClusterSource, DerivedSource
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import NODE, POD

Json = dict[str, Any]

HOSTNAME = "kubernetes.io/hostname"
MAX_ADDED_NODES = 10_000
"""In one question, because each node costs memory, also in the process of the page."""


@dataclass(frozen=True, slots=True)
class ClusterChanges:
    """The options, as they were given."""

    add_nodes: tuple[str, ...] = ()
    """As in 4=node-0001: so many more nodes like this one."""
    remove_nodes: tuple[str, ...] = ()
    drain: tuple[str, ...] = ()
    """As in rack=r3 or LABEL=VALUE: these nodes are cordoned, and their pods have to run elsewhere."""
    without: tuple[str, ...] = ()
    """As in podgroup/x or job/x: as if it were not there."""

    def __bool__(self) -> bool:
        return bool(self.add_nodes or self.remove_nodes or self.drain or self.without)


@dataclass(frozen=True, slots=True)
class ChangedSource(DerivedSource):
    """A source with the changes made."""

    added: tuple[Json, ...]
    removed: frozenset[str]
    drained: frozenset[str]
    left_out: frozenset[str]
    """Uids of objects."""

    def objects(self, kind: Kind, namespace: str | None, tell: Callable[[str], None]) -> Iterator[Json]:
        found = (
            obj
            for obj in self.source.objects(kind, namespace, tell)
            if obj["metadata"].get("uid") not in self.left_out
        )
        if kind is NODE:
            yield from self._nodes(found)
        elif kind is POD:
            yield from (self._pod(obj) for obj in found)
        else:
            yield from found

    def _nodes(self, nodes: Iterable[Json]) -> Iterator[Json]:
        for node in nodes:
            name = node["metadata"]["name"]
            if name in self.drained:
                yield {**node, "spec": {**(node.get("spec") or {}), "unschedulable": True}}
            elif name not in self.removed:
                yield node
        yield from self.added

    def _pod(self, pod: Json) -> Json:
        if pod["spec"].get("nodeName") not in self.removed | self.drained:
            return pod
        return waiting_again(pod)


def waiting_again(pod: Json) -> Json:
    """The pod that its controller makes in place of one that had to go."""
    metadata = {key: value for key, value in pod["metadata"].items() if key != "deletionTimestamp"}
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    return {**pod, "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}


def changed(source: ClusterSource, survey: Survey, changes: ClusterChanges, namespace: str) -> ChangedSource:
    """Misuse or Problem: an option cannot be read, or names what is not there."""
    return ChangedSource(
        source,
        tuple(_more_nodes(source, survey, changes.add_nodes)),
        frozenset(_known_node(survey, "--remove-node", name) for name in changes.remove_nodes),
        frozenset(name for text in changes.drain for name in _drained(survey, text)),
        frozenset(uid for text in changes.without for uid in _uids(source, survey, text, namespace)),
    )


def _more_nodes(source: ClusterSource, survey: Survey, texts: Sequence[str]) -> Iterator[Json]:
    numbers: Counter[str] = Counter()
    for text in texts:
        number, _, like = text.partition("=")
        if not number.isdecimal() or not like:
            raise Misuse(f"--add-nodes: {text!r} is not NUMBER=NODE, as in 4=node-0001")
        if len(number) > len(str(MAX_ADDED_NODES)) or numbers.total() + int(number) > MAX_ADDED_NODES:
            raise Misuse(f"--add-nodes: at most {MAX_ADDED_NODES} nodes can be added at once")
        numbers[_known_node(survey, "--add-nodes", like)] += int(number)
    for model in source.objects(NODE, None, lambda _: None) if numbers else ():
        like = model["metadata"]["name"]
        for index in range(1, numbers[like] + 1):
            node = deepcopy(model)
            name = f"{like}-new-{index}"
            node["metadata"] |= {"name": name, "uid": f"{model['metadata'].get('uid', '')}-new-{index}"}
            node["metadata"]["labels"] = (node["metadata"].get("labels") or {}) | {HOSTNAME: name}
            node["spec"] = {**(node.get("spec") or {}), "unschedulable": False}
            yield node


def _known_node(survey: Survey, option: str, name: str) -> str:
    if name not in survey.nodes:
        raise Problem(f"{option}: there is no node {name}; {listing(sorted(survey.nodes), name)}")
    return name


def _drained(survey: Survey, text: str) -> Collection[str]:
    key, _, value = text.partition("=")
    if not key or not value:
        raise Misuse(f"--drain: {text!r} is not rack=NAME, node=NAME or LABEL=VALUE")
    if key == "node":
        return [_known_node(survey, "--drain", value)]
    nodes = survey.nodes
    label = rack_label(nodes.values()) if key == "rack" else key
    if not label:
        raise Problem("--drain: no node has a label for its rack; use node=NAME or LABEL=VALUE")
    found = [name for name, node in nodes.items() if node.metadata.labels.get(label) == value]
    if not found:
        values = sorted(
            {node.metadata.labels[label] for node in nodes.values() if label in node.metadata.labels}
        )
        raise Problem(f"--drain: no node has {label}={value}; {listing(values, value)}")
    return found


def _uids(source: ClusterSource, survey: Survey, text: str, namespace: str) -> Sequence[str]:
    target = parse_target(text)
    if target.kind is POD:
        pod = survey.pods.get((namespace, target.name))
        if pod is None:
            raise Problem(f"--without: there is no pod {target.name} in namespace {namespace}")
        return [pod.metadata.uid]
    if target.kind in CONTROLLERS:
        owners = Owners(survey, source, namespace)
        uid = _controller_uid(source, target.kind, target.name, namespace)
        keys = owners.groups_of(uid, namespace)
        pods = [pod.metadata.uid for pod in owners.pods_of(uid, namespace)]
    else:
        keys, pods = groups_meant(survey, target, namespace), []
    objects = [survey.object_of(key) for key in keys]
    own = [obj["metadata"].get("uid", "") for obj in objects if obj is not None]
    members = [pod.metadata.uid for key in keys for pod in survey.members.get(key, {}).values()]
    return [*own, *pods, *members]


def _controller_uid(source: ClusterSource, kind: Kind, name: str, namespace: str) -> str:
    for obj in source.objects(kind, namespace, lambda _: None):
        if obj["metadata"]["name"] == name:
            return str(obj["metadata"].get("uid", ""))
    raise Problem(f"--without: there is no {kind.name} {name} in namespace {namespace}")
