"""The verbs of the posse command. Only the verb that is called is loaded."""

from collections.abc import Iterable
from importlib import import_module
from typing import Annotated

import typer

from posse.cli.help_text import Verb, Verbs, rewrapped

# Each verb, the module with the function of that name, and the panel of `posse --help` that lists it.
VERBS = {
    "up": ("posse.cli.up.up", "A cluster on this machine"),
    "backup": ("posse.cli.storage.data_directory", "A cluster on this machine"),
    "restore": ("posse.cli.storage.data_directory", "A cluster on this machine"),
    "check": ("posse.cli.storage.data_directory", "A cluster on this machine"),
    "node": ("posse.cli.node.node", "A cluster on this machine"),
    "run": ("posse.cli.run.run", "A real cluster"),
    "install": ("posse.cli.install.install", "A real cluster"),
    "doctor": ("posse.cli.doctor.doctor", "A real cluster"),
    "gangs": ("posse.cli.explain.gangs", "Why something waits"),
    "explain": ("posse.cli.explain.explain", "Why something waits"),
    "top": ("posse.cli.top.top", "Why something waits"),
    "ui": ("posse.cli.ui.ui", "Why something waits"),
    "plan": ("posse.cli.plan.plan", "Would it start? What if?"),
    "snapshot": ("posse.cli.snapshot.snapshot", "Would it start? What if?"),
    "history": ("posse.cli.history.history", "Why something waits"),
    "replay": ("posse.cli.replay.replay", "Recordings and traces"),
    "simulate": ("posse.cli.simulate.simulate", "Recordings and traces"),
    "apply": ("posse.cli.objects.apply", "What is in the cluster"),
    "get": ("posse.cli.objects.get", "What is in the cluster"),
    "delete": ("posse.cli.objects.delete", "What is in the cluster"),
}


def version() -> None:
    """Print the version."""
    from posse.version import VERSION  # noqa: PLC0415 - package metadata takes long to load

    typer.echo(f"posse {VERSION}")


def _print_version(is_asked: bool) -> None:
    if is_asked:
        version()
        raise typer.Exit


VersionOption = Annotated[
    bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
]


def posse(*, is_version_asked: VersionOption = False) -> None:
    """Options without a verb."""


def command_line(words: list[str]) -> typer.Typer:
    """Return the command with the verb in `words`; with every verb for help, completion and unknown verbs."""
    app = typer.Typer(
        name="posse",
        cls=Verbs,
        rich_markup_mode="rich",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog="Shell completion: posse --install-completion. Start with: posse up --example gang",
        help="""Posse schedules workloads: pods that belong together start together or not at all.

    [bold]posse up[/bold] starts a whole cluster with simulated nodes on this machine. Use it with \
kubectl, or with apply, get and delete below. [bold]posse run[/bold] schedules pods of an existing cluster.
    """,
    )
    app.callback()(posse)
    app.command(cls=Verb)(version)
    for verb in _needed(words):
        name, panel = VERBS[verb]
        module = import_module(name)
        function = getattr(module, verb)
        app.command(
            cls=getattr(module, "COMMAND", Verb),
            help=rewrapped(function.__doc__),
            rich_help_panel=panel,
            epilog=getattr(module, "EPILOG", None),
        )(function)
    return app


def _needed(words: list[str]) -> Iterable[str]:
    first = words[0] if words else ""
    if first in {"version", "--version"}:
        return ()
    return (first,) if first in VERBS else VERBS
