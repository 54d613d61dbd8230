"""The posse command: its verbs, and how problems reach the user."""

import sys
from typing import Annotated

import typer

from posse.cli.explain.explain import explain
from posse.cli.explain.gangs import gangs
from posse.cli.install.install import install
from posse.cli.objects.apply import apply
from posse.cli.objects.delete import delete
from posse.cli.objects.get import get
from posse.cli.problems import Problem
from posse.cli.run.run import run
from posse.cli.storage.data_directory import backup, check, restore
from posse.cli.up.up import up
from posse.version import VERSION

app = typer.Typer(
    name="posse",
    rich_markup_mode="rich",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Shell completion: posse --install-completion. Start with: posse up --example gang",
    help="""Posse schedules workloads: pods that belong together start together or not at all.

    [bold]posse up[/bold] starts a whole cluster on this machine, with simulated nodes. Use it with kubectl, or with
    apply, get and delete below. [bold]posse run[/bold] schedules for a cluster that is there already.
    """,
)


def _tell_version(is_asked: bool) -> None:
    if is_asked:
        version()
        raise typer.Exit


VersionOption = Annotated[
    bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Print the version.")
]


@app.callback()
def posse(*, is_version_asked: VersionOption = False) -> None:
    """Options that go with no verb."""


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(f"posse {VERSION}")


app.command(rich_help_panel="A cluster on this machine")(up)
app.command(rich_help_panel="A cluster on this machine")(backup)
app.command(rich_help_panel="A cluster on this machine")(restore)
app.command(rich_help_panel="A cluster on this machine")(check)
app.command(rich_help_panel="A real cluster")(run)
app.command(rich_help_panel="A real cluster")(install)
app.command(rich_help_panel="Why something waits")(gangs)
app.command(rich_help_panel="Why something waits")(explain)
for verb in (apply, get, delete):
    app.command(rich_help_panel="What is in the cluster")(verb)


def main() -> None:
    try:
        app()
    except Problem as problem:
        typer.echo(f"Error: {problem}", err=True)
        sys.exit(problem.exit_code)
