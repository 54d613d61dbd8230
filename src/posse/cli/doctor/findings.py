"""Findings of `posse doctor`: what was seen, how bad it is, and what to do."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

_MAX_NAMES = 5


class Severity(StrEnum):
    ERROR = "error"
    """Something cannot work until it is changed."""
    WARNING = "warning"
    """Something may go wrong, or goes wrong for some workloads."""
    NOTE = "note"
    """Good to know; nothing is wrong."""


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    severity: Severity
    message: str
    advice: str = ""
    """What to do; empty for notes that need nothing."""


def error(message: str, advice: str) -> DoctorFinding:
    return DoctorFinding(Severity.ERROR, message, advice)


def warning(message: str, advice: str) -> DoctorFinding:
    return DoctorFinding(Severity.WARNING, message, advice)


def note(message: str, advice: str = "") -> DoctorFinding:
    return DoctorFinding(Severity.NOTE, message, advice)


def names(found: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    shown = ", ".join(found[:_MAX_NAMES])
    more = len(found) - _MAX_NAMES
    return f"{shown} and {more} more" if more > 0 else shown
