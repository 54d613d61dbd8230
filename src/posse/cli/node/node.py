"""posse node: make nodes fail, come back, or leave their work to others."""

from enum import StrEnum
from typing import Annotated

import typer

from posse.cli.client import ApiClient
from posse.cli.node.drain import drain_node
from posse.cli.problems import Problem
from posse.cli.session import KubeconfigOption, connected
from posse.client.paths import path_of
from posse.controllers.disruption.failures import FAILURE, NOTICE_SECONDS, FailureMode
from posse.kinds.registry import NODE
from posse.kubelet.nodes import is_simulated


class NodeAction(StrEnum):
    fail = "fail"
    recover = "recover"
    drain = "drain"


ActionArgument = Annotated[
    NodeAction,
    typer.Argument(
        metavar="ACTION",
        help="[bold]fail[/bold]: a simulated node fails. [bold]recover[/bold]: it comes back, and takes pods "
        "again. [bold]drain[/bold]: no new pods, and the others are evicted as far as budgets allow.",
    ),
]
NamesArgument = Annotated[list[str], typer.Argument(metavar="NODE...", help="Names of nodes.")]
HowOption = Annotated[
    FailureMode,
    typer.Option(
        "--how",
        help="fail: the node is down, cannot be reached, or reports that it is not ready.",
    ),
]
NoticeOption = Annotated[
    float | None,
    typer.Option(
        "--notice",
        metavar="SECONDS",
        min=0.0,
        help="fail: after which silence the node counts as unreachable. Default: four missed heartbeats.",
    ),
]
TimeoutOption = Annotated[
    float,
    typer.Option("--timeout", metavar="SECONDS", min=0.0, help="drain: how long to wait for budgets."),
]


def node(
    action: ActionArgument,
    names: NamesArgument,
    how: HowOption = FailureMode.CRASH,
    notice: NoticeOption = None,
    timeout: TimeoutOption = 60.0,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Rehearse failures: a node fails, recovers, or is drained.

    [bold]Examples[/bold]

      posse node fail node-0001 --notice 5

      posse node fail node-0001 node-0002 --how network

      posse node recover node-0001

      posse node drain node-0003
    """
    with connected(kubeconfig) as client:
        for name in names:
            match action:
                case NodeAction.fail:
                    _fail(client, name, how, notice)
                case NodeAction.recover:
                    _annotate(client, name, {FAILURE: None, NOTICE_SECONDS: None}, {"unschedulable": None})
                    typer.echo(f'node "{name}" recovers')
                case NodeAction.drain:
                    drain_node(client, name, timeout, typer.echo)


def _fail(client: ApiClient, name: str, how: FailureMode, notice: float | None) -> None:
    if not is_simulated(client.get(path_of(NODE, "v1", "", name))):
        raise Problem(f'node "{name}" is not simulated: only the nodes of `posse up` can be told to fail')
    seconds = None if notice is None else f"{notice:g}"
    _annotate(client, name, {FAILURE: str(how), NOTICE_SECONDS: seconds}, {})
    typer.echo(f'node "{name}" fails ({how})')


def _annotate(
    client: ApiClient, name: str, annotations: dict[str, str | None], spec: dict[str, None]
) -> None:
    patch = {"metadata": {"annotations": annotations}, "spec": spec}
    client.patch(path_of(NODE, "v1", "", name), patch)
