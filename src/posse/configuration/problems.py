"""Problems of a configuration, each with its path and the correction; all are reported at once."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from posse.kinds.machinery.errors import FieldError


@dataclass(frozen=True, slots=True)
class ConfigurationProblem:
    path: str
    message: str
    advice: str = ""
    """The correction, if several problems may share it."""

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class ConfigurationError(Exception):
    """The configuration cannot be used; nothing of it takes effect."""

    def __init__(self, problems: Iterable[ConfigurationProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(_lines(self.problems)))


def _lines(problems: Iterable[ConfigurationProblem]) -> Iterator[str]:
    """Advice is given once; a list of all plugins behind every wrong name would bury the names."""
    given: set[str] = set()
    for problem in problems:
        yield (
            f"{problem}; {problem.advice}" if problem.advice and problem.advice not in given else str(problem)
        )
        given.add(problem.advice)


def from_field_errors(errors: Iterable[FieldError]) -> list[ConfigurationProblem]:
    return [ConfigurationProblem(error.field, error.body()) for error in errors]


def suggestion(name: str, known: Iterable[str]) -> str:
    """The closest known name, or all known names."""
    choices = sorted(known)
    close = get_close_matches(name, choices, n=1)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(choices)}"
