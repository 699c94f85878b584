"""The events that are asked about: read once, counted by column, and read again otherwise for a test."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from elsinore.actors.columns.expressions import Evaluator
from elsinore.actors.columns.joining import one_table
from elsinore.connectors.dead_letters import DeadLetters, Where
from elsinore.connectors.sources import Source, open_events
from elsinore.planner.language.syntax import Attribute, EventColumns, Expression, Query
from elsinore.planner.language.walk import readers
from elsinore.planner.time.clock import Clock
from elsinore.reasons.cause import AS_IT_IS, Reading
from elsinore.reasons.spelling import near, normal

Mask = npt.NDArray[np.bool_]

Ints = npt.NDArray[np.int64]

NO_PLACES: Ints = np.zeros(0, np.int64)

DEAD_KEPT = 10_000
"""Bad events whose types are looked at."""

TIE_STEPS = 1 << 16
"""Events of one time, at most, that are put one after the other."""

FARTHEST = 2**62
"""Ticks from zero: times beyond that are not counted."""


@dataclass(frozen=True)
class Letter:
    """A bad event: why it could not be read, and where it stands."""

    reason: str
    where: str
    event: Any


class Columns:
    """Columns of events in the batches that were read, of which a column is joined when it is first needed whole."""

    def __init__(self, parts: Sequence[pa.RecordBatch], chosen: Ints | None = None) -> None:
        """`chosen`: the places of the events, in ascending order; without it all are meant. There is a part."""
        self.names = tuple(parts[0].schema.names)
        self._parts = parts
        self._chosen = chosen
        self._begins = np.cumsum([0, *(part.num_rows for part in parts)])
        self._made: dict[int, pa.Array] = {}

    def __len__(self) -> int:
        return int(self._begins[-1]) if self._chosen is None else len(self._chosen)

    def column(self, number: int) -> pa.Array:
        """Return a column as one array."""
        if number not in self._made:
            joined = one_table(self._taken(number), own=0).column(0)
            self._made[number] = joined.chunk(0) if joined.num_chunks else pa.array([], joined.type)
        return self._made[number]

    def pieces(self, number: int) -> list[pa.Array]:
        """Return a column in pieces of one type, which are not copied where that can be avoided."""
        pieces = [part.column(number) for part in self._parts]
        if self._chosen is None and len({piece.type for piece in pieces}) == 1:
            return pieces
        return [self.column(number)]

    def at(self, places: Ints) -> Columns:
        """Return the columns of the events at these places, which ascend."""
        return Columns(self._parts, places if self._chosen is None else self._chosen[places])

    def _taken(self, number: int) -> list[pa.RecordBatch]:
        parts = [part.select([number]) for part in self._parts]
        if self._chosen is None:
            return parts
        cuts = np.searchsorted(self._chosen, self._begins)
        own = [self._chosen[lo:hi] - begin for begin, lo, hi in zip(self._begins, cuts, cuts[1:], strict=False)]
        some = [part.take(pa.array(places)) for part, places in zip(parts, own, strict=True) if len(places)]
        return some or [parts[0].slice(0, 0)]


@dataclass(frozen=True)
class Events:
    """Events in the order in which they came, as columns: type, time in ticks, attributes."""

    data: Columns
    clock: Clock
    time_unit: str
    columns: EventColumns
    late: Mask
    """Which of them came behind the watermark."""
    dead: Sequence[Letter] = ()
    """The bad events, which are not among the columns; the first of them."""

    @property
    def types(self) -> npt.NDArray[Any]:
        """Return the type of each event, as a number."""
        return self.data.column(0).indices.to_numpy(zero_copy_only=False)

    @property
    def times(self) -> Ints:
        return self.data.column(1).to_numpy()

    def __len__(self) -> int:
        return len(self.data)

    @cached_property
    def on_time(self) -> Events:
        """Return the events that count in a run."""
        return self.where(~self.late) if self.late.any() else self

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """Return how many events there are of each type."""
        counts = np.bincount(self.types, minlength=len(self._names))
        return {name: int(count) for name, count in zip(self._names, counts, strict=True) if count}

    @cached_property
    def dead_types(self) -> Mapping[str, int]:
        """Return how many bad events there are of each type, without those of unknown type."""
        return _counted(_type_of(letter.event, self.columns.type) for letter in self.dead)

    def dead_of(self, name: str) -> Letter:
        """Return the first bad event of a type that has some."""
        return next(letter for letter in self.dead if _type_of(letter.event, self.columns.type) == name)

    @property
    def _names(self) -> list[str]:
        names: list[str] = self.data.column(0).dictionary.to_pylist()
        return names

    def of_type(self, name: str) -> Events:
        """Return the events of one type."""
        if name not in self._by_type:
            places = np.flatnonzero(self.types == self._names.index(name)) if name in self.counts else NO_PLACES
            self._by_type[name] = self.at(places)
        return self._by_type[name]

    @cached_property
    def _by_type(self) -> dict[str, Events]:
        """Return the events of the types that were asked for so far."""
        return {}

    def where(self, mask: Mask) -> Events:
        """Return the events of a mask."""
        return self.at(np.flatnonzero(mask))

    def at(self, places: Ints) -> Events:
        """Return the events at these places."""
        return replace(self, data=self.data.at(places), late=self.late[places])

    def values(self, name: str) -> pa.Array:
        """Return a column of attributes."""
        return self.data.column(self._place(name))

    def _place(self, name: str) -> int:
        return self.data.names.index(name, 2)

    @property
    def attributes(self) -> tuple[str, ...]:
        """Return the names of the attributes that were read."""
        return self.data.names[2:]

    def has(self, name: str) -> bool:
        """Return whether an attribute was read."""
        return name in self.attributes

    def texts(self, name: str) -> list[str] | None:
        """Return the distinct values of an attribute of texts; None where it holds something else."""
        kind = self.values(name).type
        if not (pa.types.is_string(kind) or pa.types.is_dictionary(kind)):
            return None
        found: list[str] = self.distinct(name).to_pylist()
        return found

    def distinct(self, name: str) -> pa.Array:
        """Return the values that an attribute has, each once."""
        found = pc.unique(self.values(name)).drop_null()
        return found.dictionary_decode() if pa.types.is_dictionary(found.type) else found

    def nulls(self, name: str) -> int:
        """Return how many events lack an attribute."""
        return sum(piece.null_count for piece in self.data.pieces(self._place(name)))

    def among(self, name: str, some: Events) -> Mask:
        """Return which events have a value of an attribute that some others have; with null none has."""
        wanted = some.distinct(name)
        return np.concatenate([_are_among(piece, wanted) for piece in self.data.pieces(self._place(name))])

    def satisfying(self, condition: Expression, query: Query, text: str) -> Mask:
        """Return which events satisfy a predicate that reads one event alone."""
        names = {reader.name for reader in readers(condition) if isinstance(reader, Attribute)}
        columns = {name: self.values(name) for name in names if self.has(name)}
        return Evaluator(columns, len(self), query.name, text).condition(condition)

    @cached_property
    def in_order(self) -> Ints:
        """Return the places of the events, sorted by time."""
        times = self.times
        if len(times) and (times[1:] >= times[:-1]).all():
            return np.arange(len(times))
        return np.argsort(times, kind="stable")

    def near_column(self, name: str) -> str | None:
        """Return an attribute that is spelled almost like another and has values for these events."""
        found = near(name, [one for one in self.attributes if one != name and self.nulls(one) < len(self)])
        return found.text if found else None


def _are_among(values: pa.Array, wanted: pa.Array) -> Mask:
    """Return which values are among others."""
    if pa.types.is_dictionary(values.type):
        known = pc.is_in(values.dictionary, wanted.cast(values.type.value_type))
        return _mask(known.take(values.indices).fill_null(False))
    return _mask(pc.is_in(values, wanted.cast(values.type)))


def _mask(values: pa.Array) -> Mask:
    found: Mask = values.to_numpy(zero_copy_only=False)
    return found


@dataclass(frozen=True)
class Replay:
    """Events as a source for a run, read otherwise where `reading` says so."""

    events: Events
    reading: Reading = AS_IT_IS
    dead: int = 0

    @property
    def form(self) -> pa.DataType:
        return self.events.clock.form

    @property
    def time_unit(self) -> str:
        return self.reading.time_unit or self.events.time_unit

    @property
    def finer(self) -> Fraction:
        """Return the lateness with which the clock of a run can part events of one time; none of the events is late."""
        own = self.events.clock.ticks_per_second
        return Fraction(1, own * TIE_STEPS) if self.reading.ties else Fraction(0)

    def batches(self, clock: Clock, columns: Collection[str]) -> Iterator[pa.RecordBatch]:
        """Yield all events as one batch."""
        events = self.events
        times = self._times(clock)
        if times is None or not len(events):
            return
        types = events.data.column(0)
        if self.reading.types:
            respelled = dict(self.reading.types)
            types = pa.DictionaryArray.from_arrays(
                types.indices, pa.array([respelled.get(name, name) for name in types.dictionary.to_pylist()])
            )
            types = types.cast(pa.string()).dictionary_encode()
        arrays = [self._attribute(name) for name in columns]
        yield pa.RecordBatch.from_arrays([types, pa.array(times), *arrays], ["type", "time", *columns])

    def bury_late(self, events: pa.RecordBatch, clock: Clock) -> None:
        """Leave late events alone: one batch has none."""

    def _times(self, clock: Clock) -> npt.NDArray[np.int64] | None:
        """Return the times on the clock of a run; None if they are too far from zero for it."""
        factor = clock.ticks_per_unit / self.events.clock.ticks_per_unit
        times = self.events.times
        if len(times) and int(np.abs(times).max()) * factor >= FARTHEST:
            return None
        ticks = times * factor.numerator // factor.denominator
        if not self.reading.ties:
            return ticks
        order = self.events.in_order
        ordered = ticks[order]
        begins = np.searchsorted(ordered, ordered)
        ticks = ticks.copy()
        ticks[order] += np.minimum(np.arange(len(ticks)) - begins, TIE_STEPS - 1)
        return ticks

    def _attribute(self, name: str) -> pa.Array:
        if not self.events.has(name):
            return pa.nulls(len(self.events))
        values = self.events.values(name)
        if name in self.reading.normal and self.events.texts(name) is not None:
            return _over_texts(values, lambda text: normal(text) if text is not None else None)
        if name in self.reading.numbers:
            return as_numbers(values)
        return values


def _over_texts(values: pa.Array, change: Any) -> pa.Array:
    coded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    changed = pa.array([change(text) for text in coded.dictionary.to_pylist()], pa.string())
    return pa.DictionaryArray.from_arrays(coded.indices, changed).cast(pa.string())


def as_numbers(values: pa.Array) -> pa.Array:
    """Return texts as the numbers that they spell, null where they spell none."""
    return pa.array([number_of(text) for text in values.to_pylist()], pa.float64())


def number_of(text: object) -> float | None:
    """Return the number that a text spells."""
    try:
        return float(str(text))
    except ValueError:
        return None


def read_events(query: Query, events: Any, reading: Mapping[str, Any], lateness: Fraction) -> Events:
    """Read the events that a query is asked about; options on columns and times are those of a run."""
    letters = Kept()
    source = replace(open_events(events, **reading), letters=letters)
    spans = [span.seconds for span in (query.within, query.slide) if span is not None and span.unit != "events"]
    clock = Clock.of(source.form, source.time_unit, [*spans, lateness])
    columns = columns_of(query, source)
    parts = list(source.batches(clock, columns))
    late = _late(parts, clock.ticks(lateness))
    return Events(_columns(parts, columns), clock, source.time_unit, source.event_columns, late, letters.kept)


class Kept(DeadLetters):
    """Dead letters in memory: the first of them, with the reasons."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Letter] = []

    @property
    def wants_events(self) -> bool:
        return len(self.kept) < DEAD_KEPT

    def write(self, reason: str, where: Where, event: Any) -> None:
        """Keep a bad event."""
        if len(self.kept) < DEAD_KEPT:
            self.kept.append(Letter(reason, str(where), event))


