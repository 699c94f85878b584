"""Errors of events, and helpers that word their messages."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from elsinore.errors import EventError, FailedError, InputError

__all__ = ["EventError", "FailedError", "InputError", "names_there_are", "nearest"]


def names_there_are(names: Iterable[str]) -> str:
    """Return column names for a message: the first twenty, and the number of the others."""
    known = list(names)
    shown = ", ".join(known[:20])
    return f"{shown} and {len(known) - 20} more" if len(known) > 20 else shown or "none"


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the known name that was probably meant, ignoring case, or None."""
    known = {other.lower(): other for other in names}
    close = get_close_matches(name.lower(), known, n=1)
    return known[close[0]] if close else None
