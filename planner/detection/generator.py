"""Workloads with the parameters of the paper's evaluation (Section 6.1, Appendix D), as patterns and statistics.

Whether two types are related by a predicate, and its selectivity, is decided once per workload, as it is for stocks:
patterns that have both types then have the predicate in common. Rates are given per window: at 2 to 47 events *per
second*, as printed, a pair of types would have millions of partial matches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import exp, log
from random import Random

from elsinore.planner.detection.costs.cardinality import Cardinalities, by_extensions
from elsinore.planner.detection.graph import MultiPatternGraph
from elsinore.planner.detection.pattern import Clock, Condition, Event, Kind, Pattern, Window, conjunction, sequence
from elsinore.planner.detection.shape import shape_of
from elsinore.planner.detection.statistics import Statistics, key_of

RATE_DIFFERENCE = 45
"""The largest difference of two types' events per window; 1 as a normalized difference (Appendix D)."""
LISTED = 6
"""The most events per window of a type under Kleene closure without bounds; more of them are bounded by 2."""
EVENTS_PER_SECOND = 1.0
"""Of all types, so that a window of n events lasts n seconds; the types of a workload need not be all there are."""
TRIES = 1_000
"""Patterns drawn for one that has few enough matches."""


@dataclass(frozen=True)
class Parameters:
    """What a workload is like."""

    name: str = "stocks"
    patterns: int = 100
    size: int = 5
    """Events of a pattern, on average: sizes are this and one less or more."""
    varied: bool = False
    """Whether sizes vary by one around the average."""
    types: int = 40
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
    predicate="$0.vehicles < $1.vehicles AND $0.speed < $1.speed",
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
        return sum(_matches(pattern, self.statistics) for pattern in self.patterns) / len(self.patterns)


@dataclass(frozen=True)
class World:
    """The types of a workload, with their rates, and which of them are related."""

    parameters: Parameters
    statistics: Statistics
    related: frozenset[tuple[str, str]]

    def amount(self, kind: str) -> float:
        """Return the events of a type in a window."""
        return self.statistics.rates[kind] * self.statistics.seconds(
            Window(self.parameters.window, self.parameters.clock)
        )


def workload(parameters: Parameters = STOCKS, seed: int = 0) -> Generated:
    """Return a workload; the same for the same parameters and seed."""
    rng = Random(f"{parameters} {seed}")
    world = _world(parameters, rng)
    patterns = tuple(_drawn(world, f"p{number}", rng) for number in range(1, parameters.patterns + 1))
    return Generated(patterns, world.statistics)


def with_density(parameters: Parameters, density: float, seed: int = 0) -> Generated:
    """Return a workload with about this density of the multi-pattern graph, by the number of types."""
    least, most = parameters.size + 1, 4000
    while least < most:
        middle = (least + most) // 2
        if workload(replace(parameters, types=middle), seed).density > density:
            least = middle + 1
        else:
            most = middle
    return workload(replace(parameters, types=least), seed)


def _world(parameters: Parameters, rng: Random) -> World:
    names = [f"{parameters.name[0].upper()}{number}" for number in range(1, parameters.types + 1)]
    rates = {name: _log_uniform(*parameters.per_window, rng) / parameters.window for name in names}
    related = [pair for pair in combinations(names, 2) if rng.random() < 1 / max(1, parameters.size - 1)]
    chances = {pair: _log_uniform(*parameters.selectivities, rng) for pair in related}
    selectivities = {_key(parameters, pair): chance for pair, chance in chances.items()}
    return World(parameters, Statistics(rates, selectivities, EVENTS_PER_SECOND), frozenset(related))


def _key(parameters: Parameters, pair: tuple[str, str]) -> str:
    events = [Event(kind, kind) for kind in pair]
    return key_of(conjunction("", events, Window(1)), Condition(pair, parameters.predicate))


def _drawn(world: World, name: str, rng: Random) -> Pattern:
    """Return a pattern with few enough matches; the one with fewest if there is none."""
    drawn = (_pattern(world, name, rng) for _ in range(TRIES))
    best: tuple[float, Pattern] | None = None
    for pattern in drawn:
        matches = _matches(pattern, world.statistics)
        if best is None or matches < best[0]:
            best = (matches, pattern)
        if matches <= world.parameters.most_matches:
            break
    assert best is not None
    return best[1]


def _pattern(world: World, name: str, rng: Random) -> Pattern:
    parameters = world.parameters
    size = parameters.size + (rng.choice((-1, 0, 1)) if parameters.varied else 0)
    kinds = _kinds(world, size, rng)
    make = conjunction if rng.random() < parameters.conjunctions else sequence
    special = rng.random() < parameters.special
    events = _events(world, kinds, make is sequence, special, rng)
    positive = {event.name for event in events if event.positive}
    conditions = [Condition(pair, parameters.predicate) for pair in _related(world, kinds) if positive >= {*pair}]
    return make(name, events, Window(parameters.window, parameters.clock), conditions)


def _kinds(world: World, size: int, rng: Random) -> list[str]:
    """Return types whose rates do not differ by more than is allowed, in random order."""
    reach = world.parameters.rate_difference * RATE_DIFFERENCE
    lowest = world.amount(rng.choice(list(world.statistics.rates)))
    pool = [kind for kind in world.statistics.rates if lowest <= world.amount(kind) <= lowest + reach]
    if len(pool) < size:
        pool = sorted(world.statistics.rates, key=lambda kind: abs(world.amount(kind) - lowest))[:size]
    return rng.sample(pool, size)


def _events(world: World, kinds: Sequence[str], ordered: bool, special: bool, rng: Random) -> list[Event]:
    events = [Event(kind, kind) for kind in kinds]
    if not special:
        return events
    if ordered and len(kinds) > 2 and rng.random() < 0.5:
        place = rng.randrange(1, len(kinds) - 1)
        events[place] = replace(events[place], kind=Kind.NEGATED)
        return events
    place = min(range(len(kinds)), key=lambda at: world.amount(kinds[at]))
    most = None if world.amount(kinds[place]) <= LISTED else 2
    events[place] = replace(events[place], kind=Kind.KLEENE, most=most)
    return events


def _related(world: World, kinds: Sequence[str]) -> Iterator[tuple[str, str]]:
    return (pair for pair in combinations(sorted(kinds, key=_place), 2) if pair in world.related)


def _place(kind: str) -> int:
    return int(kind[1:])


def _matches(pattern: Pattern, statistics: Statistics) -> float:
    shape = shape_of(pattern)
    return Cardinalities(statistics, by_extensions).facts(shape, shape.whole, pattern.window).matches


def _log_uniform(least: float, most: float, rng: Random) -> float:
    return exp(rng.uniform(log(least), log(most)))
