"""Options of `posse run`, the scheduler for a real cluster. start.py runs it."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from posse.cli.controller_names import chosen_controllers
from posse.cli.problems import Misuse, check_scheduler_names
from posse.cli.up.up import (
    LISTED_GATES,
    SCHEDULING,
    ConfigOption,
    ExactSearchOption,
    FeatureGatesOption,
    LogDecisionsOption,
    RecordMaxOption,
    RecordOption,
    chosen_gates,
    record_bytes,
    start_decision_log,
)
from posse.runtime.process.gc_tuning import collect_seldom
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

EPILOG = LISTED_GATES
CLUSTER = "Which cluster"
REPLICAS = "Replicas"
KUBE_SCHEDULER_NAME = "default-scheduler"
SERVING = "Health, metrics and logs"


class LogLevel(StrEnum):
    debug = "debug"
    info = "info"
    warning = "warning"
    error = "error"


KubeconfigOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Kubeconfig of the cluster. Default: $KUBECONFIG, else the service account of the pod, "
        "else ~/.kube/config.",
        rich_help_panel=CLUSTER,
    ),
]
ContextOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Context of the kubeconfig. Default: the current one.", rich_help_panel=CLUSTER
    ),
]
FormOption = Annotated[
    GroupApi,
    typer.Option(
        help="API that describes groups: [bold]native[/bold], scheduling.k8s.io; [bold]crd[/bold], "
        "custom resources of scheduling.posse.dev; [bold]auto[/bold], whatever the cluster serves.",
        rich_help_panel=CLUSTER,
    ),
]
SchedulerNameOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help=f"Schedule pods with this schedulerName. Default: {DEFAULT_SCHEDULER_NAME}. May be repeated. "
        "default-scheduler replaces kube-scheduler, and is the default with --shadow. "
        "With --config, the names are in the file.",
        rich_help_panel=SCHEDULING,
    ),
]
ControllersOption = Annotated[
    str,
    typer.Option(
        metavar="NAMES",
        help=f"Also control these kinds, unless another controller does: {', '.join(SetController)}, "
        "separated by commas; or all.",
        show_default=False,
        rich_help_panel=SCHEDULING,
    ),
]
OnlyControllersOption = Annotated[
    bool,
    typer.Option(
        "--only-controllers",
        help="Control the kinds of --controllers and schedule no pods, with a lease of its own.",
        rich_help_panel=SCHEDULING,
    ),
]
ProvisioningOption = Annotated[
    bool,
    typer.Option(
        "--provisioning-requests",
        help="Ask cluster autoscalers for the nodes that waiting gangs lack, by ProvisioningRequests.",
    ),
]
WithoutVolumesOption = Annotated[
    bool,
    typer.Option(
        "--without-volumes",
        help="Look at no volumes, for accounts that may not; pods with claims then wait.",
        rich_help_panel=SCHEDULING,
    ),
]
LeaderElectOption = Annotated[
    bool | None,
    typer.Option(
        "--leader-elect/--no-leader-elect",
        help="Schedule only while holding a Lease, so that replicas can stand by. Default: yes.",
        show_default=False,
        rich_help_panel=REPLICAS,
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
        help="Watch another scheduler and write nothing. Report how far both agree, and what waits "
        "although it would fit.",
        rich_help_panel=SCHEDULING,
    ),
]
WritesOption = Annotated[
    int,
    typer.Option(
        "--writes-at-once",
        metavar="N",
        min=1,
        help="Maximum number of concurrent writes to the API server.",
        rich_help_panel=SCHEDULING,
    ),
]
BindAddressOption = Annotated[
    str | None,
    typer.Option(
        metavar="IP",
        help="Address of /healthz, /readyz, /metrics and /configz. Default: 127.0.0.1; in a pod 0.0.0.0. "
        "Other than on loopback it is HTTPS, and metrics need a token of the cluster.",
        rich_help_panel=SERVING,
    ),
]
PortOption = Annotated[
    int,
    typer.Option(metavar="P", min=0, max=65535, help="0 takes any free port.", rich_help_panel=SERVING),
]
PageOption = Annotated[
    bool,
    typer.Option(
        "--ui",
        help="Serve a page for the browser on this machine that shows what runs where and what waits.",
        rich_help_panel=SERVING,
    ),
]
LogFormOption = Annotated[
    LogForm, typer.Option("--log-format", help="For people, or for programs.", rich_help_panel=SERVING)
]
LogLevelOption = Annotated[
    LogLevel, typer.Option("--log-level", help="Least severe level to log.", rich_help_panel=SERVING)
]


def run(  # noqa: PLR0913, PLR0917 - one parameter per option is how typer reads them
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
    form: FormOption = GroupApi.AUTO,
    config: ConfigOption = None,
    scheduler_name: SchedulerNameOption = None,
    feature_gates: FeatureGatesOption = None,
    controllers: ControllersOption = "",
    only_controllers: OnlyControllersOption = False,
    without_volumes: WithoutVolumesOption = False,
    provisioning_requests: ProvisioningOption = False,
    exact_search: ExactSearchOption = DEFAULT_EXACT_SEARCH,
    leader_elect: LeaderElectOption = None,
    dry_run: DryRunOption = False,
    shadow: ShadowOption = False,
    writes_at_once: WritesOption = DEFAULT_WRITES_AT_ONCE,
    bind_address: BindAddressOption = None,
    port: PortOption = DEFAULT_PORT,
    ui: PageOption = False,
    log_format: LogFormOption = LogForm.TEXT,
    log_level: LogLevelOption = LogLevel.info,
    log_decisions: LogDecisionsOption = "",
    record: RecordOption = None,
    record_max: RecordMaxOption = "1Gi",
) -> None:
    """Schedule pods of a real cluster, beside kube-scheduler or instead of it.

    Pods select it with schedulerName. It keeps nothing on disk; all state is in the API server.

    [bold]Examples[/bold]

      posse run                                     pods with schedulerName: posse

      posse run --scheduler-name default-scheduler  instead of kube-scheduler

      posse run --controllers all                   JobSets and the like too

      posse run --dry-run --log-decisions -         print what it would do

      posse run --shadow                            compare with kube-scheduler
    """
    check_scheduler_names(scheduler_name, config)
    if only_controllers and not controllers:
        raise Misuse("--only-controllers needs --controllers, which says what to control")
    options = RunOptions(
        kubeconfig=kubeconfig.expanduser().absolute() if kubeconfig else None,
        context=context,
        config=config.expanduser().absolute() if config else None,
        scheduler_names=tuple(scheduler_name or (KUBE_SCHEDULER_NAME if shadow else DEFAULT_SCHEDULER_NAME,)),
        gates=chosen_gates(feature_gates or []),
        exact_search=exact_search,
        record=record.expanduser().absolute() if record else None,
        record_max=record_bytes(record_max),
        form=form,
        controllers=_controllers(controllers, form, only_looks=dry_run or shadow),
        schedules=not only_controllers,
        volumes=not without_volumes,
        provisioning_requests=provisioning_requests,
        leader_elect=leader_elect,
        dry_run=dry_run,
        shadow=shadow,
        writes_at_once=writes_at_once,
        bind_address=bind_address,
        port=port,
        has_page=ui,
    )
    if log_decisions:
        start_decision_log(log_decisions)
    # Before the imports, which make much that stays.
    collect_seldom()
    # The client and the engine take a while to load; completion and the other verbs need neither.
    from posse.cli.run.start import run_scheduler  # noqa: PLC0415

    run_scheduler(options, log_level.upper(), log_format)


def _controllers(words: str, form: GroupApi, *, only_looks: bool) -> tuple[SetController, ...]:
    wanted = chosen_controllers(words)
    if wanted and only_looks:
        raise Misuse("--controllers creates and deletes objects, so it excludes --dry-run and --shadow")
    if form is GroupApi.NATIVE and SetController.LEADER_WORKER_SETS in wanted:
        raise Misuse(
            "--controllers leaderworkersets needs groups of scheduling.posse.dev, which --form native ignores"
        )
    return wanted
