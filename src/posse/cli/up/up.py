"""Options of `posse up`, a cluster on this machine, and their checks. run.py runs it."""

from pathlib import Path
from typing import Annotated

import typer
import yaml

from posse.apiserver.http.kubeconfig import CONTEXT
from posse.cli.locations import default_data_dir
from posse.cli.manifests import Manifest
from posse.cli.problems import Misuse, Problem
from posse.cli.up.examples import example_names, read_example
from posse.kinds.gating import served_kinds
from posse.kubelet.devices import DEVICE_SETS
from posse.kubelet.nodes import Level, TopologyError, parse_topology
from posse.model.feature_gates import Gate, GateError, Gates, parse_gates
from posse.model.quantity import QuantityError, value
from posse.runtime.process.gc_tuning import collect_seldom
from posse.runtime.process.logs import log_decisions_to
from posse.runtime.process.options import DEFAULT_EXACT_SEARCH, ClusterOptions, ControlPlaneMode

DEFAULT_PORT = 6553
MAX_NODES = 100_000
SIMULATION = "Simulated nodes"
PLACE = "Storage and address"
SCHEDULING = "Scheduling"
CONTROL_PLANE = "Control plane"
KEPT_IN = {ControlPlaneMode.EMBEDDED: "objects.sqlite", ControlPlaneMode.KUBERNETES: "etcd"}
"""What only a data directory of that mode holds."""


def complete_example(incomplete: str) -> list[str]:
    return [name for name in example_names() if name.startswith(incomplete)]


NodesOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=0,
        max=MAX_NODES,
        help="Minimum number of simulated nodes. Default: 8 in a new cluster, else those it has.",
        rich_help_panel=SIMULATION,
    ),
]
TopologyOption = Annotated[
    str,
    typer.Option(
        metavar="LEVELS",
        help="Spread new nodes over domains, widest first: block=2,rack=4 makes 2 blocks of 4 racks each "
        "and labels the nodes topology.posse.dev/block and topology.posse.dev/rack.",
        rich_help_panel=SIMULATION,
    ),
]
AutoscaleOption = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        min=0.0,
        help="Simulate an autoscaler: when a group waits, add the nodes that would let it start, "
        "all of them after this many seconds. Default: no nodes are added.",
        rich_help_panel=SIMULATION,
    ),
]
DevicesOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SET",
        help="Give the simulated nodes devices that pods claim: gpus, two-vendors, nics, partitions, fabric "
        "(a pool on the network for each rack), attachable (attached to a node within seconds). "
        "May be repeated.",
        rich_help_panel=SIMULATION,
    ),
]
ExampleOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help=f"Create the objects of an example: {', '.join(example_names())}. May be repeated.",
        autocompletion=complete_example,
        rich_help_panel=SIMULATION,
    ),
]
ControlPlaneOption = Annotated[
    ControlPlaneMode,
    typer.Option(
        help="What serves the API: Posse itself, or kube-apiserver with etcd and kube-controller-manager, "
        "where custom resources, RBAC, webhooks and Deployments are real.",
        rich_help_panel=CONTROL_PLANE,
    ),
]
BinariesOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder with etcd, kube-apiserver and kube-controller-manager. Default: $KUBEBUILDER_ASSETS, "
        "else they are built once from Go modules, which needs Go.",
        rich_help_panel=CONTROL_PLANE,
    ),
]
DataDirOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Directory of the cluster. Starting again with it restores the cluster. "
        "Default: $XDG_DATA_HOME/posse/default, or .../kubernetes on that control plane.",
        rich_help_panel=PLACE,
    ),
]
PortOption = Annotated[
    int,
    typer.Option(
        metavar="P", min=0, max=65535, help="Port on 127.0.0.1; 0 takes any free port.", rich_help_panel=PLACE
    ),
]
FsyncOption = Annotated[
    bool,
    typer.Option(
        "--fsync/--no-fsync",
        help="Answer a write only when it is on disk. --no-fsync is faster, but the last writes may be lost "
        "if the machine stops without warning.",
        rich_help_panel=PLACE,
    ),
]
KubeconfigOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Also write the kubeconfig to this file.", rich_help_panel=PLACE),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Schedule as this KubeSchedulerConfiguration says: profiles, plugins and their arguments.",
        rich_help_panel=SCHEDULING,
    ),
]
LISTED_GATES = f"Feature gates: {', '.join(Gate)}."
EPILOG = LISTED_GATES
FeatureGatesOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=BOOL,...",
        help="Switch feature gates off or on; all are on by default, and listed below. May be repeated.",
        rich_help_panel=SCHEDULING,
    ),
]
ExactSearchOption = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        min=0.0,
        help="Limit of the exact search, in about seconds of one core. It decides whether a group fits "
        "when the quick search is not sure. 0 disables the exact search.",
        rich_help_panel=SCHEDULING,
    ),
]
LogDecisionsOption = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        help="Append every decision to this file as a line of JSON; - prints it.",
        rich_help_panel=SCHEDULING,
    ),
]


PageOption = Annotated[
    bool,
    typer.Option(
        "--ui/--no-ui",
        help="Serve a page for the browser that shows what runs where and what waits, and print its address.",
        rich_help_panel=PLACE,
    ),
]
RecordOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Record all that the scheduler sees and decides; posse replay DIR runs it again.",
        rich_help_panel=SCHEDULING,
    ),
]
RecordMaxOption = Annotated[
    str,
    typer.Option(
        metavar="SIZE",
        help="Size of a recording, such as 500Mi, before its oldest part is removed.",
        rich_help_panel=SCHEDULING,
    ),
]


