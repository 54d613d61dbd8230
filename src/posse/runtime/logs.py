"""Log lines: one per record on standard error, as key=value pairs; only what needs attention.

The story of decisions is a log of its own, which goes where it is asked to and nowhere otherwise.
"""

import json
import logging
import sys
from logging.handlers import WatchedFileHandler
from typing import Any

from posse.model.timestamps import format_micro_timestamp

DECISIONS = "posse.decisions"
STANDARD_OUTPUT = "-"


def configure_logging(level: int = logging.WARNING) -> None:
    logging.basicConfig(level=level, handlers=[StandardErrorHandler()], force=True)


def log_decisions_to(destination: str) -> None:
    """Append to a file, or write to standard output. OSError: the file cannot be opened."""
    to_file = destination != STANDARD_OUTPUT
    # A file that is moved away, as log rotation does, is opened anew.
    handler = WatchedFileHandler(destination, encoding="utf-8") if to_file else StandardOutputHandler()
    logger = logging.getLogger(DECISIONS)
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False


class StandardOutputHandler(logging.Handler):
    """Finds standard output anew for each record, because a live view may have put itself in front of it."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stdout.write(record.getMessage() + "\n")
            sys.stdout.flush()
        except Exception:  # noqa: BLE001 - a log that cannot be written must not stop what it reports on
            self.handleError(record)


class StandardErrorHandler(logging.Handler):
    """Finds standard error anew for each record, because a live view may have put itself in front of it."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(as_key_values(record) + "\n")
        except Exception:  # noqa: BLE001 - a log that cannot be written must not stop what it reports on
            self.handleError(record)


def as_key_values(record: logging.LogRecord) -> str:
    fields: dict[str, Any] = {
        "time": format_micro_timestamp(record.created),
        "level": record.levelname.lower(),
        "logger": record.name,
        "message": record.getMessage(),
    }
    line = " ".join(f"{key}={_quoted(str(value))}" for key, value in fields.items())
    if record.exc_info and record.exc_info[0] is not None:
        line += "\n" + logging.Formatter().formatException(record.exc_info)
    return line


def _quoted(text: str) -> str:
    is_plain = text and not any(character.isspace() or character in '="' for character in text)
    return text if is_plain else json.dumps(text, ensure_ascii=False)
