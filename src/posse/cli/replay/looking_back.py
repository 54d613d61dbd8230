"""`posse replay DIR --at TIME VERB ...`: what another verb would have said then."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from posse.cli.help_text import Verb

VERBS = ("gangs", "explain", "top", "plan")
"""Those that read a snapshot."""
_WORDS = "posse.replay.words"


class ReplayVerb(Verb):
    """Words from another verb on are left to that verb, with all its options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        # The first word is the folder, which may have any name.
        at = next((place for place, word in enumerate(args) if place and word in VERBS), len(args))
        ctx.meta[_WORDS] = args[at:]
        return super().parse_args(ctx, args[:at])


def words_of(ctx: typer.Context) -> list[str]:
    found: list[str] = ctx.meta[_WORDS]
    return found


def look_back(words: list[str], write_snapshot: Callable[[Path], None]) -> None:
    """Run the verb on the cluster that the recording shows. Exit: as the verb does."""
    from posse.cli.verbs import command_line  # noqa: PLC0415 - it loads this module

    with tempfile.TemporaryDirectory(prefix="posse-replay-") as folder:
        snapshot = Path(folder) / "then.gz"
        write_snapshot(snapshot)
        code = command_line(words)(
            [*words, "--snapshot", str(snapshot)], prog_name="posse", standalone_mode=False
        )
    if code:
        raise typer.Exit(code)
