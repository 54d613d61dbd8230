"""posse run: what can be chosen about a scheduler for a real cluster. How it runs is in cli/running.py."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from posse.cli.controller_names import chosen_controllers
from posse.cli.problems import Misuse, check_scheduler_names
from posse.cli.up.up import (
    SCHEDULING,
    ConfigOption,
    ExactSearchOption,
    FeatureGatesOption,
    LogDecisionsOption,
    chosen_gates,
    start_decision_log,
)
from posse.runtime.process.logs import LogForm
from posse.runtime.process.options import DEFAULT_EXACT_SEARCH
from posse.runtime.process.run_options import (
    DEFAULT_PORT,
    DEFAULT_SCHEDULER_NAME,
    DEFAULT_WRITES_AT_ONCE,
    GroupApi,
    RunOptions,
    SetController,
)

CLUSTER = "Which cluster"
KUBE_SCHEDULER_NAME = "default-scheduler"
SERVING = "What others see of it"


class LogLevel(StrEnum):
    debug = "debug"
    info = "info"
    warning = "warning"
    error = "error"


KubeconfigOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="How to reach the cluster. Default: $KUBECONFIG, else the service account of the pod it runs in, else "
        "~/.kube/config.",
        rich_help_panel=CLUSTER,
    ),
]
ContextOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Which context of the kubeconfig; else the current one.", rich_help_panel=CLUSTER
    ),
]
FormOption = Annotated[
    GroupApi,
    typer.Option(
        help="Where groups come from: [bold]native[/bold], the API of Kubernetes; [bold]crd[/bold], custom resources of "
        "scheduling.posse.dev; [bold]auto[/bold], whatever the cluster serves.",
        rich_help_panel=CLUSTER,
    ),
]
SchedulerNameOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help=f"Schedule pods with this schedulerName. Default: {DEFAULT_SCHEDULER_NAME}. May be repeated. "
        "default-scheduler takes over from kube-scheduler, and is the default with --shadow. With --config the file says it.",
        rich_help_panel=SCHEDULING,
    ),
]
ControllersOption = Annotated[
    str,
    typer.Option(
        metavar="NAMES",
        help=f"Also control these, if nobody else does: {', '.join(SetController)}, with commas between; or all.",
        show_default=False,
        rich_help_panel=SCHEDULING,
    ),
]
LeaderElectOption = Annotated[
    bool | None,
    typer.Option(
        "--leader-elect/--no-leader-elect",
        help="Schedule only while holding a Lease, so that several can stand by. Default: yes.",
        show_default=False,
        rich_help_panel=SCHEDULING,
    ),
]
DryRunOption = Annotated[
    bool,
    typer.Option("--dry-run", help="Decide and log, but write nothing.", rich_help_panel=SCHEDULING),
]
ShadowOption = Annotated[
    bool,
    typer.Option(
        "--shadow",
        help="Look on while another scheduler works, write nothing, and tell how far both agree and what waits although "
        "there is room.",
        rich_help_panel=SCHEDULING,
    ),
]
WritesOption = Annotated[
    int,
    typer.Option(
        "--writes-at-once",
        metavar="N",
        min=1,
        help="How many writes may be under way at the API server.",
        rich_help_panel=SCHEDULING,
    ),
]
BindAddressOption = Annotated[
    str | None,
    typer.Option(
        metavar="IP",
        help="Where /healthz, /readyz, /metrics and /configz are. Default: 127.0.0.1; in a pod 0.0.0.0.",
        rich_help_panel=SERVING,
    ),
]
PortOption = Annotated[
    int,
    typer.Option(metavar="P", min=0, max=65535, help="0 takes any free one.", rich_help_panel=SERVING),
]
LogFormOption = Annotated[
    LogForm, typer.Option("--log-format", help="For people, or for programs.", rich_help_panel=SERVING)
]
LogLevelOption = Annotated[
    LogLevel, typer.Option("--log-level", help="How much is told.", rich_help_panel=SERVING)
]


def run(  # noqa: PLR0913, PLR0917 - one parameter per option is how typer reads them
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
    form: FormOption = GroupApi.AUTO,
    config: ConfigOption = None,
    scheduler_name: SchedulerNameOption = None,
    feature_gates: FeatureGatesOption = None,
    controllers: ControllersOption = "",
    exact_search: ExactSearchOption = DEFAULT_EXACT_SEARCH,
    leader_elect: LeaderElectOption = None,
    dry_run: DryRunOption = False,
    shadow: ShadowOption = False,
    writes_at_once: WritesOption = DEFAULT_WRITES_AT_ONCE,
    bind_address: BindAddressOption = None,
    port: PortOption = DEFAULT_PORT,
    log_format: LogFormOption = LogForm.TEXT,
    log_level: LogLevelOption = LogLevel.info,
    log_decisions: LogDecisionsOption = "",
) -> None:
    """Schedule pods of a real cluster, beside kube-scheduler or instead of it.

    Pods choose it by schedulerName. It needs nothing on disk: everything it knows it reads from the API server.

    [bold]Examples[/bold]

      posse run                                     pods with schedulerName: posse

      posse run --scheduler-name default-scheduler  in the place of kube-scheduler

      posse run --controllers all                   run JobSets and LeaderWorkerSets too

      posse run --dry-run --log-decisions -         say what it would do

      posse run --shadow                            look over the shoulder of kube-scheduler
    """
    check_scheduler_names(scheduler_name, config)
    options = RunOptions(
        kubeconfig=kubeconfig.expanduser().absolute() if kubeconfig else None,
        context=context,
        config=config.expanduser().absolute() if config else None,
        scheduler_names=tuple(scheduler_name or (KUBE_SCHEDULER_NAME if shadow else DEFAULT_SCHEDULER_NAME,)),
        gates=chosen_gates(feature_gates or []),
        exact_search=exact_search,
        form=form,
        controllers=_controllers(controllers, form, only_looks=dry_run or shadow),
        leader_elect=leader_elect,
        dry_run=dry_run,
        shadow=shadow,
        writes_at_once=writes_at_once,
        bind_address=bind_address,
        port=port,
    )
    if log_decisions:
        start_decision_log(log_decisions)
    # The client and the engine take a while to load; completion and the other verbs need neither.
    from posse.cli.run.start import run_scheduler  # noqa: PLC0415

    run_scheduler(options, log_level.upper(), log_format)


def _controllers(words: str, form: GroupApi, *, only_looks: bool) -> tuple[SetController, ...]:
    wanted = chosen_controllers(words)
    if wanted and only_looks:
        raise Misuse(
            "--controllers makes and deletes objects, which --dry-run and --shadow promise not to do"
        )
    if form is GroupApi.NATIVE and SetController.LEADER_WORKER_SETS in wanted:
        raise Misuse(
            "--controllers leaderworkersets makes groups of scheduling.posse.dev, which --form native leaves out"
        )
    return wanted
