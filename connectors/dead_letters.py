"""Dead letters: bad events, counted and written to a file with the reason. A strict run fails at the first one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from elsinore.connectors.errors import EventError, InputError

LATE = "it is late: it arrived after later events, by more than the allowed lateness"
"""The reason for an event that can be read, but counts in no row."""


@dataclass(frozen=True, slots=True)
class Where:
    """The place of an event: line 17 of a file, row 17 of a table, event 17 of a list."""

    source: str
    unit: str
    number: int | None = None

    def __str__(self) -> str:
        return self.source if self.number is None else f"{self.source}, {self.unit} {self.number}"


class DeadLetters:
    """The bad events of one run: their number, and the file to which they are written, if any."""

    def __init__(self, path: str | Path | None = None, *, strict: bool = False) -> None:
        self.count = 0
        self._strict = strict
        self._file = _create(Path(path)) if path is not None else None

    @property
    def wants_events(self) -> bool:
        """Return whether bad events must be passed to `bury`; if not, `bury_unseen` is enough, and much cheaper."""
        return self._strict or self._file is not None

    def bury(self, reason: str, where: Where, event: Any) -> None:
        self.count += 1
        if self._strict:
            raise EventError(
                f"{where}: {reason}\n  the event: {_text(event)}\n"
                "  Fix or remove it, or run without --strict (strict=False): bad events are then counted and left out."
            )
        self.write(reason, where, event)

    @property
    def writes(self) -> bool:
        """Return whether there is a dead-letter file."""
        return self._file is not None

    def write(self, reason: str, where: Where, event: Any) -> None:
        """Write an event to the dead-letter file, if there is one, without counting it."""
        if self._file is not None:
            letter = {"reason": reason, "source": where.source, "event": event}
            if where.number is not None:
                letter["number" if where.unit in letter else where.unit] = where.number
            self._file.write(_text(letter) + "\n")

    def bury_unseen(self, count: int) -> None:
        """Count bad events without recording them."""
        self.count += count

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def _create(path: Path) -> IO[str]:
    try:
        return path.open("w", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise InputError(f"the dead-letter file {path} cannot be written: {error.strerror or error}") from error


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
