"""Suggest names similar to a misspelled one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from elsinore.planner.language.errors import enumeration, quote

LONGEST = 60
"""Characters: a longer name is not compared with others."""

TOO_MANY = 200
"""The largest number of names to search for a similar one: with more, the search is slow and of little use."""

MOST = 12
"""The largest number of known names that a message lists."""


def nearest(name: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the most similar of the names, ignoring case, or None."""
    spelled = {other.lower(): other for other in sorted(names, reverse=True)}
    if len(name) > LONGEST or len(spelled) > TOO_MANY:
        return None
    close = get_close_matches(name.lower(), spelled, n=1, cutoff=cutoff)
    return spelled[close[0]] if close else None


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return a hint such as `did you mean speed?`, or an empty string."""
    close = nearest(name, names)
    return f"did you mean {quote(close)}?" if close else ""


def also(hint: str, more: str) -> str:
    """Join two hints; the second may be empty."""
    return f"{hint}; {more}" if more else hint


def those(names: Iterable[str]) -> str:
    """Return the known names as an enumeration, shortened if there are more than MOST."""
    quoted = [quote(name) for name in sorted(names)]
    if len(quoted) > MOST:
        quoted[MOST:] = [f"{len(quoted) - MOST} more"]
    return enumeration(quoted)
