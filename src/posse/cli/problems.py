"""What goes wrong through no fault of Posse's: told in one line, without a traceback, with what to do next."""

from collections.abc import Sequence
from pathlib import Path

from posse.model.formats import Format, dns_subdomain


class Problem(Exception):  # noqa: N818 - a person reads the word, and it is not an error of the program
    """The message names the file, field or option that is the matter and says what would help."""

    exit_code = 1


class Misuse(Problem):
    """The command line itself makes no sense."""

    exit_code = 2


def check_format(option: str, text: str, form: Format) -> None:
    """Misuse: what was given for the option is not of this format."""
    problems = form(text)
    if problems:
        raise Misuse(f"{option}: {text!r}: {problems[0]}")


def check_scheduler_names(names: Sequence[str] | None, config: Path | None) -> None:
    """Profiles of a configuration file have names of their own."""
    if names and config:
        raise Misuse(
            "--scheduler-name and --config do not go together; the profiles of the file have the names"
        )
    for name in names or ():
        check_format("--scheduler-name", name, dns_subdomain)
