"""Format parts of messages about workloads."""

from __future__ import annotations

from collections.abc import Iterable

from elsinore.problems import Problem, WorkloadError, printable

__all__ = ["Problem", "WorkloadError", "enumeration", "quote"]


def quote(text: str) -> str:
    """Quote a word of the user's for a message: printable, and at most 40 characters."""
    clean = printable(text)
    return f"`{clean if len(clean) <= 40 else clean[:37] + '...'}`"


def enumeration(words: Iterable[str], last: str = "and") -> str:
    """Join words as in `a, b and c`."""
    *others, final = words
    return f"{', '.join(others)} {last} {final}" if others else final
