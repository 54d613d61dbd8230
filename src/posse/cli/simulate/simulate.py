"""Options of `posse simulate`. run.py reads the trace, runs the policies and prints the table."""

from pathlib import Path
from typing import Annotated

import typer

from posse.cli.output import Output, OutputOption
from posse.cli.problems import Misuse
from posse.cli.simulate.run import Request, run_simulations
from posse.simulation.policies import named_policies

POLICIES = tuple(named_policies())


def complete_policy(incomplete: str) -> list[str]:
    return [name for name in POLICIES if name.startswith(incomplete)]


TraceArgument = Annotated[
    Path, typer.Argument(metavar="TRACE", help="Jobs: a CSV file, or .swf; either may be compressed (.gz).")
]
NodesOption = Annotated[int, typer.Option("--nodes", min=1, help="Number of nodes.")]
GpusOption = Annotated[int, typer.Option("--gpus", min=1, max=1024, help="GPUs of each node.")]
TopologyOption = Annotated[
    str, typer.Option("--topology", metavar="LEVELS", help="Levels of the cluster, such as block=4,rack=8.")
]
NodeListOption = Annotated[
    Path | None,
    typer.Option("--node-list", metavar="FILE", help="Nodes from a CSV file instead of --nodes."),
]
GangsInOption = Annotated[
    str, typer.Option("--gangs-in", metavar="LEVEL", help="Every gang must be in one domain, such as a rack.")
]
PolicyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        metavar="NAME",
        autocompletion=complete_policy,
        help=f"{', '.join(POLICIES)}; may be repeated. Default: posse.",
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
OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Write result.json and report.html there.")
]


def simulate(  # noqa: PLR0913, PLR0917 - one parameter per option is how typer reads them
    trace: TraceArgument,
    nodes: NodesOption = 16,
    gpus: GpusOption = 8,
    topology: TopologyOption = "",
    node_list: NodeListOption = None,
    gangs_in: GangsInOption = "",
    policy: PolicyOption = None,
    config: ConfigOption = None,
    load: LoadOption = 1.0,
    window: WindowOption = "",
    warm_up: WarmUpOption = 0.0,
    out: OutOption = None,
    output: OutputOption = Output.table,
) -> None:
    """Run a trace of jobs on a cluster in virtual time, with the same engine as everywhere.

    Months take seconds to minutes. [bold]posse[/bold] is the scheduler with its default configuration, which
    spreads pods as kube-scheduler does; [bold]packed[/bold] fills one node after the other. As yardsticks,
    [bold]fifo[/bold] blocks behind the first job that does not fit, and [bold]greedy[/bold] starts whatever
    fits.

    [bold]Examples[/bold]

      posse simulate jobs.csv --nodes 80                         how long would jobs wait?

      posse simulate jobs.csv --nodes 80 --policy fifo --policy greedy --policy posse --out comparison

      posse simulate jobs.csv --nodes 64 --topology rack=8 --gangs-in rack
    """
    unknown = [name for name in policy or () if name not in POLICIES]
    if unknown:
        raise Misuse(f"--policy: {unknown[0]!r} is none of {', '.join(POLICIES)}")
    if not 0 < load < 1e6:
        raise Misuse(f"--load: {load:g} is not a factor above 0")
    run_simulations(
        Request(
            trace=trace,
            nodes=nodes,
            gpus=gpus,
            topology=topology,
            node_list=node_list,
            gangs_in=gangs_in,
            policies=tuple(policy or (() if config else ("posse",))),
            configurations=tuple(config or ()),
            load=load,
            window=window,
            warm_up=warm_up,
            out=out,
        ),
        output,
    )
