"""Types whose events can have the selectivities that a workload asks for: each type has a location of its attributes.

An attribute is normally distributed around the location of its type, so two locations decide the selectivity of a
comparison. Types with a predicate form a tree: there are then locations for any selectivities. Predicates that read
the same event depend on each other, so how many choices satisfy several of them is sampled.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import factorial, prod, sqrt
from random import Random
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from elsinore.bench.multi.generator import Parameters, World, log_uniform
from elsinore.planner.detection.pattern import Event, Kind

SAMPLED = 1 << 15
"""Choices of events by which the part is estimated that satisfies several predicates at once."""

NEAR = 4
"""Types next in rate, of which one has a predicate with a type, where the rates of a pattern must not differ."""

RESHUFFLED = 5
"""Types that change places at once (Section 6.2.3)."""

LONGEST = 40
"""Events of a list beyond which lists without a bound are no longer counted: there are hardly any."""

Pair = tuple[str, str]
Codes = npt.NDArray[np.int32]


class LocatedWorld(World):
    """The types of a workload; each but the first has a predicate with one of those before it."""

    def __init__(self, parameters: Parameters, seed: int) -> None:
        super().__init__(parameters, seed)
        rng = Random(f"locations {parameters} {seed}")
        ranked = sorted(self.amounts, key=self.amounts.__getitem__)
        order = rng.sample(ranked, len(ranked)) if parameters.rate_difference >= 1 else ranked
        self.locations = {order[0]: 0.0}
        for place, name in enumerate(order[1:], 1):
            before = order[max(0, place - NEAR) : place] if order is ranked else order[:place]
            self._locate(name, rng.choice(before), rng)

    @property
    def compared(self) -> int:
        """Return the number of attributes that a predicate compares; they are independent of each other."""
        return self.parameters.predicate.count("<")

    def _locate(self, name: str, near: str, rng: Random) -> None:
        """Choose a location from which the predicate of two types has a selectivity as wanted."""
        first, second = sorted((name, near), key=lambda one: int(one[1:]))
        chance = log_uniform(*self.parameters.selectivities, rng)
        self.chances[first, second] = chance
        apart = sqrt(2) * NormalDist().inv_cdf(chance ** (1 / self.compared))
        self.locations[name] = self.locations[near] + (apart if name == second else -apart)

    def chance(self, pair: Pair) -> float | None:
        return self.chances.get(pair)

    def exchanged(self, change: int, rng: np.random.Generator) -> Codes:
        """Return, for the events that come at the rate of each type, the type that they have after a change."""
        chosen = rng.permutation(len(self.amounts))[:RESHUFFLED]
        names = np.arange(len(self.amounts), dtype=np.int32)
        names[chosen] = np.roll(chosen, -1)
        return names

    def matches(self, events: Sequence[Event], ordered: bool) -> float:
        """Return the matches that are expected to end while a window lasts; NOT is not subtracted.

        With k events that is k times the number of matches in a window that stands still: it moves on while they come.
        """
        positive = [event for event in events if event.positive]
        joint = self._joint(self.related([event.type for event in positive]))
        amounts = prod(self._lists(event) for event in positive)
        return len(positive) * amounts * joint / (factorial(len(positive)) if ordered else 1)

    def _lists(self, event: Event) -> float:
        """Return the choices of events for a variable in a window, where events arrive at random."""
        amount = self.amounts[event.type]
        if event.kind is not Kind.KLEENE:
            return amount
        most = event.most or LONGEST
        return sum(amount**size / factorial(size) for size in range(event.least, most + 1))

    def _joint(self, pairs: Sequence[Pair]) -> float:
        """Return the part of all choices of events that satisfies the predicates of some pairs."""
        holds = np.ones(SAMPLED, np.bool_)
        for first, second in pairs:
            holds &= self._sampled[first] < self._sampled[second]
        return (max(float(np.count_nonzero(holds)), 0.5) / SAMPLED) ** self.compared if pairs else 1.0

    @cached_property
    def _sampled(self) -> dict[str, npt.NDArray[np.float32]]:
        rng = np.random.default_rng(SAMPLED)
        return {name: rng.normal(place, 1, SAMPLED).astype(np.float32) for name, place in self.locations.items()}

    def kinds(self, size: int, rng: Random) -> list[str]:
        """Return types in random order, of which half are the sides of predicates that read no event twice."""
        place = rng.randrange(len(self.pools))
        pool, inside = self.pools[place], self._inside[place]
        chosen: list[str] = []
        for pair in rng.sample(inside, len(inside)):
            if len(chosen) + 2 <= size // 2 * 2 and not {*pair} & {*chosen}:
                chosen += pair
        others = [name for name in pool if name not in chosen]
        return rng.sample(chosen + rng.sample(others, size - len(chosen)), size)

    @cached_property
    def _inside(self) -> list[list[Pair]]:
        """Return, by pool, the pairs of types that have a predicate."""
        pools = map(frozenset, self.pools)
        return [[pair for pair in self.chances if pool.issuperset(pair)] for pool in pools]


class BurstingWorld(LocatedWorld):
    """Types of which with each change the rarest becomes the most frequent, the next one the second, and so on."""

    def __init__(self, parameters: Parameters, seed: int) -> None:
        super().__init__(parameters, seed)
        ranked = sorted(self.amounts, key=self.amounts.__getitem__)
        self.reversed = dict(zip(ranked, reversed(ranked), strict=True))
        self._usual = self.amounts
        self._changed = {name: self.amounts[other] for name, other in self.reversed.items()}

    def matches(self, events: Sequence[Event], ordered: bool) -> float:
        """Return the matches that are expected before or after a change, whichever are more."""
        found = []
        for amounts in (self._changed, self._usual):
            self.amounts = amounts
            found.append(super().matches(events, ordered))
        return max(found)

    def exchanged(self, change: int, rng: np.random.Generator) -> Codes:
        names = list(self.amounts)
        if change % 2:
            return np.arange(len(names), dtype=np.int32)
        return np.array([names.index(self.reversed[name]) for name in names], np.int32)
