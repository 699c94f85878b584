"""Lengths of windows, slides and panes: exact, and as a user would write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import gcd, lcm

from elsinore.planner.language.syntax import Query


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
