"""The only entry for events: open any source of events, and read it as batches for the engine."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from elsinore.calendar_years import rows_as_python
from elsinore.connectors.cleaning import Cleaning
from elsinore.connectors.columns import attribute_type, holds_texts, is_coded_text, is_text
from elsinore.connectors.dead_letters import LATE, DeadLetters, Where
from elsinore.connectors.dicts import DictFeed
from elsinore.connectors.errors import InputError
from elsinore.connectors.feed import Feed, Names, require
from elsinore.connectors.files import FilesFeed
from elsinore.connectors.table_feeds import ArrowColumns, PandasColumns, StreamFeed, TableFeed
from elsinore.connectors.times import finer, time_form
from elsinore.planner.language.syntax import EventColumns
from elsinore.planner.time.clock import UNITS, Clock


@dataclass(frozen=True)
class Source:
    """An opened source of events: what is known about it, and its events, which can be read once."""

    feed: Feed
    names: Names
    time_unit: str
    letters: DeadLetters
    form: pa.DataType
    attributes: dict[str, pa.DataType]
    attributes_of_types: dict[str, set[str]] | None

    def batches(self, clock: Clock, columns: Collection[str]) -> Iterator[pa.RecordBatch]:
        """Yield the events: type (dictionary<int32, string>), time in ticks, then these attributes in this order.

        A source in memory is one batch, sorted or not. In a file, an attribute of integers may become one of floats
        from one batch to the next.
        """
        asked = [name for name in dict.fromkeys(columns) if name not in (self.names.type, self.names.time)]
        cleaning = Cleaning(self.names, self.form, self.attributes, self.letters)
        try:
            if self.feed.types:
                for chunk in self.feed.read([self.names.type, self.names.time, *asked], self.letters):
                    yield cleaning.clean(chunk, clock, asked)
        finally:
            self.letters.close()

    @property
    def event_columns(self) -> EventColumns:
        """Return the columns of whole events."""
        return EventColumns(self.names.type, self.names.time, tuple(self.attributes))

    def bury_late(self, events: pa.RecordBatch, clock: Clock) -> None:
        """Write late events, as `batches` yielded them, to the dead-letter file, if there is one."""
        if self.letters.writes:
            times = clock.show(events.column(1).to_numpy())
            columns = [self.names.type, self.names.time, *events.schema.names[2:]]
            arrays = [events.column(0), times, *events.columns[2:]]
            for event in rows_as_python(pa.table(arrays, names=columns)):
                self.letters.write(LATE, Where(_called(self.feed), "event"), event)

    @property
    def dead(self) -> int:
        """Return the number of bad events so far."""
        return self.letters.count

    @property
    def total(self) -> int | None:
        """Return the number of events, or None if it is not known before they are read."""
        return self.feed.total

    @property
    def in_memory(self) -> bool:
        return self.feed.in_memory

    def holds_at_most(self, events: int) -> bool:
        """Return whether there are at most so many events, where that can be told before they are read."""
        return self.feed.holds_at_most(events)

    def progress(self) -> float | None:
        """Return the fraction read so far, or None if it is not known."""
        return self.feed.progress()


def open_events(
    events: Any,
    *,
    type_column: str = "type",
    time_column: str = "time",
    time_unit: str = "s",
    strict: bool = False,
    dead_letters: str | Path | None = None,
) -> Source:
    """Open a frame, an Arrow table or stream, dicts, or files; raise InputError if they cannot be read."""
    if time_unit not in UNITS:
        raise InputError(f"time_unit is {time_unit!r}; it must be one of {', '.join(UNITS)}.")
    names = Names(type_column, time_column)
    feed = _feed(events, names)
    types = feed.types
    require(types, names, _called(feed))
    _check_types_column(types, names)
    attributes = {name: attribute_type(kind) for name, kind in types.items() if name not in (type_column, time_column)}
    return Source(
        feed,
        names,
        time_unit,
        DeadLetters(dead_letters, strict=strict),
        _form(feed, names),
        attributes,
        feed.attributes_of_types if isinstance(feed, DictFeed) else None,
    )


def _feed(events: Any, names: Names) -> Feed:
    if isinstance(events, str | Path):
        return FilesFeed([events], names)
    if isinstance(events, pa.RecordBatchReader):
        return StreamFeed(events)
    if _is_of(events, "polars", "LazyFrame"):
        events = events.collect()
    if _is_of(events, "pandas", "DataFrame"):
        return TableFeed(PandasColumns(events), "the frame")
    if isinstance(events, pa.Table) or _is_of(events, "polars", "DataFrame"):
        return TableFeed(ArrowColumns(pa.table(events)), "the table")
    if hasattr(events, "__arrow_c_array__"):
        return TableFeed(ArrowColumns(pa.Table.from_batches([pa.record_batch(events)])), "the table")
    if hasattr(events, "__arrow_c_stream__"):
        return StreamFeed(pa.RecordBatchReader.from_stream(events))
    if isinstance(events, Iterable) and not isinstance(events, Mapping | bytes):
        listed = list(events)
        if listed and all(isinstance(item, str | Path) for item in listed):
            return FilesFeed(listed, names)
        return DictFeed(listed, names)
    raise InputError(
        f"events are {type(events).__name__}, which cannot be read; give a pandas or Polars frame, an Arrow table or "
        "stream, a list of dicts, or paths to CSV, JSON lines or Parquet files."
    )


def _is_of(value: Any, package: str, name: str) -> bool:
    """Return whether a value is of this class, without importing a package that may not be installed."""
    return any(cls.__module__.split(".")[0] == package and cls.__name__ == name for cls in type(value).__mro__)


def _called(feed: Feed) -> str:
    return {DictFeed: "the list of events", StreamFeed: "the stream"}.get(type(feed), "the table")


def _check_types_column(types: Mapping[str, pa.DataType], names: Names) -> None:
    kind = types.get(names.type, pa.null())
    if not (is_text(kind) or is_coded_text(kind) or pa.types.is_null(kind)):
        raise InputError(
            f"the type column {names.type!r} holds {kind}; the type of an event is a text, such as 'Request'. "
            "Name another column with type_column."
        )


def _form(feed: Feed, names: Names) -> pa.DataType:
    """Return the form of the stream's times; raise InputError if no form holds the times of all files."""
    if not feed.types:
        return pa.int64()
    kind = feed.types[names.time]
    if isinstance(feed, FilesFeed):
        heads = feed.heads(names.time)
    else:
        heads = [(kind, feed.head(names.time) if holds_texts(kind) else pa.nulls(0))]
    forms = [time_form(kind, head, names.time) for kind, head in heads if not pa.types.is_null(kind)] or [pa.int64()]
    form = forms[0]
    for other in forms[1:]:
        both = finer(form, other)
        if both is None:
            raise InputError(
                f"the time column {names.time!r} holds {form} in one file and {other} in another; "
                "write it alike in all files."
            )
        form = both
    return form
