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
        at = _place_of_verb(args)
        ctx.meta[_WORDS] = args[at:]
        return super().parse_args(ctx, args[:at])


def _place_of_verb(args: list[str]) -> int:
    """Values of options and the folder, which comes first of the others, may have any name."""
    is_value, has_folder = False, False
    for place, word in enumerate(args):
        if not is_value and not word.startswith("-"):
            if has_folder and word in VERBS:
                return place
            has_folder = True
        # All options but the help have a value.
        is_value = not is_value and word.startswith("--") and "=" not in word and word != "--help"
    return len(args)


def words_of(ctx: typer.Context) -> list[str]:
    found: list[str] = ctx.meta[_WORDS]
    return found


def look_back(words: list[str], write_snapshot: Callable[[Path], None]) -> None:
    """Run the verb on the cluster that the recording shows. Exit: as the verb does."""
    from posse.cli.verbs import command_line  # noqa: PLC0415 - it loads this module

    with tempfile.TemporaryDirectory(prefix="posse-replay-") as folder:
        snapshot = Path(folder) / "then.gz"
        write_snapshot(snapshot)
        whole = [words[0], "--snapshot", str(snapshot), *words[1:]]
        code = command_line(words)(whole, prog_name="posse", standalone_mode=False)
    if code:
        raise typer.Exit(code)
