"""Posse for Python programs: plan and simulate without a command line.

    from posse import Cluster, plan, simulate

The same code answers `posse plan` and `posse simulate`. Input that cannot be used raises `Problem`, whose
message names the file, the field and what would help.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from posse.cli.configuration_file import engine_options
from posse.cli.manifests import Manifest, parse_manifests, read_manifests
from posse.cli.plan.overrides import Overrides
from posse.cli.plan.report import Report
from posse.cli.plan.run import PlanQuestion, report_of
from posse.cli.plan.what_ifs import ClusterChanges
from posse.cli.problems import Misuse
from posse.cli.reading.snapshot_file import SnapshotSource, new_header, read_snapshot
from posse.cli.reading.sources import ClusterSource
from posse.cli.session import Rules
from posse.cli.simulate.inputs import Request, Work, check, cluster_of, policies_of, work_of
from posse.cli.simulate.run import compared, write_report
from posse.kinds.registry import NAMESPACE, NODE
from posse.model.decoding import decode
from posse.model.node import Node
from posse.runtime.watching.followed_kinds import FOLLOWED_KINDS
from posse.simulation.comparison import Comparison
from posse.simulation.jobs import BEGIN, TracedJob

NO_CHANGE = ClusterChanges()
AS_WRITTEN = Overrides()


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster to ask about. Nothing of it runs, and no answer changes it."""

    source: ClusterSource

    @classmethod
    def of_equal_nodes(cls, count: int, gpus: int = 8, topology: str = "") -> "Cluster":
        """An empty cluster; `topology` as in block=4,rack=8."""
        if count < 1 or gpus < 1:
            raise Misuse(
                f"of_equal_nodes: {count} nodes with {gpus} GPUs: there must be at least one of each"
            )
        return cls._empty(Request(Path(), nodes=count, gpus=gpus, topology=topology))

    @classmethod
    def from_node_list(cls, file: str | Path, gpus: int = 8) -> "Cluster":
        """An empty cluster of the nodes in a CSV file; `gpus` where the file does not say."""
        return cls._empty(Request(Path(), gpus=gpus, node_list=Path(file)))

    @classmethod
    def from_snapshot(cls, file: str | Path) -> "Cluster":
        """A cluster as `posse snapshot` has written it, with all that runs and waits."""
        return cls(read_snapshot(Path(file).expanduser()))

    @classmethod
    def _empty(cls, request: Request) -> "Cluster":
        nodes = [
            {"apiVersion": "v1", "kind": "Node", **msgspec.to_builtins(node)} for node in cluster_of(request)
        ]
        header = new_header("default", BEGIN, (kind for kind, _ in FOLLOWED_KINDS), ())
        place = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "uid": "default"}}
        return cls(SnapshotSource(header, {NODE.group_resource: nodes, NAMESPACE.group_resource: [place]}))

    def nodes(self) -> list[Node]:
        return [decode(Node, node) for node in self.source.objects(NODE, None, lambda _: None)]


def plan(
    cluster: Cluster,
    manifests: str | Path = "",
    *,
    changes: ClusterChanges = NO_CHANGE,
    overrides: Overrides = AS_WRITTEN,
    config: Path | None = None,
) -> Report:
    """Say what would happen if the manifests were submitted, the cluster changed, or both.

    `manifests` is a path, or YAML itself. Without `config` the default rules apply.
    """
    options = replace(engine_options(Rules(config)), asks=True)
    question = PlanQuestion(_manifests(manifests), cluster.source.default_namespace, changes, overrides)
    if not question.manifests and not changes:
        raise Misuse("plan: give manifests, or changes of the cluster")
    return report_of(cluster.source, question, options)


def _manifests(given: str | Path) -> Sequence[Manifest]:
    if isinstance(given, Path) or (given and "\n" not in given):
        return read_manifests(str(given))
    return list(parse_manifests(given, "manifests"))


def simulate(  # noqa: PLR0913 - each is an option of the command
    trace: str | Path | Iterable[TracedJob],
    cluster: Cluster,
    *,
    policies: Sequence[str] = ("posse",),
    configurations: Sequence[Path] = (),
    gangs_in: str = "",
    load: float = 1.0,
    window: str = "",
    warm_up: float = 0.0,
    samples: int = 1,
    seed: int = 1,
    failures: str = "",
) -> Comparison:
    """Run jobs in virtual time under each policy; the options are those of `posse simulate`."""
    is_file = isinstance(trace, str | Path)
    request = Request(
        Path(trace) if isinstance(trace, str | Path) else Path("jobs"),
        gangs_in=gangs_in,
        policies=tuple(policies),
        configurations=tuple(configurations),
        load=load,
        window=window,
        warm_up=warm_up,
        samples=samples,
        seed=seed,
        failures=failures,
    )
    check(request)
    if not is_file and (load != 1.0 or window):
        raise Misuse("simulate: load and window are for files; change the jobs themselves")
    if isinstance(trace, str | Path):
        work = replace(work_of(request), nodes=cluster.nodes(), failures=())
    else:
        work = Work(cluster.nodes(), sorted(trace, key=lambda job: job.submit))
    return compared(request, work, policies_of(request, work))


__all__ = ["Cluster", "ClusterChanges", "Overrides", "TracedJob", "plan", "simulate", "write_report"]
