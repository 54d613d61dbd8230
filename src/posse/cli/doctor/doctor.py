"""Options of `posse doctor`. run.py reads the cluster and prints the findings."""

from typing import Annotated

import typer

from posse.cli.output import Output, OutputOption
from posse.cli.problems import Misuse
from posse.cli.session import (
    KubeconfigOption,
    RulesOption,
    SchedulerNameOption,
    SnapshotOption,
    chosen_rules,
)

AccountOption = Annotated[
    str,
    typer.Option(
        "--account",
        metavar="NAMESPACE/NAME",
        help="Check the rights of this service account. "
        "Default: kube-system/posse if it exists, else your own.",
    ),
]


def doctor(
    account: AccountOption = "",
    output: OutputOption = Output.table,
    config: RulesOption = None,
    scheduler_name: SchedulerNameOption = None,
    kubeconfig: KubeconfigOption = None,
    snapshot: SnapshotOption = None,
) -> None:
    """Look for what is wrong with a cluster's set-up, and say what to do. Nothing is changed.

    Exit codes: 0 nothing wrong, 3 warnings, 4 errors found, 1 and 2 it could not look.

    [bold]Examples[/bold]

      posse doctor

      posse doctor --account batch/posse -o json

      posse doctor --snapshot cluster.snapshot
    """
    from posse.cli.doctor.checks.every_check import diagnose  # noqa: PLC0415 - takes a while to load
    from posse.cli.doctor.run import (  # noqa: PLC0415
        checked_account,
        facts_of_cluster,
        facts_of_snapshot,
        show_diagnosis,
    )

    rules = chosen_rules(config, scheduler_name)
    checked = checked_account(account, snapshot)
    if snapshot is not None:
        if kubeconfig is not None:
            raise Misuse("--kubeconfig and --snapshot exclude each other")
        facts = facts_of_snapshot(snapshot, rules)
    else:
        facts = facts_of_cluster(kubeconfig, checked, rules)
    show_diagnosis(diagnose(facts), output)
