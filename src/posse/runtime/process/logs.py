"""Log lines: one per record on standard error, as key=value pairs or as JSON.

The story of decisions is a log of its own, which goes where it is asked to and nowhere otherwise.
"""

import json
import logging
import sys
from collections.abc import Callable
from enum import StrEnum
from logging.handlers import WatchedFileHandler

from posse.model.timestamps import format_micro_timestamp

DECISIONS = "posse.decisions"
STANDARD_OUTPUT = "-"


class LogForm(StrEnum):
    TEXT = "text"
    JSON = "json"


def configure_logging(level: int = logging.WARNING, form: LogForm = LogForm.TEXT) -> None:
    line = as_json if form is LogForm.JSON else as_key_values
    logging.basicConfig(level=level, handlers=[StandardErrorHandler(line)], force=True)
    if not logging.getLogger(DECISIONS).handlers:
        logging.getLogger(DECISIONS).setLevel(logging.CRITICAL)


def log_decisions_to(destination: str) -> None:
    """Append to a file, or write to standard output. OSError: the file cannot be opened."""
    to_file = destination != STANDARD_OUTPUT
    # A file that is moved away, as log rotation does, is opened again.
    handler = WatchedFileHandler(destination, encoding="utf-8") if to_file else StandardOutputHandler()
    logger = logging.getLogger(DECISIONS)
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False


def decisions_are_printed() -> bool:
    """Whether the log of decisions goes to standard output, where a live view would break its lines."""
    return any(isinstance(one, StandardOutputHandler) for one in logging.getLogger(DECISIONS).handlers)


class StandardOutputHandler(logging.Handler):
    """Looks up standard output for each record, because a live view may have put itself in front of it."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stdout.write(record.getMessage() + "\n")
            sys.stdout.flush()
        except Exception:  # noqa: BLE001 - a log that cannot be written must not stop what it reports on
            self.handleError(record)


class StandardErrorHandler(logging.Handler):
    """Looks up standard error for each record, because a live view may have put itself in front of it."""

    def __init__(self, line: Callable[[logging.LogRecord], str]) -> None:
        super().__init__()
        self._line = line

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(self._line(record) + "\n")
        except Exception:  # noqa: BLE001 - a log that cannot be written must not stop what it reports on
            self.handleError(record)


def as_key_values(record: logging.LogRecord) -> str:
    line = " ".join(f"{key}={_quoted(value)}" for key, value in _fields(record).items())
    trace = _trace(record)
    return f"{line}\n{trace}" if trace else line


def as_json(record: logging.LogRecord) -> str:
    trace = _trace(record)
    return json.dumps(_fields(record) | ({"trace": trace} if trace else {}), ensure_ascii=False)


def _fields(record: logging.LogRecord) -> dict[str, str]:
    return {
        "time": format_micro_timestamp(record.created),
        "level": record.levelname.lower(),
        "logger": record.name,
        "message": record.getMessage(),
    }


def _trace(record: logging.LogRecord) -> str:
    if record.exc_info and record.exc_info[0] is not None:
        return logging.Formatter().formatException(record.exc_info)
    return ""


def _quoted(text: str) -> str:
    is_plain = text and not any(character.isspace() or character in '="' for character in text)
    return text if is_plain else json.dumps(text, ensure_ascii=False)
