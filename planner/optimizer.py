"""Which queries share which bursts (HAMLET, Section 4).

Of the plans for a burst, those are looked at that share one set of rows, the base always among them. The other rows of
the burst run alone: apart, or in a graphlet of their own where that costs less.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from planner.benefit import CostModel
from planner.bursts import APART, OWN, SHARED, Bursts, Choices, Facts, Floats, Ints

Mask = npt.NDArray[np.bool_]


class SharingOptimizer(Protocol):
    def decide(self, facts: Facts, bursts: Bursts) -> Choices:
        """How to run every row of every burst; the same answer whenever asked the same."""
        ...


@dataclass(frozen=True)
class Dynamic:
    """HAMLET's optimizer: each burst by its own statistics, in time linear in its rows."""

    model: CostModel

    def decide(self, facts: Facts, bursts: Bursts) -> Choices:
        plans = Plans(self.model, facts, bursts)
        # As numbers, False and True are APART and OWN.
        choice = (plans.own < plans.apart).view(np.uint8)
        if not bursts.one_row_each:
            # Few bursts have a row that could pay to share: only these are worth all the pruning.
            worth = np.unique(bursts.burst[plans.could_join])
            if len(worth):
                some, rows = bursts.some(worth)
                choice[rows[Plans(self.model, facts, some).chosen]] = SHARED
        return Choices(choice, lambda: (plans.all_shared, plans.all_apart))


class Plans:
    """The plans for bursts, pruned down to one each. Masks are over rows: what the plans that are left share."""

    def __init__(self, model: CostModel, facts: Facts, bursts: Bursts) -> None:
        self._model, self._facts, self._bursts = model, facts, bursts
        self._queries, taken = bursts.queries.astype(np.float64), bursts.taken.astype(np.float64)
        self._window = bursts.window.astype(np.float64)
        window = self._window if bursts.one_row_each else self._window[self._burst]
        self.own = model.graphlet(facts, taken, window, self._queries, 0.0)
        self.apart = model.apart(facts, taken, window, self._queries)

    @property
    def could_join(self) -> Ints:
        """The rows, but for bases, that would pay to share if they were the only ones to join the base."""
        bursts = self._bursts
        others = np.ones(len(self.own), np.bool_)
        others[bursts.first] = False
        rows = np.flatnonzero(others)
        burst = bursts.burst[rows]
        base = bursts.first[burst]
        snapshots = self._snapshots[rows]
        taken = np.minimum(bursts.size[burst], bursts.taken[base] + snapshots)
        queries = self._queries[base] + self._queries[rows]
        joined = self._model.graphlet(self._facts, taken, self._window[burst], queries, snapshots)
        alone = np.minimum(self.own, self.apart)
        return rows[joined <= alone[base] + alone[rows]]

    @cached_property
    def introduce_none(self) -> Mask:
        """Snapshot-driven pruning (Theorem 4.3): shared in all plans that are left, as the base is."""
        return self._bursts.snapshots == 0

    @cached_property
    def worth_trying(self) -> Mask:
        """Theorem 4.5 from below: a row that does not pay where nothing else introduces snapshots pays nowhere.

        So such rows are left out before others are judged. Each of these would otherwise be charged for snapshots
        that will not be there: one row with many would keep everybody from sharing.
        """
        burst = self._burst
        queries = self._sum(self._queries * self.introduce_none)
        least = self._graphlet(queries, np.zeros_like(queries), slice(None))
        joined = self._graphlet(queries[burst] + self._queries, self._snapshots, burst)
        return self.introduce_none | (joined <= least[burst] + self._alone)

    @cached_property
    def worth_sharing(self) -> Mask:
        """Benefit-driven pruning (Theorem 4.5): each row judged once, at Level 2, against the plan that shares all."""
        burst, tried = self._burst, self.worth_trying
        queries, snapshots = self._sum(self._queries * tried), self._sum(self._snapshots * tried)
        together = self._graphlet(queries, snapshots, slice(None))
        queries, snapshots = queries[burst] - self._queries * tried, snapshots[burst] - self._snapshots * tried
        without = self._graphlet(queries, snapshots, burst)
        return tried & (together[burst] <= without + self._alone)

    @cached_property
    def chosen(self) -> Mask:
        """The one plan left of those that share, where it costs less than to run its rows alone."""
        shares = self.introduce_none | self.worth_sharing
        graphlet = self._graphlet(self._sum(self._queries * shares), self._sum(self._snapshots * shares), slice(None))
        # Where nobody joins the base this is false: its graphlet costs then what `own` says, and `alone` is no more.
        better = graphlet < self._sum(self._alone * shares)
        return shares & better[self._burst]

    @property
    def all_shared(self) -> Floats:
        """The top of the search space (Figure 7): per burst, one graphlet for all its rows."""
        return self._graphlet(self._sum(self._queries), self._sum(self._snapshots), slice(None))

    @property
    def all_apart(self) -> Floats:
        """The bottom: per burst, each query by itself."""
        return self._sum(self.apart)

    @cached_property
    def _alone(self) -> Floats:
        return np.minimum(self.own, self.apart)

    @cached_property
    def _burst(self) -> Ints:
        return self._bursts.burst

    @cached_property
    def _snapshots(self) -> Floats:
        return self._bursts.snapshots.astype(np.float64)

    def _sum(self, column: Floats) -> Floats:
        """Per burst, over its rows. For a few rows each, this takes half the time of `np.add.reduceat`."""
        return np.bincount(self._burst, column, len(self._bursts.size)).astype(np.float64, copy=False)

    def _graphlet(self, queries: Floats, snapshots: Floats, at: Ints | slice) -> Floats:
        """Of the base and other rows: it has the base's events, and at most as many more as there are snapshots."""
        bursts = self._bursts
        events = np.minimum(bursts.size[at], bursts.taken[bursts.first[at]] + snapshots)
        return self._model.graphlet(self._facts, events, self._window[at], queries, snapshots)


@dataclass(frozen=True)
class Expected:
    """What a burst is like, as far as anybody can tell before the stream begins."""

    size: float
    window: float
    """Events of the partition in the window when the burst ends."""
    alike: float
    """The share of the burst's events that all queries take, or none."""


@dataclass(frozen=True)
class Static:
    """One decision before the stream begins, for all bursts to come: what HAMLET is measured against."""

    model: CostModel
    expected: Expected

    def decide(self, facts: Facts, bursts: Bursts) -> Choices:
        size, window, queries = (
            np.array([x], np.float64) for x in (self.expected.size, self.expected.window, facts.queries)
        )
        shared = self.model.graphlet(facts, size, window, queries, size * (1.0 - self.expected.alike))
        apart = self.model.apart(facts, size, window, queries)
        return _alike(bursts, bool(shared < apart), float(shared[0]), float(apart[0]))


@dataclass(frozen=True)
class Always:
    def decide(self, facts: Facts, bursts: Bursts) -> Choices:
        return _alike(bursts, True, np.nan, np.nan)


@dataclass(frozen=True)
class Never:
    def decide(self, facts: Facts, bursts: Bursts) -> Choices:
        return _alike(bursts, False, np.nan, np.nan)


def _alike(bursts: Bursts, share: bool, shared: float, apart: float) -> Choices:
    """All bursts in one way; to share where there is one row is a graphlet of its own."""
    choice = np.full(len(bursts.queries), SHARED if share else APART, np.uint8)
    if share:
        choice[bursts.first[np.diff(bursts.at) == 1]] = OWN
    count = len(bursts.size)
    return Choices(choice, lambda: (np.full(count, shared), np.full(count, apart)))
