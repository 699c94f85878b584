"""Lengths of windows, slides and panes: exact, and as a user would write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from fractions import Fraction
from math import gcd, lcm

from elsinore.errors import InputError
from elsinore.planner.language.syntax import Query
from elsinore.planner.time.clock import NANOSECOND


def common(lengths: Iterable[Fraction]) -> Fraction:
    """Return the greatest common divisor of lengths: a pane (HAMLET, Section 3.1)."""
    found = list(lengths)
    scale = lcm(*(length.denominator for length in found))
    return Fraction(gcd(*(int(length * scale) for length in found)), scale)


def shown(query: Query) -> Callable[[Fraction], str]:
    """Return how lengths on the clock of a query are shown: as time, or as numbers of events."""
    return show_events if query.counts_events else show_length


def show_events(count: Fraction) -> str:
    return f"{count} event{'' if count == 1 else 's'}"


def show_length(seconds: Fraction) -> str:
    for size, name in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        if seconds % size == 0:
            return f"{seconds // size} {name}"
    return f"{float(seconds * 1000):g} ms"


def seconds(length: float | Fraction | timedelta) -> Fraction:
    """Return a length of time as an exact number of seconds, to the nanosecond; a float counts as its decimal text."""
    if isinstance(length, timedelta):
        length = Fraction(length // timedelta(microseconds=1), 10**6)
    try:
        exact = Fraction(round(Fraction(str(length)) * NANOSECOND), NANOSECOND)
    except ValueError:
        exact = Fraction(-1)
    if exact < 0:
        raise InputError(f"lateness must be a number of seconds, 0 or more, not {length}")
    return exact
