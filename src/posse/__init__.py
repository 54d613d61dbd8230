"""Posse schedules workloads: pods that belong together start together or not at all.

Python programs find `Cluster`, `plan` and `simulate` here; `posse.library` has the rest of that.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from posse.library import Cluster, plan, simulate

__all__ = ["Cluster", "plan", "simulate"]


def __getattr__(name: str) -> Any:
    """Load the library on first use: the scheduler itself does not need it."""
    if name not in __all__:
        raise AttributeError(f"module 'posse' has no attribute {name!r}")
    from posse import library  # noqa: PLC0415

    return getattr(library, name)
