"""Measured figures and their limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """A measured figure. `measured` and `limit` are in `unit`; `detail` says from what the ratio was made.

    The limit is the greatest accepted value or, with `at_least`, the least.
    """

    name: str
    what: str
    measured: float
    limit: float
    unit: str
    detail: str = ""
    at_least: bool = False

    @property
    def ok(self) -> bool:
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit

    def document(self) -> dict[str, Any]:
        return asdict(self) | {"ok": self.ok}


Benchmark = Callable[[int], Iterator[Figure]]
"""A function that yields its figures, measured over streams of about so many events."""


def row(name: str, what: str, measured: str, limit: str, verdict: str, detail: str) -> str:
    """Return a line of the table."""
    return f"{name:<25} {what:<58} {measured:>12} {limit:>12}  {verdict:<6} {detail}"


HEADER = row("name", "what", "measured", "limit", "ok?", "")


def line(figure: Figure) -> str:
    measured, limit = f"{figure.measured:.2f} {figure.unit}", f"{figure.limit:g} {figure.unit}"
    if figure.at_least:
        limit = f">= {limit}"
    return row(figure.name, figure.what, measured, limit, "ok" if figure.ok else "MISSED", figure.detail)
