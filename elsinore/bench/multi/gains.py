"""Measurement of the throughput of a plan, as a gain over that of patterns evaluated as written, each by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from statistics import mean
from time import thread_time
from typing import ClassVar, Self

import pyarrow as pa

import elsinore
from elsinore.bench.multi.generator import STOCKS, TRAFFIC, Generated, Parameters, types_of_density, workload_of
from elsinore.bench.multi.streams import stream
from elsinore.bench.multi.thinking import thinking
from elsinore.bench.multi.worlds import BurstingWorld, LocatedWorld
from elsinore.bench.points import Metrics, Point
from elsinore.planner.detection.clauses import queries_of

TRIVIAL = "trivial"
"""The strategy that shares nothing and reorders nothing."""

MINUTES, PLACES = 15, 900
"""Length of windows of time and of events for which rates are those of the paper: 2 to 47 events of a type."""

FIRST_EVENTS = 1 << 14
"""Events of the first batch. A plan is found in them, and a window is full."""

OFTEN = FIRST_EVENTS // 8
"""Events after which types change places where trivial runs: it has no plan to find, and soon sees many changes."""

ENOUGH_SECONDS = 1.0
"""Processor time of a run after its first batch; a run ends with the batch that exceeds it."""

BURSTS = "bursts"
"""The last word of settings in which rare types and frequent ones change places."""

BURSTING = (0.001, 1000.0)
"""Events of a type in a window there."""

MOST_MATCHES = 1.0
"""Matches of a pattern in a window that are expected there, on average, before and after a change."""

SEEDS = 1000
"""Seeds that are tried for a workload there."""

MOST_TYPES = 150
"""Types among which those for a density are searched."""

WARM_QUERIES, WARM_EVENTS = 5, 20_000
"""Queries and events of the warm-up point."""

DATASETS: dict[str, tuple[Parameters, tuple[str, ...], str]] = {
    "Stocks": (STOCKS, ("difference",), "2 to 47 events of a type in a window of 15 minutes; predicates compare one"),
    "Traffic": (TRAFFIC, ("speed", "vehicles"), "8 to 20 events of a type in a window; predicates compare both"),
}
"""By first word of a setting: parameters, attributes of events, and what is said of them."""

PLANNERS = {
    ("annealing", "edge"): "mpm",
    ("annealing", "vertex4"): "mpm-vertex4",
    ("annealing", "vertex8"): "mpm-vertex8",
    ("annealing", "prefix"): "mpt",
    ("Tabu", "edge"): "mpm-tabu",
    ("Tabu", "vertex4"): "mpm-tabu-vertex4",
    ("Tabu", "vertex8"): "mpm-tabu-vertex8",
    ("Tabu", "prefix"): "mpt-tabu",
}
"""By last word of a setting and neighbourhood, the strategy."""


@dataclass(frozen=True)
class Gain(Point):
    """The throughput of a strategy over that of `trivial`, on average over some workloads."""

    size: int = 5
    """Event types of a pattern, on average."""
    minutes: int = MINUTES
    """Length of a window of time."""
    places: int = 0
    """Length of a window of events; 0 for windows of time."""
    every: int = 0
    """Events after which types change places; 0 for never."""
    density: int | None = None
    """Wanted density of the multi-pattern graph in percent; by default that of 20 types."""
    difference: int = 100
    """Largest difference of the rates of a pattern's types, normalized, in percent."""
    search: int | None = None
    """Milliseconds of a search; by default as in any run."""
    special: bool = True
    """Whether some patterns have a NOT or a Kleene closure."""
    workloads: int = 3
    events: int = 4_000_000
    """The most events of a run."""

    limit: ClassVar = 600.0
    beside: ClassVar = ("expected", "seen", "throughput", "trivial")
    definitions: ClassVar = {
        "gain": (
            "The throughput over that of patterns evaluated as written, each by itself (trivial), in the same process; "
            "on average over the workloads."
        ),
        "throughput": (
            "Events a second of processor time of the thread that takes them in, through elsinore.run, from Arrow. "
            "Searches for a better plan, which begin where statistics have changed, run beside it. A run gets a batch "
            f"of {FIRST_EVENTS:,} events and then longer and longer ones, for {ENOUGH_SECONDS:g} second or more; the "
            "further events over the further time. So the first search for a plan, which all runs have, does not "
            "count. Where types change places, the first batch ends with the first change, and further ones do not."
        ),
        "trivial": "The throughput of trivial.",
        "expected": (
            "Matches of a pattern that are expected to end while a window lasts, from rates and from the part of "
            "choices that satisfies its predicates; NOT is not subtracted. Patterns are drawn so that it is at most 1, "
            "as far as there are such."
        ),
        "seen": "Matches of a pattern that ended while a window lasted, on average over patterns and windows.",
        "spass, motto": (
            "Our reading: the paper describes SPASS (SH-RR) and MOTTO (SH-MDT) in a sentence each. See "
            "planner/detection/strategies."
        ),
    }

    @property
    def what(self) -> str:
        _, _, events = DATASETS[self._dataset]
        found = (
            f"made-up events: {events} of them, each type with a normal distribution around its own location; "
            "selectivities 0.003 to 0.92. Half of the patterns are sequences, half conjunctions; they have about half "
            "as many predicates as types, and 20 % a NOT or a Kleene closure"
        )
        if not self._bursts:
            return found
        least, most = BURSTING
        return (
            f"as {self._dataset.lower()}, but {least:g} to {most:,g} events of a type in a window; with each change "
            "the rarest becomes the most frequent, and so on; no NOT or Kleene closure"
        )

    @property
    def _dataset(self) -> str:
        return self.setting.partition(",")[0]

    @property
    def _bursts(self) -> bool:
        return self.setting.endswith(BURSTS)

    @property
    def planner(self) -> str:
        """Return the strategy by the name that a user gives."""
        return PLANNERS.get((self.setting.rpartition(" ")[2], self.strategy), self.strategy)

    @property
    def parameters(self) -> Parameters:
        usual, _, _ = DATASETS[self._dataset]
        longer = self.places / PLACES if self.places else self.minutes / MINUTES
        least, most = BURSTING if self._bursts else usual.per_window
        return replace(
            usual,
            patterns=self.queries,
            size=self.size,
            varied=True,
            window=float(self.places or 60 * self.minutes),
            clock="events" if self.places else "time",
            per_window=(least * longer, most * longer),
            rate_difference=self.difference / 100,
            listed=0.0 if self.every else usual.listed,
            special=usual.special if self.special and not self._bursts else 0.0,
        )

    def made(self, seed: int) -> Made:
        parameters = self.parameters
        if self.density is not None:
            types = types_of_density(parameters, self.density / 100, seed, LocatedWorld, MOST_TYPES)
            parameters = replace(parameters, types=types)
        if not self._bursts:
            return _made(LocatedWorld(parameters, seed), seed)
        found = (_made(BurstingWorld(parameters, number), number) for number in count(SEEDS * seed))
        return next(made for made in found if made.expected <= MOST_MATCHES)

    def measured(self) -> Metrics:
        with thinking(self.search):
            found = [self._measured(self.made(seed)) for seed in range(self.workloads)]
        return {name: mean(one[name] for one in found) for name in found[0]}

    def _measured(self, made: Made) -> Metrics:
        _, attributes, _ = DATASETS[self._dataset]
        others = bool(self.places)
        events = stream(made.world, attributes, self.changing_events, made.seed, others, self.every)
        own = Timed.of(made.text, events, self.planner, self.every).measured()
        if self.every > OFTEN:
            events = stream(made.world, attributes, self.changing_events, made.seed, others, OFTEN)
        usual = Timed.of(made.text, events, TRIVIAL).measured()
        return {
            "gain": own.throughput / usual.throughput,
            "throughput": own.throughput,
            "trivial": usual.throughput,
            "expected": made.expected,
            "seen": own.rows / own.seconds * self._window_seconds / self.queries,
            "density": made.workload.density,
        }

    @property
    def changing_events(self) -> int:
        """Return the number of events, enough for several changes."""
        return max(self.events, 4 * self.every)

    @property
    def _window_seconds(self) -> float:
        return float(self.places or 60 * self.minutes)

    @staticmethod
    def remark(measured: Sequence[Metrics]) -> str:
        if not measured:
            return ""
        expected, seen = ([one[name] for one in measured] for name in ("expected", "seen"))
        return (
            f"{min(expected):.2g} to {max(expected):.2g} matches expected per pattern and window, {min(seen):.2g} to "
            f"{max(seen):.2g} seen"
        )

    def brief(self, share: float) -> Self:
        """Return the point with fewer workloads and shorter runs."""
        return replace(
            self,
            workloads=max(1, round(share * self.workloads)),
            events=max(4 * FIRST_EVENTS, round(share * self.events)),
        )

    def first(self) -> Self:
        """Return a small point that compiles the kernels on a new machine."""
        return replace(
            self,
            queries=WARM_QUERIES,
            workloads=1,
            events=WARM_EVENTS,
            size=4,
            minutes=MINUTES,
            places=0,
            every=0,
            density=None,
            difference=100,
            search=None,
        )


