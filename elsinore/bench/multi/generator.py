"""Workloads with the parameters of the paper's evaluation (Section 6.1, Appendix D), as patterns and statistics.

Whether two types are related by a predicate, and its selectivity, is decided once per workload, as it is for stocks:
patterns that have both types then have the predicate in common. Rates are given per window: at 2 to 47 events *per
second*, as printed, a pair of types would have millions of partial matches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import exp, factorial, log, prod
from random import Random

from elsinore.planner.detection.costs.cardinality import Cardinalities, by_extensions, lists
from elsinore.planner.detection.graph import MultiPatternGraph
from elsinore.planner.detection.pattern import Clock, Condition, Event, Kind, Pattern, Window, conjunction, sequence
from elsinore.planner.detection.shape import shape_of
from elsinore.planner.detection.statistics import Statistics, key_of

RATE_DIFFERENCE = 45
"""The largest difference of two types' events per window; 1 as a normalized difference (Appendix D)."""
EVENTS_PER_SECOND = 1.0
"""Of all types, so that a window of n events lasts n seconds; the types of a workload need not be all there are."""
MOST_TYPES = 4000
"""Types among which those for a density are searched."""
TRIES = 300
"""Patterns drawn for one that has few enough matches."""
DRAWS = 20
"""Sets of types drawn for one with as many predicates as there should be."""


@dataclass(frozen=True)
class Parameters:
    """What a workload is like."""

    name: str = "stocks"
    patterns: int = 100
    size: int = 5
    """Events of a pattern, on average: sizes are this and one less or more."""
    varied: bool = False
    """Whether sizes vary by one around the average."""
    types: int = 20
    """Types of events; the fewer, the more patterns share something."""
    window: float = 900.0
    clock: Clock = "time"
    per_window: tuple[float, float] = (2.0, 47.0)
    """Range of a type's events in a window, log-uniform."""
    selectivities: tuple[float, float] = (0.003, 0.92)
    """Range of a predicate's selectivity, log-uniform."""
    predicate: str = "$0.difference < $1.difference"
    special: float = 0.2
    """Share of patterns with a NOT or a Kleene closure on one type."""
    listed: float = field(default=6.0, repr=False)
    """The most events per window of a type under Kleene closure without bounds; more of them are bounded by 2.

    It is no part of the seed: types and rates are the same whatever it is.
    """
    most_matches: float = 1.0
    """Expected matches of a pattern in a window, at most. With many, no plan can avoid their cost."""
    rate_difference: float = 1.0
    """The largest difference of rates within a pattern, normalized."""
    conjunctions: float = 0.5
    """Share of patterns that are conjunctions; the others are sequences."""


STOCKS = Parameters()
TRAFFIC = Parameters(
    "traffic",
    per_window=(8.0, 20.0),
    predicate="$0.speed < $1.speed AND $0.vehicles < $1.vehicles",
)
"""Little skew between types; both vehicles and speed rise."""


@dataclass(frozen=True)
class Generated:
    patterns: tuple[Pattern, ...]
    statistics: Statistics

    @property
    def density(self) -> float:
        """Return the density of the multi-pattern graph."""
        return MultiPatternGraph(self.patterns).density()

    def expected_matches(self) -> float:
        """Return the expected matches in a window, on average over the patterns."""
        found = Cardinalities(self.statistics, by_extensions())
        shapes = [shape_of(pattern) for pattern in self.patterns]
        return sum(found.facts(one, one.whole, one.pattern.window).matches for one in shapes) / len(shapes)


