"""Options of `posse gangs`. group_table.py makes the list."""

from typing import Annotated

import typer

from posse.cli.output import Output, OutputOption
from posse.cli.problems import Misuse
from posse.cli.session import (
    AllNamespacesOption,
    KubeconfigOption,
    NamespaceOption,
    RulesOption,
    SchedulerNameOption,
    SnapshotOption,
    chosen_rules,
)

SORT_KEYS = ("name", "age", "priority", "gpus", "rack", "owner", "state")


def complete_sort(incomplete: str) -> list[str]:
    return [key for key in SORT_KEYS if key.startswith(incomplete)]


SelectorOption = Annotated[
    str,
    typer.Option(
        "--selector", "-l", metavar="LABELS", help="Only groups with these labels, as in team=a,tier!=test."
    ),
]
WatchOption = Annotated[
    bool, typer.Option("--watch", "-w", help="Stay, and print groups again when they change. Ctrl-C ends it.")
]
SortOption = Annotated[
    str,
    typer.Option(
        "--sort",
        metavar="KEY",
        autocompletion=complete_sort,
        help=f"Sort by one of {', '.join(SORT_KEYS)}. Default: waiting groups first, then by age.",
    ),
]


def gangs(  # noqa: PLR0913, PLR0917 - one parameter per option is how typer reads them
    namespace: NamespaceOption = None,
    all_namespaces: AllNamespacesOption = False,
    selector: SelectorOption = "",
    sort: SortOption = "",
    watch: WatchOption = False,
    output: OutputOption = Output.table,
    config: RulesOption = None,
    scheduler_name: SchedulerNameOption = None,
    kubeconfig: KubeconfigOption = None,
    snapshot: SnapshotOption = None,
) -> None:
    """List all pod groups, waiting ones first: state, pods on nodes, GPUs, racks, owner, and why they wait.

    [bold]Examples[/bold]

      posse gangs

      posse gangs -A --sort gpus               the largest users of GPUs first

      posse gangs -l team=vision -w            follow the groups of one team

      posse gangs -n team -o json
    """
    if namespace and all_namespaces:
        raise Misuse("-n NS and --all-namespaces exclude each other")
    if watch and output.is_data:
        raise Misuse("-w prints a table; -o json and -o yaml print one state")
    if watch and snapshot:
        raise Misuse("-w follows a cluster, and a snapshot does not change")
    if sort and sort not in SORT_KEYS:
        raise Misuse(f"--sort: {sort!r} is none of {', '.join(SORT_KEYS)}")
    rules = chosen_rules(config, scheduler_name)
    # The engine takes a while to load; completion and help need none of it.
    from posse.cli.explain.group_table import GroupChoice, show_groups, watch_groups  # noqa: PLC0415
    from posse.cli.reading.opening import opened  # noqa: PLC0415
    from posse.cli.reading.selection import chosen_labels  # noqa: PLC0415

    labels = chosen_labels(selector)
    with opened(kubeconfig, snapshot) as source:
        place = None if all_namespaces else namespace or source.default_namespace
        show = watch_groups if watch else show_groups
        show(source, GroupChoice(place, labels, sort), rules, output)