def record_bytes(text: str) -> int:
    """Misuse: it is not a size of at least 1Mi."""
    try:
        size = value(text)
    except QuantityError as error:
        raise Misuse(f"--record-max: {error}") from error
    if size < 1 << 20:
        raise Misuse(f"--record-max: {text} is less than 1Mi")
    return size


def up(  # noqa: PLR0913, PLR0917 - one parameter per option is how typer reads them
    nodes: NodesOption = None,
    topology: TopologyOption = "",
    devices: DevicesOption = None,
    autoscale: AutoscaleOption = None,
    example: ExampleOption = None,
    control_plane: ControlPlaneOption = ControlPlaneMode.EMBEDDED,
    binaries: BinariesOption = None,
    data_dir: DataDirOption = None,
    port: PortOption = DEFAULT_PORT,
    kubeconfig: KubeconfigOption = None,
    fsync: FsyncOption = True,
    config: ConfigOption = None,
    feature_gates: FeatureGatesOption = None,
    exact_search: ExactSearchOption = DEFAULT_EXACT_SEARCH,
    log_decisions: LogDecisionsOption = "",
    record: RecordOption = None,
    record_max: RecordMaxOption = "1Gi",
    ui: PageOption = True,
) -> None:
    """Start a cluster on this machine: API server, scheduler and simulated nodes.

    kubectl works with all kinds that are served. Ctrl-C stops it; started again, it continues.

    Nodes labelled posse.dev/simulated=true simulate their pods; other nodes are not touched.

    [bold]Examples[/bold]

      posse up                                      8 nodes

      posse up --example gang                       with an example gang

      posse up --nodes 64 --topology block=2,rack=4 --data-dir /tmp/lab --port 0

      posse up --control-plane kubernetes           with a real kube-apiserver

      posse up --feature-gates=GangScheduling=false,WorkloadAwarePreemption=false
    """
    gates = chosen_gates(feature_gates or [])
    if binaries and control_plane is ControlPlaneMode.EMBEDDED:
        raise Misuse("--binaries needs --control-plane kubernetes")
    options = ClusterOptions(
        data_dir=_data_dir(data_dir, control_plane),
        port=port,
        node_count=nodes,
        topology=_levels(topology),
        devices=_device_sets(devices or []),
        autoscale_seconds=autoscale,
        extra_kubeconfig=_replaceable(kubeconfig.expanduser().absolute()) if kubeconfig else None,
        config=config.expanduser().absolute() if config else None,
        gates=gates,
        exact_search=exact_search,
        record=record.expanduser().absolute() if record else None,
        record_max=record_bytes(record_max),
        fsync=fsync,
        control_plane=control_plane,
        binaries=binaries.expanduser().absolute() if binaries else None,
        has_page=ui,
    )
    examples = [manifest for name in example or [] for manifest in _example(name, gates)]
    if log_decisions:
        start_decision_log(log_decisions)
    # Before the imports, which make much that stays.
    collect_seldom()
    # The server and the engine take a while to load; completion and the other verbs need neither.
    from posse.cli.up.run import serve  # noqa: PLC0415

    serve(options, examples)


def _data_dir(chosen: Path | None, mode: ControlPlaneMode) -> Path:
    """Problem: it is the directory of a cluster of the other mode."""
    usual = (
        default_data_dir() if mode is ControlPlaneMode.EMBEDDED else default_data_dir().with_name(mode.value)
    )
    path = (chosen or usual).expanduser().absolute()
    for other, name in KEPT_IN.items():
        if other is not mode and (path / name).exists():
            raise Problem(
                f"--data-dir: {path} holds a cluster of --control-plane {other}; use another directory"
            )
    return path


def _levels(text: str) -> tuple[Level, ...]:
    try:
        return parse_topology(text)
    except TopologyError as error:
        raise Misuse(f"--topology: {error}; for example --topology block=2,rack=4") from error


def _device_sets(names: list[str]) -> tuple[str, ...]:
    for name in names:
        if name not in DEVICE_SETS:
            raise Misuse(f'--devices: there is no set "{name}"; there are {", ".join(DEVICE_SETS)}')
    return tuple(dict.fromkeys(names))


def chosen_gates(texts: list[str]) -> Gates:
    try:
        return parse_gates(texts)
    except GateError as error:
        raise Misuse(f"--feature-gates: {error}") from error


def _example(name: str, gates: Gates) -> list[Manifest]:
    manifests = read_example(name)
    served = served_kinds(gates)
    for manifest in manifests:
        if manifest.kind not in served:
            kind = manifest.kind
            raise Misuse(f"--example: {name} has a {kind.name}, which --feature-gates switches off")
    return manifests


def start_decision_log(destination: str) -> None:
    try:
        log_decisions_to(destination)
    except OSError as error:
        raise Problem(f"--log-decisions: {destination}: {(error.strerror or str(error)).lower()}") from error


def _replaceable(path: Path) -> Path:
    """Problem: the file exists and may hold contexts of other clusters."""
    try:
        config = yaml.safe_load(path.read_text("utf-8"))
        contexts = [entry["name"] for entry in config["contexts"]]
    except FileNotFoundError:
        return path
    except (OSError, ValueError, TypeError, KeyError, yaml.YAMLError):
        contexts = []
    if contexts != [CONTEXT]:
        raise Problem(f"--kubeconfig: {path} exists and is not from Posse; move it or choose another file")
    return path
