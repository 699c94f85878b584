"""Who gets which event: routes and key groups, as DataFrame expressions (HAMLET, Section 3.3).

Of each event Spark says in which key group it is along each route, or that the route does not want it. Events stay
where they are: their blocks are handed to all graph actors, and each takes those of its key groups. To send every row
through a shuffle would cost more than all else that Spark does (docs/decisions/009-runtime.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import pyspark.sql.functions as F  # noqa: N812

from elsinore.connectors.dead_letters import LATE
from elsinore.connectors.spark.cleaning import ATTRIBUTE, DEAD, EVENT, TICKS, TYPE
from elsinore.connectors.spark.letting_go import let_go
from elsinore.planner.plans.routes import Route

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

KIND, GROUP = "kind", "g_"
"""The number of a type; and, with the number of a route behind it, the key group along it."""

OTHER = -1
"""The number of all types that no query names; and the key group of an event along a route that does not want it."""

BEGINNING = -(2**62)
"""Before all times that are counted; and the watermark where it does not matter."""


@dataclass(frozen=True)
class Deal:
    """How the events of a stream are dealt out."""

    routes: tuple[Route, ...]
    groups: int
    types: tuple[str, ...]
    """Numbered by their place here."""
    watermark: int = BEGINNING
    """Events before it are late."""

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return tuple(sorted({column for route in self.routes for column in route.columns}))

    def dealt(self, events: DataFrame) -> DataFrame:
        """Kind, ticks and attributes of the good events that some route wants, and their key groups."""
        good = events.where(F.col(DEAD).isNull() & ~self._late() & self._named())
        dealt = good.select(
            self._kind().alias(KIND),
            F.col(TICKS),
            *(_attribute(name) for name in self.columns),
            *(self._group(route).alias(f"{GROUP}{number}") for number, route in enumerate(self.routes)),
        )
        let_go(good._jdf)
        return dealt

    @cached_property
    def _all_types(self) -> frozenset[str] | None:
        """That some route wants; None, if one wants all there are."""
        types = [route.types for route in self.routes]
        return None if None in types else frozenset[str]().union(*(one for one in types if one is not None))

    def _named(self) -> Column:
        return F.lit(True) if self._all_types is None else F.col(TYPE).isin(*sorted(self._all_types))

    def _group(self, route: Route) -> Column:
        groups = F.lit(self.groups)
        group = F.pmod(F.hash(*map(_attribute, route.keys)), groups) if route.keys else F.lit(route.home(self.groups))
        # Events of types that no route wants are gone already.
        typed = F.lit(True) if route.types == self._all_types else _of_types(route)
        return F.when(_in_partition(route) & typed, group).otherwise(F.lit(OTHER)).cast("short")

    def _late(self) -> Column:
        return F.col(TICKS) < self.watermark

    def _kind(self) -> Column:
        codes = F.create_map(*(part for code, name in enumerate(self.types) for part in (F.lit(name), F.lit(code))))
        return F.coalesce(F.element_at(codes, F.col(TYPE)), F.lit(OTHER)).cast("short")

    def lost(self, events: DataFrame) -> DataFrame:
        """Dead and late events as they came, and why they are in no row."""
        late = F.when(self._late(), F.lit(LATE))
        reasons = events.select(F.coalesce(F.col(DEAD), late).alias("reason"), F.col(EVENT))
        lost = reasons.where(F.col("reason").isNotNull())
        let_go(reasons._jdf)
        return lost

    def counts(self) -> list[Column]:
        """What is to be known of a batch, one number each: every event is dead, late, unmatched or matched."""
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
    """For events in no order: a Spark partition for each slice of time, cut at these ticks.

    `seeds`: numbers that Spark's hash sends to partition 0, 1, 2 ...
    """
    # Cuts are few, and sorted.
    slice_ = reduce(lambda found, cut: found + (F.col(TICKS) >= cut).cast("int"), cuts, F.lit(1))
    return events.repartition(len(cuts) + 1, F.element_at(F.array(*map(F.lit, seeds)), slice_))


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


def _of_types(route: Route) -> Column:
    return F.lit(True) if route.types is None else F.col(TYPE).isin(*sorted(route.types))


def _in_partition(route: Route) -> Column:
    known = [_attribute(name).isNotNull() for name in route.partition]
    return reduce(lambda one, other: one & other, known, F.lit(True))


def _attribute(name: str) -> Column:
    return F.col(f"`{ATTRIBUTE}{name}`")
