"""The entry point of the posse command: how problems and Ctrl-C reach the user."""

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
    from posse.cli.problems import Problem  # noqa: PLC0415
    from posse.cli.verbs import command_line  # noqa: PLC0415

    try:
        command_line(words)()
    except Problem as problem:
        sys.stderr.write(f"Error: {problem}\n")
        sys.exit(problem.exit_code)
