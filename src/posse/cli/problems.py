"""What goes wrong through no fault of Posse's: told in one line, without a traceback, with what to do next."""

from posse.kinds.formats import Format


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
