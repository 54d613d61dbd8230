"""The entry point of the posse command: how problems and Ctrl-C reach the user."""

import gc
import sys

INTERRUPTED = 130
"""What a shell reports for a process that SIGINT ended."""


def main() -> None:
    try:
        _main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _main(words: list[str]) -> None:
    # Imported here so that Ctrl-C during the imports prints no traceback.
    # What they make stays, so there is no garbage to look for.
    gc.disable()
    from posse.cli.problems import Problem  # noqa: PLC0415
    from posse.cli.verbs import command_line  # noqa: PLC0415

    command = command_line(words)
    gc.enable()
    try:
        command()
    except Problem as problem:
        sys.stderr.write(f"Error: {problem}\n")
        sys.exit(problem.exit_code)
