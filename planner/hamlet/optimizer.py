"""The decision which queries share which bursts (HAMLET, Section 4).

Of the plans for a burst, only those are considered that share one set of rows, which includes the base. The other rows
of the burst run alone: apart, or in a graphlet of their own where that costs less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from elsinore.planner.hamlet.benefit import CostModel
from elsinore.planner.hamlet.bursts import APART, FEWEST, OWN, SHARED, Bursts, Choices, Facts, Floats, Ints
from elsinore.planner.hamlet.deciding_numba_fns import apart as query_by_query
from elsinore.planner.hamlet.deciding_numba_fns import choose, graphlet, whole_costs

Marks = npt.NDArray[np.uint8]


class SharingOptimizer(Protocol):
    def decide(self, facts: Facts, bursts: Bursts) -> Choices:
        """Return how to run every row of every burst; the same arguments give the same answer."""
        ...


Pending = Callable[[], Choices]
"""Waits for the answer and returns it."""


class DistantOptimizer(SharingOptimizer, Protocol):
    """An optimizer that decides elsewhere, while its caller continues with other work."""

    def ask(self, facts: Facts, bursts: Bursts) -> Pending: ...


def ask(optimizer: SharingOptimizer, facts: Facts, bursts: Bursts) -> Pending:
    """Request an answer that is needed later."""
    # `isinstance` of a protocol takes longer than the decision about some bursts.
    put: Callable[[Facts, Bursts], Pending] | None = getattr(optimizer, "ask", None)
    if put is not None:
        return put(facts, bursts)
    choices = optimizer.decide(facts, bursts)
    return lambda: choices


@dataclass(frozen=True)
class Dynamic:
    """HAMLET's optimizer: decides each burst by its own statistics, in time linear in its rows."""

    model: CostModel

    def decide(self, facts: Facts, bursts: Bursts) -> Choices:
        choice, together, own, _ = self.pruned(facts, bursts)
        return Choices(choice, together, own, lambda: self._costs(facts, bursts))

    def pruned(self, facts: Facts, bursts: Bursts) -> tuple[Marks, Ints, Ints, Marks]:
        """Return per row the choice, how many queries it needs, together and alone, and its marks: TRIED, WORTH."""
        choice, marks = np.empty((2, len(bursts.queries)), np.uint8)
        together, own = np.empty((2, len(bursts.queries)), np.int64)
        choose(self.model.terms(facts), *bursts.columns, choice, together, own, marks)
        return choice, together, own, marks

    def _costs(self, facts: Facts, bursts: Bursts) -> tuple[Floats, Floats]:
        shared, apart = np.empty((2, len(bursts.size)))
        whole_costs(self.model.terms(facts), *bursts.columns, shared, apart)
        return shared, apart


@dataclass(frozen=True)
class Expected:
    """Statistics expected of a burst before the stream begins."""

    size: float
    window: float
    """Events of the partition in the window when the burst ends."""
    alike: float
    """The fraction of the burst's events on which queries agree: all take them, or none does."""


@dataclass(frozen=True)
class Static:
    """One decision before the stream begins, for all bursts to come: the baseline of HAMLET's experiments."""

    model: CostModel
    expected: Expected

    def decide(self, facts: Facts, bursts: Bursts) -> Choices:
        terms, expected = self.model.terms(facts), self.expected
        snapshots = expected.size * (1.0 - expected.alike)
        shared = graphlet(terms, expected.size, expected.window, float(facts.queries), snapshots)
        apart = query_by_query(terms, expected.size, expected.window, float(facts.queries))
        return _alike(bursts, shared < apart, shared, apart)


@dataclass(frozen=True)
class Always:
    def decide(self, facts: Facts, bursts: Bursts) -> Choices:
        return _alike(bursts, True, np.nan, np.nan)


@dataclass(frozen=True)
class Never:
    def decide(self, facts: Facts, bursts: Bursts) -> Choices:
        return _alike(bursts, False, np.nan, np.nan)


def _alike(bursts: Bursts, share: bool, shared: float, apart: float) -> Choices:
    """Return one choice for all bursts; where it is to share, a single row is a graphlet of its own."""
    choice = np.full(len(bursts.queries), SHARED if share else APART, np.uint8)
    if share:
        choice[bursts.first[np.diff(bursts.at) == 1]] = OWN
    count = len(bursts.size)
    needed = np.full(len(choice), FEWEST, np.int64)
    return Choices(choice, needed, needed, lambda: (np.full(count, shared), np.full(count, apart)))
