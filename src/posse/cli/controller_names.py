"""Parses the list of controllers on the command line."""

from posse.cli.problems import Misuse
from posse.runtime.process.run_options import SetController

ALL = "all"


def chosen_controllers(text: str) -> tuple[SetController, ...]:
    """Return the controllers in the order of SetController; none for an empty text."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in (ALL, *SetController)]
    if unknown:
        known = ", ".join((*SetController, ALL))
        raise Misuse(f"--controllers: {unknown[0]!r} is not one of {known}")
    return tuple(item for item in SetController if ALL in names or item in names)