@dataclass(frozen=True)
class Made:
    """A workload, and the types that its events are of."""

    world: LocatedWorld
    workload: Generated
    seed: int

    @cached_property
    def text(self) -> str:
        return queries_of(self.workload.patterns)

    @property
    def expected(self) -> float:
        return mean(self.world.matches(one.events, bool(one.before)) for one in self.workload.patterns)


def _made(world: LocatedWorld, seed: int) -> Made:
    return Made(world, workload_of(world, seed), seed)


@dataclass(frozen=True)
class Measured:
    throughput: float
    rows: int
    seconds: float
    """Of the stream that was run."""


@dataclass(frozen=True)
class Timed:
    """A run of a strategy over batches of events, the second of `FIRST_EVENTS`, further ones twice as long each."""

    text: str
    events: pa.Table
    strategy: str
    first: int
    """Events of the first batch."""
    most: int
    """Events of the longest of the other batches."""
    enough: float = ENOUGH_SECONDS
    """Seconds after the first batch after which no other one is begun."""
    least: int = 0
    """Events before which the run does not end."""

    @classmethod
    def of(cls, text: str, events: pa.Table, strategy: str, every: int = 0, enough: float = ENOUGH_SECONDS) -> Timed:
        """Return the run over a stream; types that change places after `every` events do so twice or more."""
        if not every:
            return cls(text, events, strategy, FIRST_EVENTS, len(events), enough)
        return cls(text, events, strategy, every, every, enough, 3 * every)

    def measured(self) -> Measured:
        marks: list[tuple[int, float]] = []
        batches = pa.RecordBatchReader.from_batches(self.events.schema, self._batches(marks))
        result = elsinore.run(
            self.text, batches, engine="local", strategy=self.strategy, time_unit="ms", most_matches=None
        )
        (_, _), (first, begin), *_, (count, end) = marks
        times = self.events["time"]
        seconds = (times[count - 1].as_py() - times[0].as_py()) / 1000
        return Measured((count - first) / (end - begin), int(result.metrics.rows), seconds)

    def _batches(self, marks: list[tuple[int, float]]) -> Iterator[pa.RecordBatch]:
        """Yield the events batch by batch; mark, before each and at the end, the events so far and the time."""
        count, size = 0, self.first
        while True:
            marks.append((count, thread_time()))
            if count == len(self.events) or (count > self.least and marks[-1][1] - marks[1][1] >= self.enough):
                return
            batch = self.events.slice(count, size)
            yield from batch.to_batches()
            size = min(2 * size if count else FIRST_EVENTS, self.most)
            count += len(batch)
