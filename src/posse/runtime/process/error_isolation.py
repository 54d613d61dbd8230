"""One object that cannot be handled is left out, with a traceback in the log, and never stops the others.

What says that Posse itself cannot be trusted any more is let through, so that the process ends.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from posse.engine.state.invariants import InvariantBroken
from posse.store.errors import CommitFailed

log = logging.getLogger(__name__)


@contextmanager
def skipping(what: str, *names: object) -> Iterator[None]:
    """Handle one object; `what` and the names say which, should it fail."""
    try:
        yield
    except (InvariantBroken, CommitFailed):
        raise
    except Exception:
        name = "/".join(str(name) for name in names if name)
        log.exception("%s %.300s could not be handled and is left out", what, name)
