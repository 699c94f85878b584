"""Cleaning of a Spark DataFrame for the engine, as expressions: no row ever becomes a Python object."""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd
from typing import TYPE_CHECKING

import pyspark.sql.functions as F  # noqa: N812
import pyspark.sql.types as T  # noqa: N812

from elsinore.calendar_years import calendar_bounds
from elsinore.connectors.feed import Names
from elsinore.planner.time.clock import Clock

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

TYPE, TICKS, DEAD, EVENT = "type", "ticks", "dead", "event"
"""Columns of the result: an event's type, its time, why it is dead (null if it is not) and, if asked for, its JSON."""

ARRIVAL = "n_"
"""The column of the numbers of events by which those of one time are in order, where they are asked for."""

CORRUPT = "_corrupt_record"
"""The column into which Spark puts a line that it cannot read."""

ATTRIBUTE = "a_"
"""Prefix of the columns of attributes, so that attributes may have any name."""

MICROSECONDS = 10**6

WHOLE = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)
FLOATING = (T.FloatType, T.DoubleType)
TIMES = (T.TimestampType, T.TimestampNTZType)
PLAIN = (*WHOLE, *FLOATING, *TIMES, T.StringType, T.BooleanType, T.NullType)


def readable(frame: DataFrame, names: Names, columns: Iterable[str]) -> bool:
    """Return whether these columns are of types whose values Spark and Arrow represent alike."""
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    times = (*WHOLE, *FLOATING, *TIMES)
    return (
        isinstance(kinds.get(names.type), T.StringType)
        and isinstance(kinds.get(names.time), times)
        and all(isinstance(kinds.get(name, T.NullType()), PLAIN) for name in columns)
    )


def cleaned(
    frame: DataFrame,
    names: Names,
    clock: Clock,
    columns: Iterable[str],
    whole: bool = False,
    arrival: Column | None = None,
) -> DataFrame:
    """Return type, time in ticks, why an event is dead, and these attributes; with `whole`, also the event as JSON.

    `arrival`: the number of an event, if it is wanted too.
    """
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    named, timed = _column(names.type), _column(names.time)
    kind = kinds[names.time]
    far = _far(timed, kind, clock)
    untyped = named.isNull() | (named == "")
    untimed = timed.isNull() | (F.isnan(timed) if isinstance(kind, FLOATING) else F.lit(False))
    unread = F.col(CORRUPT).isNotNull() if CORRUPT in kinds else F.lit(False)
    dead = (
        F.when(unread, F.lit("it cannot be read"))
        .when(untyped, F.lit(f"it has no type (column {names.type!r})"))
        .when(untimed, F.lit(f"it has no time (column {names.time!r})"))
        .when(far, F.lit(_too_far(names.time, kind)))
    )
    attributes = [_attribute(name, kinds.get(name, T.NullType())).alias(ATTRIBUTE + name) for name in columns]
    ticks = F.when(dead.isNull(), _ticks(timed, kind, clock))
    if whole:
        attributes.append(F.to_json(F.struct(*(_column(name) for name in frame.columns))).alias(EVENT))
    if arrival is not None:
        attributes.append(arrival.alias(ARRIVAL))
    return frame.select(named.alias(TYPE), ticks.alias(TICKS), dead.alias(DEAD), *attributes)


def _too_far(name: str, kind: T.DataType) -> str:
    where = ": timestamps must be in the years 1 to 9999" if isinstance(kind, TIMES) else ""
    return f"its time (column {name!r}) is out of range{where}"


def _column(name: str) -> Column:
    return F.col(f"`{name.replace('`', '``')}`")


def _attribute(name: str, kind: T.DataType) -> Column:
    if isinstance(kind, T.NullType):
        return F.lit(None).cast("string")
    column = _column(name)
    if isinstance(kind, WHOLE):
        return column.cast("long")
    if isinstance(kind, FLOATING):
        # Infinities make every sum useless. Zero gets one sign, so that routing by it sees one value.
        values = column.cast("double")
        return F.when(F.abs(values) < float("inf"), values + 0.0)
    return column


def _far(time: Column, kind: T.DataType, clock: Clock) -> Column:
    if isinstance(kind, TIMES):
        micros = F.unix_micros(time.cast("timestamp"))
        reach = int(clock.farthest * MICROSECONDS / clock.ticks_per_second) - 1
        first, last = (max(min(bound, reach), -reach) for bound in calendar_bounds("us"))
        return ~micros.between(first, last)
    return F.abs(time.cast("double")) >= clock.farthest / float(clock.ticks_per_unit)


def _ticks(time: Column, kind: T.DataType, clock: Clock) -> Column:
    factor = int(clock.ticks_per_unit)
    if isinstance(kind, TIMES):
        return _ticks_of(F.unix_micros(time.cast("timestamp")), clock.ticks_per_second)
    if isinstance(kind, WHOLE):
        return time.cast("long") * F.lit(factor)
    whole = F.floor(time.cast("double"))
    return whole * F.lit(factor) + F.rint((time - whole) * F.lit(float(factor))).cast("long")


def _ticks_of(micros: Column, per_second: int) -> Column:
    """Return microseconds as ticks; no step needs more than 64 bits, unless the ticks do."""
    common = gcd(per_second, MICROSECONDS)
    ticks, each = per_second // common, MICROSECONDS // common
    if each == 1:
        return micros * F.lit(ticks)
    if ticks == 1:
        return F.call_function("div", micros, F.lit(each))
    rest = F.pmod(micros, F.lit(each))
    whole = F.call_function("div", micros - rest, F.lit(each))
    return whole * F.lit(ticks) + F.call_function("div", rest * F.lit(ticks), F.lit(each))
