"""Log lines: one per record on standard error, as key=value pairs; only what needs attention."""

import json
import logging
import sys
from typing import Any

from posse.model.timestamps import format_micro_timestamp


def configure_logging(level: int = logging.WARNING) -> None:
    logging.basicConfig(level=level, handlers=[StandardErrorHandler()], force=True)


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
