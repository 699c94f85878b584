"""Comparison of the product's rows with the judge's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from fractions import Fraction
from math import isfinite
from typing import Any, Literal

Numeric = Literal["exact", "approximate"]
TOLERANCE = Fraction(1, 10**9)
PLACE = ("query", "window_start", "window_end", "event_start", "event_end", "g", "h")
"""The columns that identify a row."""


def differences(
    expected: Iterable[Mapping[str, Any]], actual: Iterable[Mapping[str, Any]], numeric: Numeric
) -> list[str]:
    """Return a line for each difference. Integers must be equal unless the run is approximate."""
    wanted, given = list(expected), list(actual)
    lines = []
    for row in wanted:
        twins = [other for other in given if _same_place(row, other)]
        if not twins:
            lines.append(f"missing: {_shown(row)}")
        elif not _equal(row, twins[0], numeric):
            lines.append(f"wrong:   {_shown(twins[0])}\ninstead of {_shown(row)}")
    lines += [f"unasked: {_shown(row)}" for row in given if not any(_same_place(row, other) for other in wanted)]
    places = Counter(tuple(sorted((name, str(row[name])) for name in _place(row))) for row in given)
    return lines + [f"twice: {dict(place)}" for place, times in places.items() if times > 1]


def _place(row: Mapping[str, Any]) -> list[str]:
    return [name for name in row if name in PLACE]


def _same_place(row: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    names = _place(row)
    return names == _place(other) and all(_same(row[name], other[name], "approximate") for name in names)


def _equal(row: Mapping[str, Any], other: Mapping[str, Any], numeric: Numeric) -> bool:
    return list(row) == list(other) and all(_same(row[name], other[name], numeric) for name in row)


def _same(expected: Any, actual: Any, numeric: Numeric) -> bool:
    if expected is None or isinstance(expected, str | bool | datetime):
        return bool(expected == actual) and type(expected) is type(actual)
    if actual is None or isinstance(actual, str | datetime) or (isinstance(actual, float) and not isfinite(actual)):
        return False
    if isinstance(expected, int) and numeric == "exact":
        return bool(actual == expected)
    wanted = Fraction(expected)
    return abs(Fraction(actual) - wanted) <= TOLERANCE * abs(wanted)


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: float(value) if isinstance(value, Fraction) else value for name, value in row.items()}
