"""Options of `posse top`. run.py reads the cluster and prints the table."""

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
)

POD_CRITERIA = ("gang", "namespace", "priority")
CRITERIA = (*POD_CRITERIA, "rack", "node")


def complete_criterion(incomplete: str) -> list[str]:
    return [name for name in CRITERIA if name.startswith(incomplete)]


ResourceArgument = Annotated[
    str,
    typer.Argument(
        metavar="RESOURCE", help="gpu, cpu, memory or nvidia.com/gpu. Default: the GPUs, else the CPUs."
    ),
]
ByOption = Annotated[
    str,
    typer.Option(
        "--by",
        metavar="WHAT",
        autocompletion=complete_criterion,
        help=f"One line per {', '.join(CRITERIA)}, or per value of a label of nodes.",
    ),
]


def top(  # noqa: PLR0913, PLR0917 - one parameter per option is how typer reads them
    resource: ResourceArgument = "",
    by: ByOption = "gang",
    namespace: NamespaceOption = None,
    output: OutputOption = Output.table,
    config: RulesOption = None,
    scheduler_name: SchedulerNameOption = None,
    kubeconfig: KubeconfigOption = None,
    snapshot: SnapshotOption = None,
) -> None:
    """Show who holds a resource: what is held, waiting, free and reserved. All namespaces, without -n.

    [bold]Examples[/bold]

      posse top                                who holds the GPUs, gang by gang

      posse top --by rack                      how full each rack is

      posse top cpu --by namespace

      posse top --by topology.kubernetes.io/zone -o json
    """
    if namespace and by not in POD_CRITERIA:
        raise Misuse(f"-n goes with --by {', '.join(POD_CRITERIA)}: nodes belong to no namespace")
    rules = chosen_rules(config, scheduler_name)
    # The engine takes a while to load; completion and help need none of it.
    from posse.cli.reading.opening import opened  # noqa: PLC0415
    from posse.cli.top.run import show_usage  # noqa: PLC0415

    with opened(kubeconfig, snapshot) as source:
        show_usage(source, resource, by, namespace, rules, output)
