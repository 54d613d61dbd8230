"""posse explain: what can be asked about. How the answer is found and told is in explaining.py."""

from typing import Annotated

import typer

from posse.cli.session import (
    KubeconfigOption,
    NamespaceOption,
    RulesOption,
    SchedulerNameOption,
    chosen_rules,
    connected,
)

TargetArgument = Annotated[
    str,
    typer.Argument(
        metavar="TYPE/NAME", help="podgroup/NAME, compositepodgroup/NAME, workload/NAME or pod/NAME."
    ),
]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name, if TYPE stands alone.")]


def explain(
    target: TargetArgument,
    name: NameArgument = "",
    namespace: NamespaceOption = None,
    config: RulesOption = None,
    scheduler_name: SchedulerNameOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Tell the whole story of a group or a pod: how it stands, what is in its way, who holds what it lacks.

    The cluster is read and not changed. The answer is what an attempt to schedule it would give now.

    [bold]Examples[/bold]

      posse explain podgroup/trainer

      posse explain podgroup.scheduling.x-k8s.io/trainer -n team

      posse explain cpg/training               a tree of groups, as a picture

      posse explain workload/job-1             every group of the Workload

      posse explain pod/web-0
    """
    rules = chosen_rules(config, scheduler_name)
    # The engine takes a while to load; completion and help need none of it.
    from posse.cli.explain.run import tell  # noqa: PLC0415

    with connected(kubeconfig) as client:
        tell(client, (target, name), namespace or client.default_namespace, rules)
