"""Windows and panes, in ticks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import gcd

from elsinore.planner.language.syntax import Query
from elsinore.planner.time.clock import Clock


@dataclass(frozen=True)
class Windows:
    """The windows of a query: window k is `[k·slide, k·slide + within)`.

    A pane is the longest span that no bound of a window cuts.
    """

    within: int
    slide: int

    @classmethod
    def of(cls, query: Query, clock: Clock) -> Windows:
        assert query.slide is not None
        return cls(clock.ticks(query.within.length), clock.ticks(query.slide.length))

    @cached_property
    def pane(self) -> int:
        return gcd(self.within, self.slide)

    @cached_property
    def panes(self) -> int:
        """Return the number of panes in a window."""
        return self.within // self.pane

    @cached_property
    def step(self) -> int:
        """Return the number of panes from the start of one window to that of the next."""
        return self.slide // self.pane

    @cached_property
    def overlap(self) -> int:
        """Return the largest number of windows that an event can be in."""
        return -(-self.within // self.slide)
