"""Log events of the service as lines of JSON, with the name of the job."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

STANDARD_FIELDS = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime"}


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **{name: value for name, value in record.__dict__.items() if name not in STANDARD_FIELDS},
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def log_as_json() -> None:
    """Log to stdout, which Ray stores for each of its processes."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger("elsinore.service")
    logger.handlers = [handler]
    logger.setLevel(logging.INFO)
    logger.propagate = False
