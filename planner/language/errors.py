"""How messages about workloads are worded."""

from __future__ import annotations

from collections.abc import Iterable

from elsinore.problems import Problem, WorkloadError, printable

__all__ = ["Problem", "WorkloadError", "enumeration", "quote"]


def quote(text: str) -> str:
    """A word of the user's inside a message: printable, and never too long."""
    clean = printable(text)
    return f"`{clean if len(clean) <= 40 else clean[:37] + '...'}`"


def enumeration(words: Iterable[str], last: str = "and") -> str:
    """`a, b and c`."""
    *others, final = words
    return f"{', '.join(others)} {last} {final}" if others else final
