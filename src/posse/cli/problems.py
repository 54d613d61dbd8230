"""Problems outside of Posse, such as wrong input: reported in one line with what to do, without traceback."""

from collections.abc import Sequence
from pathlib import Path

from posse.model.formats import Format, dns_subdomain


class Problem(Exception):  # noqa: N818 - the user sees it, and it is not a bug
    """The message names the file, field or option at fault and what would help."""

    exit_code = 1


class Unreachable(Problem):
    """The server does not answer, or not to these credentials, whatever is asked."""


class Misuse(Problem):
    """The command line itself is invalid."""

    exit_code = 2


def check_format(option: str, text: str, form: Format) -> None:
    """Misuse: the value of the option does not have this format."""
    problems = form(text)
    if problems:
        raise Misuse(f"{option}: {text!r}: {problems[0]}")


def check_scheduler_names(names: Sequence[str] | None, config: Path | None) -> None:
    """Misuse: a name is invalid, or there is also a file, whose profiles have names."""
    if names and config:
        raise Misuse(
            "--scheduler-name and --config exclude each other: the file has the names of its profiles"
        )
    for name in names or ():
        check_format("--scheduler-name", name, dns_subdomain)
