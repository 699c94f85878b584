"""Columns of a Spark DataFrame as the engine wants them, as expressions: no row is ever a Python object."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pyspark.sql.functions as F  # noqa: N812
import pyspark.sql.types as T  # noqa: N812

from connectors.feed import Names
from connectors.times import FARTHEST
from planner.clock import Clock

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

TYPE, TICKS, DEAD, EVENT = "type", "ticks", "dead", "event"
"""Of what comes out: the type of an event, its time, why it cannot be used, null where it can, and, where
somebody asked for it, all of it as JSON."""

CORRUPT = "_corrupt_record"
"""What Spark puts a line in that it cannot read."""

ATTRIBUTE = "a_"
"""In front of the names of attributes, so that these may be any."""

MICROSECONDS = 10**6

WHOLE = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)
FLOATING = (T.FloatType, T.DoubleType)
TIMES = (T.TimestampType, T.TimestampNTZType)
PLAIN = (*WHOLE, *FLOATING, *TIMES, T.StringType, T.BooleanType, T.NullType)


def readable(frame: DataFrame, names: Names, columns: Iterable[str]) -> bool:
    """Are these columns of types whose values Spark and Arrow have alike?"""
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    times = (*WHOLE, *FLOATING, *TIMES)
    return (
        isinstance(kinds.get(names.type), T.StringType)
        and isinstance(kinds.get(names.time), times)
        and all(isinstance(kinds.get(name, T.NullType()), PLAIN) for name in columns)
    )


def cleaned(frame: DataFrame, names: Names, clock: Clock, columns: Iterable[str], whole: bool = False) -> DataFrame:
    """Type, time in ticks, why an event is dead, and the attributes that queries read; with all of it, if asked."""
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
        .when(far, F.lit(f"its time (column {names.time!r}) is too far away to be counted"))
    )
    attributes = [_attribute(name, kinds.get(name, T.NullType())).alias(ATTRIBUTE + name) for name in columns]
    ticks = F.when(dead.isNull(), _ticks(timed, kind, clock))
    if whole:
        attributes.append(F.to_json(F.struct(*(_column(name) for name in frame.columns))).alias(EVENT))
    return frame.select(named.alias(TYPE), ticks.alias(TICKS), dead.alias(DEAD), *attributes)


def _column(name: str) -> Column:
    return F.col(f"`{name.replace('`', '``')}`")


def _attribute(name: str, kind: T.DataType) -> Column:
    if isinstance(kind, T.NullType):
        return F.lit(None).cast("string")
    column = _column(name)
    if isinstance(kind, WHOLE):
        return column.cast("long")
    if isinstance(kind, FLOATING):
        # No sum survives infinities. Zero gets one sign: it is one value wherever it decides who goes where.
        values = column.cast("double")
        return F.when(F.abs(values) < float("inf"), values + 0.0)
    return column


def _far(time: Column, kind: T.DataType, clock: Clock) -> Column:
    factor = float(clock.ticks_per_unit)
    if isinstance(kind, TIMES):
        return F.lit(False)
    return F.abs(time.cast("double")) >= FARTHEST / factor


def _ticks(time: Column, kind: T.DataType, clock: Clock) -> Column:
    factor = int(clock.ticks_per_unit)
    if isinstance(kind, TIMES):
        micros = F.unix_micros(time.cast("timestamp"))
        if clock.ticks_per_second >= MICROSECONDS:
            return micros * F.lit(clock.ticks_per_second // MICROSECONDS)
        return F.call_function("div", micros * F.lit(clock.ticks_per_second), F.lit(MICROSECONDS))
    if isinstance(kind, WHOLE):
        return time.cast("long") * F.lit(factor)
    whole = F.floor(time.cast("double"))
    return whole * F.lit(factor) + F.rint((time - whole) * F.lit(float(factor))).cast("long")
