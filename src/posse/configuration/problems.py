"""What is wrong with a configuration: where, and what would be right. All of it at once, not one thing per attempt."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from posse.kinds.machinery.errors import FieldError


@dataclass(frozen=True, slots=True)
class ConfigurationProblem:
    path: str
    message: str
    advice: str = ""
    """What would be right, where the same may be said of many problems."""

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
    """What was probably meant, or what there is to choose from."""
    choices = sorted(known)
    close = get_close_matches(name, choices, n=1)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(choices)}"
