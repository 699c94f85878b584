"""The name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from elsinore.planner.language.errors import enumeration, quote

LONGEST = 60
"""No slip makes a longer name."""

TOO_MANY = 200
"""Among more names, none is looked for: that would take long, and tell little."""

MOST = 12
"""How many of the names that there are a message lists."""


def nearest(name: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The name most like this one, in whatever case."""
    spelled = {other.lower(): other for other in sorted(names, reverse=True)}
    if len(name) > LONGEST or len(spelled) > TOO_MANY:
        return None
    close = get_close_matches(name.lower(), spelled, n=1, cutoff=cutoff)
    return spelled[close[0]] if close else None


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """`did you mean speed?`, or nothing."""
    close = nearest(name, names)
    return f"did you mean {quote(close)}?" if close else ""


def also(hint: str, more: str) -> str:
    """Two hints as one; the second may be empty."""
    return f"{hint}; {more}" if more else hint


def those(names: Iterable[str]) -> str:
    """The names that there are, shortened where they are many."""
    quoted = [quote(name) for name in sorted(names)]
    if len(quoted) > MOST:
        quoted[MOST:] = [f"{len(quoted) - MOST} more"]
    return enumeration(quoted)
