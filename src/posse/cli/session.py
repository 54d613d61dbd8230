"""Shared by verbs that read or write a cluster: options for cluster and namespace, and the connection."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from posse.cli.access import access_of_pod, read_access
from posse.cli.client import ApiClient
from posse.cli.locations import is_in_pod, kubeconfig_in_force
from posse.cli.problems import check_scheduler_names

WHERE = "Which cluster"

KubeconfigOption = Annotated[
    Path | None,
    typer.Option(
        "--kubeconfig",
        metavar="FILE",
        help="Kubeconfig of the cluster. Default: $KUBECONFIG, else the one that `posse up` writes, "
        "else the cluster of this pod.",
        rich_help_panel=WHERE,
    ),
]
SnapshotOption = Annotated[
    Path | None,
    typer.Option(
        "--snapshot",
        metavar="FILE",
        help="Read this file of `posse snapshot` instead of a cluster.",
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
        help="Use the rules of this KubeSchedulerConfiguration, as `posse up --config` does.",
        rich_help_panel="Scheduling",
    ),
]


SchedulerNameOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Treat pods with this schedulerName as scheduled by Posse, like `posse run --scheduler-name`. "
        "May be repeated. Default: posse and default-scheduler. With --config, the names are in the file.",
        rich_help_panel="Scheduling",
    ),
]


class Rules(NamedTuple):
    """Options that say by which rules the cluster is scheduled."""

    config: Path | None = None
    scheduler_names: tuple[str, ...] = ()


def chosen_rules(config: Path | None, scheduler_names: list[str] | None) -> Rules:
    check_scheduler_names(scheduler_names, config)
    return Rules(config, tuple(scheduler_names or ()))


@contextmanager
def connected(kubeconfig: Path | None) -> Iterator[ApiClient]:
    in_pod = kubeconfig is None and is_in_pod()
    access = access_of_pod() if in_pod else read_access(kubeconfig_in_force(kubeconfig))
    client = ApiClient(access, on_warning=warn)
    try:
        yield client
    finally:
        client.close()


def warn(text: str) -> None:
    typer.echo(f"Warning: {text}", err=True)
