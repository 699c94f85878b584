"""The record of a HAMLET graph: the run over a few events, as Figures 4 and 5 of the paper show it.

Names of graphlets and of snapshots are unique in a record, and both are in the order of their creation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class DrawnEvent:
    name: str
    """Name as in the paper: b3 is the third event of type B."""
    time: str
    expression: str
    """Intermediate trend count: snapshots with their coefficients if the graphlet is shared, else a number."""


@dataclass(frozen=True)
class DrawnGraphlet:
    name: str
    type: str
    queries: tuple[str, ...]
    shared: bool
    partition: str
    pane: int
    events: tuple[DrawnEvent, ...]
    snapshots: tuple[str, ...]
    """Names of the snapshots that are propagated in it."""


@dataclass(frozen=True)
class DrawnSnapshot:
    name: str
    level: Literal["graphlet", "event"]
    graphlet: str
    """The graphlet at whose start it was created, or the one that has its event."""
    values: tuple[tuple[str, str], ...]
    """Values by query."""
    sources: tuple[str, ...] = ()
    """Names of the graphlets and snapshots that its values are sums over."""


@dataclass(frozen=True)
class GraphRecord:
    graphlets: tuple[DrawnGraphlet, ...]
    snapshots: tuple[DrawnSnapshot, ...]