def columns_of(query: Query, source: Source) -> list[str]:
    """Return the attributes to read: those that a query names, those spelled almost alike, and those of its rows."""
    named = list(query.columns)
    if query.whole_events:
        named += source.attributes
    alike = [near(name, source.attributes) for name in named]
    return list(dict.fromkeys([*named, *(one.text for one in alike if one)]))


def _columns(parts: Sequence[pa.RecordBatch], names: Sequence[str]) -> Columns:
    some = [one for one in parts if one.num_rows]
    if some:
        return Columns(some)
    own = [pa.array([], pa.dictionary(pa.int32(), pa.string())), pa.array([], pa.int64())]
    arrays = [*own, *(pa.nulls(0) for _ in names)]
    return Columns([pa.RecordBatch.from_arrays(arrays, ["type", "time", *names])])


def _late(parts: Sequence[pa.RecordBatch], lateness: int) -> Mask:
    """Return which events came behind the watermark: the latest time of the batches before, less the lateness."""
    found = []
    watermark: int | None = None
    for part in parts:
        times = part.column(1).to_numpy()
        found.append(np.zeros(len(times), np.bool_) if watermark is None else times < watermark)
        if len(times):
            reached = int(times.max()) - lateness
            watermark = reached if watermark is None else max(watermark, reached)
    return np.concatenate(found) if found else np.zeros(0, np.bool_)


def _type_of(event: Any, column: str) -> str | None:
    """Return the type of a bad event, which is columns, or the text of a line that could not be read."""
    if isinstance(event, Mapping):
        found = event.get(column)
        return found if isinstance(found, str) else None
    return None


def _counted(names: Iterator[str | None]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        if name is not None:
            counts[name] = counts.get(name, 0) + 1
    return counts
