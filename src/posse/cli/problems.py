"""What goes wrong through no fault of Posse's: told in one line, without a traceback, with what to do next."""


class Problem(Exception):  # noqa: N818 - a person reads the word, and it is not an error of the program
    """The message names the file, field or option that is the matter and says what would help."""

    exit_code = 1


class Misuse(Problem):
    """The command line itself makes no sense."""

    exit_code = 2
