"""Options of `posse history`. run.py reads and prints it."""

from typing import Annotated

import typer

from posse.cli.output import Output, OutputOption
from posse.cli.problems import Misuse
from posse.cli.session import AllNamespacesOption, KubeconfigOption, NamespaceOption, connected

NameArgument = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="Only this group or pod, step by step; also as podgroup/NAME or pod/NAME."
    ),
]
FromOption = Annotated[
    str,
    typer.Option(
        "--from",
        metavar="FILE",
        help="Read a log of `--log-decisions FILE` instead of events; - is standard input.",
    ),
]
SinceOption = Annotated[
    str,
    typer.Option("--since", metavar="TIME", help="Only what is younger than this, as in 90s, 30m, 2h, 1d."),
]


def history(  # noqa: PLR0913, PLR0917 - one parameter per option is how typer reads them
    name: NameArgument = "",
    namespace: NamespaceOption = None,
    all_namespaces: AllNamespacesOption = False,
    log: FromOption = "",
    since: SinceOption = "",
    output: OutputOption = Output.table,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Show what ran, waited and was preempted, the latest last: from events, or from a decision log.

    Clusters keep events for about an hour. A decision log goes back as far as it was written.

    [bold]Examples[/bold]

      posse history -A                         everything that events tell

      posse history trainer                    one group, step by step

      posse history --from decisions.log --since 1d
    """
    if namespace and all_namespaces:
        raise Misuse("-n NS and --all-namespaces exclude each other")
    from posse.cli.history.run import HistoryChoice, age_limit, show_events, show_log  # noqa: PLC0415

    choice = HistoryChoice(name, namespace, age_limit(since))
    if log:
        show_log(log, choice, output)
        return
    from posse.cli.reading.sources import ApiSource  # noqa: PLC0415

    with connected(kubeconfig) as client:
        source = ApiSource(client)
        if not all_namespaces and not namespace:
            choice = HistoryChoice(name, source.default_namespace, choice.age_limit)
        show_events(source, choice, output)
