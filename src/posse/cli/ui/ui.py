"""Options of `posse ui`. run.py serves the page."""

from pathlib import Path
from typing import Annotated

import typer

from posse.cli.problems import Misuse
from posse.cli.session import (
    KubeconfigOption,
    RulesOption,
    SchedulerNameOption,
    SnapshotOption,
    chosen_rules,
)

DEFAULT_PORT = 6555

PortOption = Annotated[
    int,
    typer.Option(metavar="P", min=0, max=65535, help="Port on 127.0.0.1; 0 takes any free port."),
]
ContextOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Context of the kubeconfig.", rich_help_panel="Which cluster"),
]
RecordingOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Show what `--record DIR` recorded, at any time of it; alone, or beside the cluster it is of.",
        rich_help_panel="Which cluster",
    ),
]
ListenOption = Annotated[int | None, typer.Option("--listen-fd", hidden=True)]
TokenOption = Annotated[Path | None, typer.Option("--token-file", hidden=True)]
MetricsOption = Annotated[
    str, typer.Option("--metrics", metavar="URL", help="Where the scheduler serves /metrics.", hidden=True)
]
ClusterTokensOption = Annotated[
    bool,
    typer.Option(
        "--cluster-tokens",
        help="Admit users of the cluster by their own tokens, if they may get the path /posse/page; "
        "`posse install --ui` runs the page so.",
        rich_help_panel="Who may see it",
    ),
]


def ui(  # noqa: PLR0913, PLR0917 - one parameter per option is how typer reads them
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
    snapshot: SnapshotOption = None,
    recording: RecordingOption = None,
    port: PortOption = DEFAULT_PORT,
    config: RulesOption = None,
    scheduler_name: SchedulerNameOption = None,
    metrics: MetricsOption = "",
    cluster_tokens: ClusterTokensOption = False,
    listen_fd: ListenOption = None,
    token_file: TokenOption = None,
) -> None:
    """Serve a page that shows what runs where, what waits, why, and what would help. Ctrl-C ends it.

    The cluster is only read. The page is on this machine only, and its address has a token.

    [bold]Examples[/bold]

      posse ui                                 of $KUBECONFIG, or of `posse up`

      posse ui --snapshot cluster.snapshot     a cluster as it was

      posse ui --recording DIR                 what `up --record DIR` recorded
    """
    if snapshot and (kubeconfig or context or recording):
        raise Misuse(
            "--snapshot excludes --kubeconfig, --context and --recording: it shows one moment of one cluster"
        )
    if cluster_tokens and (snapshot or recording):
        raise Misuse("--cluster-tokens needs a cluster: give neither --snapshot nor --recording")
    rules = chosen_rules(config, scheduler_name)
    # The engine takes a while to load; completion and help need none of it.
    from posse.cli.ui.run import PageOptions, serve_page  # noqa: PLC0415

    is_live = snapshot is None and (recording is None or kubeconfig is not None)
    serve_page(
        PageOptions(
            kubeconfig,
            context,
            snapshot,
            recording,
            rules,
            is_live,
            port,
            listen_fd,
            token_file,
            metrics,
            cluster_tokens,
        )
    )
