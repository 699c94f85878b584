"""Who gets which event: routes, key groups, panes, as DataFrame expressions (HAMLET, Section 3.3).

An event goes along every route that wants it; there, the values that it is split by say its key group, and that its
place. Slices of the stream follow one another, cut where panes end: they are dealt out one after another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import pyspark.sql.functions as F  # noqa: N812

from connectors.spark.cleaning import ATTRIBUTE, DEAD, EVENT, TICKS, TYPE
from planner.routes import Ranges, Route

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

KIND, ROUTE, PLACE = "kind", "route", "place"

OTHER = -1
"""The number of all types that no query names."""

BEGINNING = -(2**62)
"""Before all times that are counted; and the watermark where it does not matter."""


@dataclass(frozen=True)
class Deal:
    """How the events of a stream are dealt out."""

    routes: tuple[Route, ...]
    ranges: Ranges
    types: tuple[str, ...]
    """Numbered by their place here."""
    cuts: tuple[int, ...] = ()
    """Ticks at which slices after the first begin."""
    watermark: int = BEGINNING
    """Events before it are late."""

    @property
    def slices(self) -> int:
        return len(self.cuts) + 1

    @property
    def partitions(self) -> int:
        return self.slices * len(self.routes) * len(self.ranges)

    def partition(self, slice_: int, route: int, range_: int) -> int:
        return (slice_ * len(self.routes) + route) * len(self.ranges) + range_

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return tuple(sorted({column for route in self.routes for column in route.columns}))

    def dealt(self, events: DataFrame, seeds: Sequence[int]) -> DataFrame:
        """Kind, ticks and attributes of good events, a Spark partition for each slice, route and range.

        `seeds`: numbers that Spark's hash sends to partition 0, 1, 2 ...
        """
        routed = self._routed(events.where(F.col(DEAD).isNull() & ~self._late()))
        number = (F.col("slice") * len(self.routes) + F.col(ROUTE)) * len(self.ranges) + self._range()
        kind = self._kind()
        placed = routed.withColumn("slice", self._slice()).select(
            kind.alias(KIND),
            F.col(TICKS),
            *(F.col(f"`{ATTRIBUTE}{name}`") for name in self.columns),
            F.element_at(F.array(*map(F.lit, seeds)), (number + 1).cast("int")).alias(PLACE),
        )
        return placed.repartition(self.partitions, PLACE).drop(PLACE)

    def _routed(self, events: DataFrame) -> DataFrame:
        """Each event as often as there are routes that want it. To be copied costs more than all the rest."""
        if len(self.routes) == 1:
            return events.where(self._wanted(self.routes[0])).withColumn(ROUTE, F.lit(0))
        wanted = F.array(*(F.when(self._wanted(route), F.lit(r)) for r, route in enumerate(self.routes)))
        return events.withColumn(ROUTE, F.explode(F.array_compact(wanted)))

    def _wanted(self, route: Route) -> Column:
        known = [_attribute(name).isNotNull() for name in route.partition]
        typed = F.lit(True) if route.types is None else F.col(TYPE).isin(*sorted(route.types))
        return reduce(lambda one, other: one & other, known, typed)

    def _late(self) -> Column:
        return F.col(TICKS) < self.watermark

    def _range(self) -> Column:
        groups = self.ranges.groups
        by_route = [
            F.pmod(F.hash(*map(_attribute, route.keys)), F.lit(groups)) if route.keys else F.lit(route.home(groups))
            for route in self.routes
        ]
        group = _chosen(F.col(ROUTE), by_route)
        return reduce(lambda found, start: found + (group >= start).cast("int"), self.ranges.starts[1:], F.lit(0))

    def _slice(self) -> Column:
        """Cuts are few, and sorted."""
        return reduce(lambda found, cut: found + (F.col(TICKS) >= cut).cast("int"), self.cuts, F.lit(0))

    def _kind(self) -> Column:
        codes = F.create_map(*(part for code, name in enumerate(self.types) for part in (F.lit(name), F.lit(code))))
        return F.coalesce(F.element_at(codes, F.col(TYPE)), F.lit(OTHER)).cast("short")

    def lost(self, events: DataFrame) -> DataFrame:
        """Dead and late events as they came, and why they are in no row."""
        late = F.when(self._late(), F.lit("it is late: it came after later events, by more than the allowed lateness"))
        lost = events.select(F.coalesce(F.col(DEAD), late).alias("reason"), F.col(EVENT))
        return lost.where(F.col("reason").isNotNull())

    def counts(self) -> list[Column]:
        """What is to be known of a batch, one number each: every event is dead, late, unmatched or matched."""
        there = F.col(DEAD).isNull()
        good = there & ~self._late()
        seen = reduce(lambda one, other: one | other, map(self._seen, self.routes))
        dropped = [F.count_if(good & self._seen(route) & ~self._wanted(route)) for route in self.routes]
        return [
            F.count(F.lit(1)).alias("events"),
            F.count_if(~there).alias("dead"),
            F.count_if(there & self._late()).alias("late"),
            F.count_if(good & ~seen).alias("unmatched"),
            reduce(lambda one, other: one + other, dropped).alias("dropped"),
            F.max(TICKS).alias("latest"),
        ]

    def _seen(self, route: Route) -> Column:
        return F.lit(True) if route.types is None else F.col(TYPE).isin(*sorted(route.types))


def _attribute(name: str) -> Column:
    return F.col(f"`{ATTRIBUTE}{name}`")


def _chosen(number: Column, among: Sequence[Column]) -> Column:
    chosen: Any = F.when(number == 0, among[0])
    for at, one in enumerate(among[1:], start=1):
        chosen = chosen.when(number == at, one)
    return chosen


def seeds(spark: Any, partitions: int) -> list[int]:
    """A number for each of so many partitions that Spark's hash sends there."""
    # Of an object: the class has a static method of that name too, and which of both Py4J sees first is up to the JVM.
    murmur = getattr(spark._jvm, "org.apache.spark.unsafe.hash.Murmur3_x86_32")(42)
    found: dict[int, int] = {}
    number = 0
    while len(found) < partitions:
        found.setdefault(int(murmur.hashInt(number)) % partitions, number)
        number += 1
    return [found[at] for at in range(partitions)]
