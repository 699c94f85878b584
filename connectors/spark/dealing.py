"""Routing of events to graph actors: routes and key groups, as DataFrame expressions (HAMLET, Section 3.3).

For each event Spark computes its key group along each route, or that the route does not take it. Events stay where they
are: a shuffle of every row would cost more than everything else that Spark does (docs/decisions/009-runtime.md). Their
blocks are then read by all graph actors in shared memory, or cut by dealers into parts for the owners of key groups
(docs/decisions/014-dealing-events.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import pyspark.sql.functions as F  # noqa: N812

from elsinore.connectors.dead_letters import LATE
from elsinore.connectors.spark.clean_frames import ARRIVAL, ATTRIBUTE, DEAD, EVENT, TICKS, TYPE
from elsinore.connectors.spark.java_objects import java_classes, release_frames
from elsinore.planner.plans.routes import Route

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

KIND, GROUP = "kind", "g_"
"""The column of the number of a type, and the prefix of columns of key groups, before the number of the route."""

OTHER = -1
"""The number of all types that no query names, and the key group of an event along a route that does not take it."""

BEGINNING = -(2**62)
"""A tick before all times that are counted; also the watermark where there is none."""


@dataclass(frozen=True)
class Deal:
    """The routing of the events of a stream."""

    routes: tuple[Route, ...]
    groups: int
    types: tuple[str, ...]
    """The types that queries name, each numbered by its place here."""
    watermark: int = BEGINNING
    """In ticks; events before it are late."""
    numbered: bool = False
    """Whether events have numbers by arrival; without, where they are needed, Spark numbers them as it reads them."""

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return tuple(sorted({column for route in self.routes for column in route.columns}))

    def dealt(self, events: DataFrame) -> DataFrame:
        """Return kind, ticks and attributes of the good events that some route takes, and their key groups."""
        good = events.where(F.col(DEAD).isNull() & ~self._late() & self._named())
        dealt = good.select(
            self._kind().alias(KIND),
            F.col(TICKS),
            *(_attribute(name) for name in self.columns),
            *self._arrival(),
            *(self._group(route).alias(f"{GROUP}{number}") for number, route in enumerate(self.routes)),
        )
        release_frames(good)
        return dealt

    def _arrival(self) -> list[Column]:
        """Return the number of an event by arrival, if rows are compared by it: 8 bytes an event."""
        if not any(route.lists_matches for route in self.routes):
            return []
        return [F.col(ARRIVAL) if self.numbered else F.monotonically_increasing_id().alias(ARRIVAL)]

    @cached_property
    def _all_types(self) -> frozenset[str] | None:
        """Return the types that some route takes; None if a route takes all types."""
        types = [route.types for route in self.routes]
        return None if None in types else frozenset[str]().union(*(one for one in types if one is not None))

    def _named(self) -> Column:
        return F.lit(True) if self._all_types is None else F.col(TYPE).isin(*sorted(self._all_types))

    def _group(self, route: Route) -> Column:
        groups = F.lit(self.groups)
        group = F.pmod(F.hash(*map(_attribute, route.keys)), groups) if route.keys else F.lit(route.home(self.groups))
        # Events of types that no route takes have been filtered out already.
        typed = F.lit(True) if route.types == self._all_types else _of_types(route)
        return F.when(_in_partition(route) & typed, group).otherwise(F.lit(OTHER)).cast("short")

    def _late(self) -> Column:
        # Spark compiles a stage anew where a number in it has changed. It looks into an array instead, which is an
        # argument of the compiled code; the place may not be a constant either.
        watermark = F.array(F.lit(self.watermark), F.lit(self.watermark))[(F.col(TICKS) < 0).cast("int")]
        return F.col(TICKS) < watermark

    def _kind(self) -> Column:
        codes = F.create_map(*(part for code, name in enumerate(self.types) for part in (F.lit(name), F.lit(code))))
        return F.coalesce(F.element_at(codes, F.col(TYPE)), F.lit(OTHER)).cast("short")

    def lost(self, events: DataFrame) -> DataFrame:
        """Return dead and late events as they were read, and why they count in no row."""
        late = F.when(self._late(), F.lit(LATE))
        reasons = events.select(F.coalesce(F.col(DEAD), late).alias("reason"), F.col(EVENT))
        lost = reasons.where(F.col("reason").isNotNull())
        release_frames(reasons)
        return lost

    def counts(self) -> list[Column]:
        """Return the aggregates of a batch, one number each: every event is dead, late, unmatched or matched."""
        there = F.col(DEAD).isNull()
        good = there & ~self._late()
        seen = reduce(lambda one, other: one | other, map(_of_types, self.routes))
        dropped = [F.count_if(good & _of_types(route) & ~_in_partition(route)) for route in self.routes]
        return [
            F.count(F.lit(1)).alias("events"),
            F.count_if(~there).alias("dead"),
            F.count_if(there & self._late()).alias("late"),
            F.count_if(good & ~seen).alias("unmatched"),
            reduce(lambda one, other: one + other, dropped).alias("dropped"),
            F.max(TICKS).alias("latest"),
        ]


def in_slices(events: DataFrame, cuts: Sequence[int], seeds: Sequence[int]) -> DataFrame:
    """Return unordered events repartitioned: one Spark partition for each slice of time, cut at these ticks.

    `seeds`: numbers that Spark's hash sends to partition 0, 1, 2 ...
    """
    # Cuts are few, and sorted.
    slice_ = reduce(lambda found, cut: found + (F.col(TICKS) >= cut).cast("int"), cuts, F.lit(1))
    return events.repartition(len(cuts) + 1, F.element_at(F.array(*map(F.lit, seeds)), slice_))


def seeds(spark: Any, partitions: int) -> list[int]:
    """Return, for each partition, a number that Spark's hash sends there."""
    # Called on an object: the class has a static method of the same name, and the JVM decides which one Py4J finds.
    murmur = getattr(java_classes(spark), "org.apache.spark.unsafe.hash.Murmur3_x86_32")(42)
    found: dict[int, int] = {}
    number = 0
    while len(found) < partitions:
        found.setdefault(int(murmur.hashInt(number)) % partitions, number)
        number += 1
    return [found[at] for at in range(partitions)]


def _of_types(route: Route) -> Column:
    return F.lit(True) if route.types is None else F.col(TYPE).isin(*sorted(route.types))


def _in_partition(route: Route) -> Column:
    known = [_attribute(name).isNotNull() for name in route.partition]
    return reduce(lambda one, other: one & other, known, F.lit(True))


def _attribute(name: str) -> Column:
    return F.col(f"`{ATTRIBUTE}{name}`")
