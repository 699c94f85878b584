"""A HAMLET graph on paper: what a run over a few events did, as Figures 4 and 5 of the paper show it.

Names of graphlets and of snapshots are unique in a record, and both are in the order in which they were made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class DrawnEvent:
    name: str
    """As the paper has it: b3 is the third event of type B."""
    time: str
    expression: str
    """Its intermediate trend count: snapshots with their coefficients where it is shared, else a number."""


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
    """Those that are propagated in it."""


@dataclass(frozen=True)
class DrawnSnapshot:
    name: str
    level: Literal["graphlet", "event"]
    graphlet: str
    """The graphlet at whose start it was made, or the one with its event."""
    values: tuple[tuple[str, str], ...]
    """By query."""
    sources: tuple[str, ...] = ()
    """The graphlets and snapshots that its values are sums over."""


@dataclass(frozen=True)
class GraphRecord:
    graphlets: tuple[DrawnGraphlet, ...]
    snapshots: tuple[DrawnSnapshot, ...]
