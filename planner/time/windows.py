"""Windows and panes, in ticks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import gcd

from elsinore.planner.language.syntax import Query
from elsinore.planner.time.clock import Clock


@dataclass(frozen=True)
class Windows:
    """Window k is `[k·slide, k·slide + within)`; a pane is the longest span that no window's bound cuts."""

    within: int
    slide: int

    @classmethod
    def of(cls, query: Query, clock: Clock) -> Windows:
        assert query.slide is not None
        return cls(clock.ticks(query.within.seconds), clock.ticks(query.slide.seconds))

    @cached_property
    def pane(self) -> int:
        return gcd(self.within, self.slide)

    @cached_property
    def panes(self) -> int:
        """Panes in a window."""
        return self.within // self.pane

    @cached_property
    def step(self) -> int:
        """Panes from one window's start to the next's."""
        return self.slide // self.pane

    @cached_property
    def overlap(self) -> int:
        """How many windows an event can be in."""
        return -(-self.within // self.slide)
