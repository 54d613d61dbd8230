"""Help that fits a terminal of 80 columns: paragraphs are wrapped to its width, and flags name no type."""

import inspect
from typing import Any

from typer.core import TyperCommand, TyperGroup


class Verb(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        return _shortened(super().get_params(ctx))


class Verbs(TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        return _shortened(super().get_params(ctx))


def _shortened(params: list[Any]) -> list[Any]:
    """A flag takes no value, and a plain number is a number: neither needs the name of a Python type."""
    for param in params:
        if getattr(param, "metavar", None) is None:
            if getattr(param, "is_flag", False):
                param.metavar = ""
            elif getattr(param, "min", None) is not None or getattr(param, "max", None) is not None:
                param.metavar = "N"
    return params


def rewrapped(docstring: str) -> str:
    """Paragraphs as single lines, which the terminal's width wraps. Examples are indented, and stay."""
    paragraphs = inspect.cleandoc(docstring).split("\n\n")
    return "\n\n".join(one if one.startswith(" ") else one.replace("\n", " ") for one in paragraphs)