class World:
    """The types of a workload, with their rates, and which of them are related."""

    def __init__(self, parameters: Parameters, seed: int) -> None:
        rng = Random(f"{parameters} {seed}")
        names = [f"{parameters.name[0].upper()}{number}" for number in range(1, parameters.types + 1)]
        self.parameters = parameters
        self.amounts = {name: log_uniform(*parameters.per_window, rng) for name in names}
        self._seed = rng.random()
        self.chances: dict[tuple[str, str], float | None] = {}

    def chance(self, pair: tuple[str, str]) -> float | None:
        """Return the selectivity of the predicate between two types, if there is one; always the same."""
        if pair not in self.chances:
            rng = Random(f"{self._seed} {pair}")
            related = rng.random() < 1 / max(1, self.parameters.size - 1)
            self.chances[pair] = log_uniform(*self.parameters.selectivities, rng) if related else None
        return self.chances[pair]

    def matches(self, events: Sequence[Event], ordered: bool) -> float:
        """Return an estimate of the matches in a window: order, lists and predicates count, NOT does not."""
        positive = [event for event in events if event.positive]
        amounts = (lists(self.amounts[event.type], event.least, event.most) for event in positive)
        joint = prod(self.chance(pair) or 1.0 for pair in self.related([event.type for event in positive]))
        return prod(amounts) * joint / (factorial(len(events)) if ordered else 1)

    def kinds(self, size: int, rng: Random) -> list[str]:
        """Return types in random order, about half as many of them related as there are."""
        found: list[str] = []
        for _ in range(DRAWS):
            found = rng.sample(rng.choice(self.pools), size)
            if abs(len(self.related(found)) - size / 2) < 1:
                break
        return found

    def related(self, kinds: Sequence[str]) -> list[tuple[str, str]]:
        """Return the pairs of types that have a predicate."""
        return [pair for pair in combinations(sorted(kinds, key=_place), 2) if self.chance(pair) is not None]

    @property
    def statistics(self) -> Statistics:
        """Return the statistics of all types, and of the predicates used so far."""
        rates = {name: amount / self.parameters.window for name, amount in self.amounts.items()}
        chances = {_key(self.parameters, pair): chance for pair, chance in self.chances.items() if chance is not None}
        return Statistics(rates, chances, EVENTS_PER_SECOND)

    @cached_property
    def pools(self) -> list[list[str]]:
        """Return sets of types, large enough for a pattern, whose rates do not differ by more than is allowed."""
        reach, size = self.parameters.rate_difference * RATE_DIFFERENCE, self.parameters.size + self.parameters.varied
        ranked = sorted(self.amounts, key=self.amounts.__getitem__)
        near = [[other for other in ranked if 0 <= self.amounts[other] - self.amounts[one] <= reach] for one in ranked]
        return [pool for pool in near if len(pool) >= size] or self._nearest(ranked, size)

    def _nearest(self, ranked: list[str], size: int) -> list[list[str]]:
        """Return the types whose rates differ least, where none are as near as they should be."""
        spans = [ranked[first : first + size] for first in range(len(ranked) - size + 1)]
        return [min(spans, key=lambda span: self.amounts[span[-1]] - self.amounts[span[0]])]


def workload(parameters: Parameters = STOCKS, seed: int = 0) -> Generated:
    """Return a workload; the same for the same parameters and seed."""
    return workload_of(World(parameters, seed), seed)


def workload_of(world: World, seed: int) -> Generated:
    """Return a workload over the types of a world."""
    parameters = world.parameters
    rng = Random(f"patterns {parameters} {seed}")
    patterns = tuple(_drawn(world, f"p{number}", rng) for number in range(1, parameters.patterns + 1))
    return Generated(patterns, world.statistics)


def with_density(parameters: Parameters, density: float, seed: int = 0, world: type[World] = World) -> Generated:
    """Return a workload with about this density of the multi-pattern graph, by the number of types."""
    types = types_of_density(parameters, density, seed, world)
    return workload_of(world(replace(parameters, types=types), seed), seed)


def types_of_density(
    parameters: Parameters, density: float, seed: int = 0, world: type[World] = World, most: int = MOST_TYPES
) -> int:
    """Return the number of types with which the density of the multi-pattern graph is about this."""
    least = parameters.size + 1 + parameters.varied
    while least < most:
        middle = (least + most) // 2
        if workload_of(world(replace(parameters, types=middle), seed), seed).density > density:
            least = middle + 1
        else:
            most = middle
    return least


def _key(parameters: Parameters, pair: tuple[str, str]) -> str:
    events = [Event(kind, kind) for kind in pair]
    return key_of(conjunction("", events, Window(1)), Condition(pair, parameters.predicate))


def _drawn(world: World, name: str, rng: Random) -> Pattern:
    """Return a pattern with few enough matches; of those drawn the one with fewest, if none has."""
    parameters = world.parameters
    size = parameters.size + (rng.choice((-1, 0, 1)) if parameters.varied else 0)
    make = conjunction if rng.random() < parameters.conjunctions else sequence
    special = rng.random() < parameters.special
    fewest: tuple[float, list[Event]] | None = None
    for _ in range(TRIES):
        events = _events(world, world.kinds(size, rng), make is sequence, special, rng)
        matches = world.matches(events, make is sequence)
        if fewest is None or matches < fewest[0]:
            fewest = (matches, events)
        if matches <= parameters.most_matches:
            break
    assert fewest is not None
    pairs = world.related([event.type for event in fewest[1] if event.positive])
    conditions = [Condition(pair, parameters.predicate) for pair in pairs]
    return make(name, fewest[1], Window(parameters.window, parameters.clock), conditions)


def _events(world: World, kinds: Sequence[str], ordered: bool, special: bool, rng: Random) -> list[Event]:
    events = [Event(kind, kind) for kind in kinds]
    if not special:
        return events
    if ordered and len(kinds) > 2 and rng.random() < 0.5:
        place = rng.randrange(1, len(kinds) - 1)
        events[place] = replace(events[place], kind=Kind.NEGATED)
        return events
    place = min(range(len(kinds)), key=lambda at: world.amounts[kinds[at]])
    most = None if world.amounts[kinds[place]] <= world.parameters.listed else 2
    events[place] = replace(events[place], kind=Kind.KLEENE, most=most)
    return events


def _place(kind: str) -> int:
    return int(kind[1:])


def log_uniform(least: float, most: float, rng: Random) -> float:
    return exp(rng.uniform(log(least), log(most)))
