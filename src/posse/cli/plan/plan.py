"""Options of `posse plan`. run.py makes the plan."""

from typing import Annotated

import typer

from posse.cli.output import Output, OutputOption
from posse.cli.problems import Misuse
from posse.cli.session import (
    KubeconfigOption,
    NamespaceOption,
    RulesOption,
    SchedulerNameOption,
    SnapshotOption,
    chosen_rules,
    connected,
)

CLUSTER, WORKLOAD = "What if the cluster were different", "What if the workload were different"

FilesOption = Annotated[
    list[str] | None,
    typer.Option("--filename", "-f", metavar="FILE", help="Manifests to submit; - is standard input."),
]
AddNodesOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="N=NODE", help="With N more nodes like NODE, as in 4=node-0001.", rich_help_panel=CLUSTER
    ),
]
RemoveNodeOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NODE", help="Without this node; its pods wait again.", rich_help_panel=CLUSTER),
]
DrainOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LABEL=VALUE",
        help="With these nodes cordoned and their pods waiting again: rack=r3, node=NAME or any label.",
        rich_help_panel=CLUSTER,
    ),
]
WithoutOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TYPE/NAME",
        help="Without this workload, as in podgroup/x, job/x or pod/x.",
        rich_help_panel=CLUSTER,
    ),
]
OfOption = Annotated[
    str,
    typer.Option(
        metavar="TYPE/NAME",
        help="An existing group, as in podgroup/x, that the options below change.",
        rich_help_panel=WORKLOAD,
    ),
]
PriorityOption = Annotated[
    int | None, typer.Option(metavar="N", help="With this priority.", rich_help_panel=WORKLOAD)
]
MinCountOption = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="With this minCount of its gangs.", rich_help_panel=WORKLOAD),
]
NoTopologyOption = Annotated[
    bool, typer.Option("--no-topology", help="Without topology constraints.", rich_help_panel=WORKLOAD)
]


MakeRoomOption = Annotated[
    str,
    typer.Option(
        "--make-room-for",
        metavar="TYPE/NAME",
        help="The fewest gangs to stop so that this waiting group starts, as in podgroup/x.",
    ),
]


ApplyOption = Annotated[
    bool,
    typer.Option(
        "--apply", help="With --make-room-for: stop these gangs now. Without it nothing is changed."
    ),
]


def plan(  # noqa: PLR0913, PLR0917 - one parameter per option is how typer reads them
    files: FilesOption = None,
    make_room_for: MakeRoomOption = "",
    apply: ApplyOption = False,
    add_nodes: AddNodesOption = None,
    remove_node: RemoveNodeOption = None,
    drain: DrainOption = None,
    without: WithoutOption = None,
    of: OfOption = "",
    priority: PriorityOption = None,
    min_count: MinCountOption = None,
    no_topology: NoTopologyOption = False,
    namespace: NamespaceOption = None,
    output: OutputOption = Output.table,
    config: RulesOption = None,
    scheduler_name: SchedulerNameOption = None,
    kubeconfig: KubeconfigOption = None,
    snapshot: SnapshotOption = None,
) -> None:
    """Say what would happen: whether manifests would start, where, evicting what.

    Nothing is changed without --apply.

    Exit codes: 0 everything starts, 3 something waits, 4 it starts by preemption, 1 and 2 errors.

    [bold]Examples[/bold]

      posse plan -f job.yaml

      posse plan -f job.yaml --add-nodes 4=node-0001 --min-count 8

      posse plan --of podgroup/trainer --min-count 4

      posse plan --drain rack=r3               which gangs go, and where to?

      posse plan --make-room-for podgroup/x    the fewest to stop so that x starts

      posse plan --make-room-for podgroup/x --apply    ... and stop them now

      posse plan -f job.yaml --snapshot cluster.snapshot -o json
    """
    from posse.cli.manifests import read_manifests  # noqa: PLC0415 - takes a while to load
    from posse.cli.plan.overrides import Overrides  # noqa: PLC0415
    from posse.cli.plan.run import PlanQuestion, show_plan  # noqa: PLC0415
    from posse.cli.plan.what_ifs import ClusterChanges  # noqa: PLC0415
    from posse.cli.reading.opening import opened  # noqa: PLC0415

    rules = chosen_rules(config, scheduler_name)
    changes = ClusterChanges(*(tuple(texts or ()) for texts in (add_nodes, remove_node, drain, without)))
    overrides = Overrides(priority, min_count, no_topology)
    if files and of:
        raise Misuse("-f FILE and --of exclude each other: the one submits, the other changes what is there")
    if make_room_for:
        if files or changes or of or overrides != Overrides():
            raise Misuse("--make-room-for is about the cluster as it is; leave the other questions out")
        from posse.cli.plan.making_room import make_room, show_room  # noqa: PLC0415 - loads the solver

        if apply and snapshot is not None:
            raise Misuse("--apply stops gangs of a running cluster; leave --snapshot out")
        if apply:
            with connected(kubeconfig) as client:
                make_room(client, make_room_for, namespace, rules, output)
            return
        with opened(kubeconfig, snapshot) as source:
            show_room(source, make_room_for, namespace or source.default_namespace, rules, output)
    if apply:
        raise Misuse("--apply goes with --make-room-for; all other plans change nothing")
    if not files and not changes and not of:
        raise Misuse("say what to plan: -f FILE, or a change of the cluster such as --drain rack=r3")
    if not files and not of and overrides != Overrides():
        raise Misuse(
            "--priority, --min-count and --no-topology change what -f FILE submits, or the group of --of"
        )
    manifests = [manifest for file in files or () for manifest in read_manifests(file)]
    with opened(kubeconfig, snapshot) as source:
        place = namespace or source.default_namespace
        show_plan(source, PlanQuestion(manifests, place, changes, overrides, of), rules, output)
