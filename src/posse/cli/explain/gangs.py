"""Options of `posse gangs`. group_table.py makes the list."""

from enum import StrEnum
from typing import Annotated

import typer

from posse.cli.problems import Misuse
from posse.cli.session import (
    AllNamespacesOption,
    KubeconfigOption,
    NamespaceOption,
    RulesOption,
    SchedulerNameOption,
    chosen_rules,
    connected,
)


class GangsOutput(StrEnum):
    table = "table"
    json = "json"


GangsOutputOption = Annotated[
    GangsOutput, typer.Option("--output", "-o", help="For people, or for programs.")
]


def gangs(
    namespace: NamespaceOption = None,
    all_namespaces: AllNamespacesOption = False,
    output: GangsOutputOption = GangsOutput.table,
    config: RulesOption = None,
    scheduler_name: SchedulerNameOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """List all pod groups, waiting ones first: state, pods on nodes, age, and why they wait.

    [bold]Examples[/bold]

      posse gangs

      posse gangs -A

      posse gangs -n team -o json
    """
    if namespace and all_namespaces:
        raise Misuse("-n NS and --all-namespaces exclude each other")
    rules = chosen_rules(config, scheduler_name)
    # The engine takes a while to load; completion and help need none of it.
    from posse.cli.explain.group_table import show_groups  # noqa: PLC0415

    with connected(kubeconfig) as client:
        place = None if all_namespaces else namespace or client.default_namespace
        show_groups(client, place, rules, as_json=output is GangsOutput.json)
