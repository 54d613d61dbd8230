"""What the verbs on the objects of a cluster share: options that say which cluster and namespace, and the connection."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from posse.cli.access import read_access
from posse.cli.client import ApiClient
from posse.cli.locations import kubeconfig_in_force
from posse.cli.problems import check_scheduler_names

WHERE = "Which cluster"

KubeconfigOption = Annotated[
    Path | None,
    typer.Option(
        "--kubeconfig",
        metavar="FILE",
        help="How to reach the cluster. Default: $KUBECONFIG, else that of the last plain `posse up`.",
        rich_help_panel=WHERE,
    ),
]
NamespaceOption = Annotated[
    str | None,
    typer.Option("--namespace", "-n", metavar="NS", help="The namespace to look in.", rich_help_panel=WHERE),
]

AllNamespacesOption = Annotated[
    bool,
    typer.Option("--all-namespaces", "-A", help="Look in every namespace.", rich_help_panel=WHERE),
]
RulesOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Go by the rules of this KubeSchedulerConfiguration, as `posse up --config` does.",
        rich_help_panel="Scheduling",
    ),
]


SchedulerNameOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Take pods of this schedulerName for those of Posse, as `posse run --scheduler-name` does. May be repeated. "
        "Default: posse and default-scheduler. With --config the file says it.",
        rich_help_panel="Scheduling",
    ),
]


class Rules(NamedTuple):
    """By which rules the cluster is scheduled, as far as the command line says so."""

    config: Path | None = None
    scheduler_names: tuple[str, ...] = ()


def chosen_rules(config: Path | None, scheduler_names: list[str] | None) -> Rules:
    check_scheduler_names(scheduler_names, config)
    return Rules(config, tuple(scheduler_names or ()))


@contextmanager
def connected(kubeconfig: Path | None) -> Iterator[ApiClient]:
    client = ApiClient(read_access(kubeconfig_in_force(kubeconfig)), on_warning=warn)
    try:
        yield client
    finally:
        client.close()


def warn(text: str) -> None:
    typer.echo(f"Warning: {text}", err=True)
