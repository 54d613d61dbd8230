"""One object that cannot be handled is left out, with a traceback in the log, and never stops the others.

What says that Posse itself cannot be trusted any more is let through, so that the process ends.
"""

import logging
from types import TracebackType

from posse.engine.state.invariants import InvariantBroken
from posse.store.errors import CommitFailed

log = logging.getLogger(__name__)


class skipping:  # noqa: N801 - it reads as a function; one by contextlib takes several times longer
    """Handle one object; `what` and the names say which, should it fail."""

    __slots__ = ("_names", "_what")

    def __init__(self, what: str, *names: object) -> None:
        self._what, self._names = what, names

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None
    ) -> bool:
        return isinstance(error, Exception) and is_left_out(error, self._what, *self._names)


def is_left_out(error: Exception, what: str, *names: object) -> bool:
    """Whether the object is left out, which is logged; an error that ends the process is let through."""
    if isinstance(error, InvariantBroken | CommitFailed):
        return False
    name = "/".join(str(name) for name in names if name)
    log.error("%s %.300s could not be handled and is left out", what, name, exc_info=error)
    return True
