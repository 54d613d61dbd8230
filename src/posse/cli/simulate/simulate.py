"""Options of `posse simulate`. run.py runs the policies and prints the table."""

from pathlib import Path
from typing import Annotated

import typer

from posse.cli.output import Output, OutputOption
from posse.cli.simulate.inputs import Request
from posse.cli.simulate.run import run_simulations
from posse.simulation.policies import named_policies

POLICIES = tuple(named_policies())


def complete_policy(incomplete: str) -> list[str]:
    return [name for name in POLICIES if name.startswith(incomplete)]


TraceArgument = Annotated[
    Path,
    typer.Argument(
        metavar="TRACE",
        help="Jobs: a CSV or SWF file (may be .gz), manifests (.yaml), or the directory of a recording.",
    ),
]
NodesOption = Annotated[
    int | None,
    typer.Option("--nodes", min=1, help="Number of nodes. Default: 16, or those of the recording."),
]
GpusOption = Annotated[int, typer.Option("--gpus", min=1, max=1024, help="GPUs of each node.")]
TopologyOption = Annotated[
    str, typer.Option("--topology", metavar="LEVELS", help="Levels of the cluster, such as block=4,rack=8.")
]
NodeListOption = Annotated[
    Path | None,
    typer.Option("--node-list", metavar="FILE", help="Nodes from a CSV file instead of --nodes."),
]
SnapshotOption = Annotated[
    Path | None,
    typer.Option(
        "--snapshot", metavar="FILE", help="Nodes of a snapshot (posse snapshot) instead of --nodes."
    ),
]
KubeconfigOption = Annotated[
    Path | None,
    typer.Option(
        "--kubeconfig", metavar="FILE", help="Nodes of this cluster, as they are now, instead of --nodes."
    ),
]
GangsInOption = Annotated[
    str, typer.Option("--gangs-in", metavar="LEVEL", help="Every gang must be in one domain, such as a rack.")
]
GangsPreferOption = Annotated[
    str,
    typer.Option("--gangs-prefer", metavar="LEVEL", help="Every gang should be in one domain if possible."),
]
MinimumRunTimeOption = Annotated[
    str,
    typer.Option(
        "--minimum-run-time", metavar="DURATION", help="Gangs run so long before others preempt them: 30m."
    ),
]
PolicyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        metavar="NAME",
        autocompletion=complete_policy,
        help=f"{', '.join(POLICIES)}; may be repeated. Default: posse, or the rules of the recording.",
    ),
]
ConfigOption = Annotated[
    list[Path] | None,
    typer.Option("--config", metavar="FILE", help="A scheduler configuration as a policy; may be repeated."),
]
LoadOption = Annotated[
    float, typer.Option("--load", metavar="FACTOR", help="How much denser jobs arrive: 2 is twice as dense.")
]
WindowOption = Annotated[
    str,
    typer.Option("--window", metavar="FROM:TO", help="Only jobs that arrive in these seconds of the trace."),
]
WarmUpOption = Annotated[
    float,
    typer.Option("--warm-up", metavar="SECONDS", min=0, help="Jobs that arrive earlier are not counted."),
]
SamplesOption = Annotated[
    int,
    typer.Option(
        "--samples",
        min=1,
        max=1000,
        help="Repeat with arrivals moved at random, and print confidence intervals.",
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Of moved arrivals, failures and limits.")]
JitterOption = Annotated[
    float,
    typer.Option(
        "--jitter", metavar="SECONDS", min=0, help="How far samples after the first move an arrival."
    ),
]
FailuresOption = Annotated[
    str,
    typer.Option(
        "--failures",
        metavar="DAYS:HOURS",
        help="Every node fails once in so many days, and takes so many hours to repair (means).",
    ),
]
LimitsOption = Annotated[
    bool,
    typer.Option(
        "--limits",
        help="Give jobs run-time limits, drawn at random (--seed) from round figures above their run.",
    ),
]
ForecastsOption = Annotated[
    bool,
    typer.Option(
        "--forecasts",
        help="Forecast the start of what waits every ten minutes, and count how many starts were foreseen.",
    ),
]
OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Write result.json and report.html there.")
]


def simulate(  # noqa: PLR0913, PLR0917 - one parameter per option is how typer reads them
    trace: TraceArgument,
    nodes: NodesOption = None,
    gpus: GpusOption = 8,
    topology: TopologyOption = "",
    node_list: NodeListOption = None,
    snapshot: SnapshotOption = None,
    kubeconfig: KubeconfigOption = None,
    gangs_in: GangsInOption = "",
    gangs_prefer: GangsPreferOption = "",
    minimum_run_time: MinimumRunTimeOption = "",
    policy: PolicyOption = None,
    config: ConfigOption = None,
    load: LoadOption = 1.0,
    window: WindowOption = "",
    warm_up: WarmUpOption = 0.0,
    samples: SamplesOption = 1,
    seed: SeedOption = 1,
    jitter: JitterOption = 600.0,
    failures: FailuresOption = "",
    limits: LimitsOption = False,
    forecasts: ForecastsOption = False,
    out: OutOption = None,
    output: OutputOption = Output.table,
) -> None:
    """Run a trace of jobs on a cluster in virtual time, with the same engine as everywhere.

    Months take seconds to minutes. [bold]posse[/bold] is the scheduler with its default configuration, which
    spreads pods as kube-scheduler does; [bold]packed[/bold] fills one node after the other. As yardsticks,
    [bold]fifo[/bold] blocks behind the first job that does not fit, and [bold]greedy[/bold] starts whatever
    fits.

    [bold]Examples[/bold]

      posse simulate jobs.csv --nodes 80           how long would jobs wait?

      posse simulate jobs.csv --nodes 80 --policy fifo --policy greedy --out DIR

      posse simulate jobs.csv --nodes 64 --topology rack=8 --gangs-in rack

      posse simulate jobs.csv --nodes 80 --samples 10 --failures 30:4
    """
    request = Request(
        trace=trace,
        nodes=nodes,
        gpus=gpus,
        topology=topology,
        node_list=node_list,
        snapshot=snapshot,
        kubeconfig=kubeconfig,
        gangs_in=gangs_in,
        gangs_prefer=gangs_prefer,
        minimum_run_time=minimum_run_time,
        policies=tuple(policy or ()),
        configurations=tuple(config or ()),
        load=load,
        window=window,
        warm_up=warm_up,
        samples=samples,
        seed=seed,
        jitter=jitter,
        failures=failures,
        limits=limits,
        forecasts=forecasts,
    )
    run_simulations(request, out, output)
