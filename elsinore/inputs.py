"""Checks of what users give: workloads, names of choices, and lengths of time."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING

from elsinore.errors import InputError
from elsinore.planner.language.errors import enumeration
from elsinore.planner.time.clock import NANOSECOND
from elsinore.workloads import text_of

if TYPE_CHECKING:
    from elsinore.planner.language.syntax import Workload


def checked(workload: str | PathLike[str]) -> Workload:
    """Parse and check a workload, given as text or path; raise WorkloadError if it has problems."""
    from elsinore.planner.checks.check import check_text

    return check_text(text_of(workload))


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


def check_known(what: str, name: str, names: tuple[str, ...]) -> None:
    """Raise InputError if a name is not one of the allowed names."""
    if name not in names:
        raise InputError(f"there is no {what} {name!r}; there is {enumeration(map(repr, names))}")
