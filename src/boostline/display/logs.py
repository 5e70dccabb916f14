"""Messages of the library's loggers on standard error: as text, or as one JSON object a line.

Every part of boostline speaks to a standard logger of its own name, such as ``boostline.saving``, and attaches
figures as ``extra={"fields": {...}}``. A program that sets up nothing sees warnings only, as usual.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from enum import StrEnum


class LogFormat(StrEnum):
    """How messages are written."""

    text = "text"
    json = "json"


class JsonLines(logging.Formatter):
    """One object a line: time, level, logger, message, its figures, and where an error came from."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        entry |= getattr(record, "fields", {})
        if record.exc_info:
            entry["error"] = self.formatException(record.exc_info)
        return json.dumps(entry)


def set_up(*, as_json: bool, level: str = "info") -> None:
    """Send the log of boostline to standard error. Requests and tokens are not in it."""
    handler = logging.StreamHandler(sys.stderr)
    plain = logging.Formatter("%(asctime)s %(levelname)s %(message)s")
    handler.setFormatter(JsonLines() if as_json else plain)
    for name in ("boostline", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level.upper() if name == "boostline" else logging.WARNING)
        logger.propagate = False
