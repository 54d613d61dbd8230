"""Options of `posse explain`. run.py finds and prints the answer."""

from typing import Annotated

import typer

from posse.cli.output import Output, OutputOption
from posse.cli.session import (
    KubeconfigOption,
    NamespaceOption,
    RulesOption,
    SchedulerNameOption,
    SnapshotOption,
    chosen_rules,
)

TargetArgument = Annotated[
    str,
    typer.Argument(
        metavar="TYPE/NAME",
        help="job/NAME, jobset/NAME, lws/NAME, statefulset/NAME, deployment/NAME, podgroup/NAME, "
        "compositepodgroup/NAME, workload/NAME or pod/NAME.",
    ),
]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name, if TYPE stands alone.")]


def explain(  # noqa: PLR0913, PLR0917 - one parameter per option is how typer reads them
    target: TargetArgument,
    name: NameArgument = "",
    namespace: NamespaceOption = None,
    output: OutputOption = Output.table,
    config: RulesOption = None,
    scheduler_name: SchedulerNameOption = None,
    kubeconfig: KubeconfigOption = None,
    snapshot: SnapshotOption = None,
) -> None:
    """Explain a workload, a group or a pod: its state, what blocks it, what it lacks, what would help.

    The cluster is only read. The answer is the result that scheduling it now would have.

    [bold]Examples[/bold]

      posse explain job/train                  its groups and pods; also jobset/

      posse explain podgroup/trainer

      posse explain podgroup.scheduling.x-k8s.io/trainer -n team

      posse explain cpg/training               a tree of groups, as a picture

      posse explain workload/job-1             every group of the Workload

      posse explain pod/web-0

      posse explain job/train -o json          states and reasons for programs
    """
    rules = chosen_rules(config, scheduler_name)
    # The engine takes a while to load; completion and help need none of it.
    from posse.cli.explain.run import tell  # noqa: PLC0415
    from posse.cli.reading.opening import opened  # noqa: PLC0415

    with opened(kubeconfig, snapshot) as source:
        tell(source, (target, name), namespace or source.default_namespace, rules, output)
