"""What is wrong with a configuration: where, and what would be right. All of it at once, not one thing per attempt."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from posse.kinds.errors import FieldError


@dataclass(frozen=True, slots=True)
class Problem:
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class ConfigurationError(Exception):
    """The configuration cannot be used; nothing of it takes effect."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def from_field_errors(errors: Iterable[FieldError]) -> list[Problem]:
    return [Problem(error.field, error.body()) for error in errors]


def suggestion(name: str, known: Iterable[str]) -> str:
    """What was probably meant, or what there is to choose from."""
    choices = sorted(known)
    close = get_close_matches(name, choices, n=1)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(choices)}"
