"""Events given as Python dicts, for small streams and for tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from elsinore.connectors.dead_letters import DeadLetters, Where
from elsinore.connectors.errors import EventError, InputError
from elsinore.connectors.feed import Chunk, Names
from elsinore.connectors.values import INT64_END, is_null, kind_of, usual_kind

SOURCE = "the list of events"


class DictFeed:
    """A list of dicts, read as one chunk.

    An event whose type or time is of the wrong kind is bad. An attribute that mixes kinds is an error of the program
    that made the list: it raises EventError when the attribute is read.
    """

    in_memory = True

    def __init__(self, events: Iterable[Mapping[str, Any]], names: Names) -> None:
        self._events = list(events)
        self._names = names
        self._done = False
        self.attributes_of_types = _attributes_of_types(self._events, names)
        keys = dict.fromkeys(key for event in self._events for key in event)
        self._columns = {key: self._column(key) for key in keys}
        self.types = {key: self._type(column) for key, column in self._columns.items()}

    @property
    def total(self) -> int:
        return len(self._events)

    def holds_at_most(self, events: int) -> bool:
        return self.total <= events

    def head(self, column: str) -> pa.Array:
        values = self._columns[column]
        assert not isinstance(values, InputError), "type and time are made to be of one kind"
        return values.drop_null().slice(0, 100)

    def read(self, columns: Sequence[str], letters: DeadLetters) -> Iterator[Chunk]:
        bad = self._bad_rows()
        for row, reason in bad.items():
            letters.bury(reason, Where(SOURCE, "event", row), self._events[row])
        arrays = {name: _array_or_raise(self._columns[name]) for name in columns if name in self._columns}
        numbers = np.delete(np.arange(self.total), sorted(bad))
        batch = pa.RecordBatch.from_arrays(list(arrays.values()), list(arrays))
        yield Chunk(batch.take(pa.array(numbers)) if bad else batch, SOURCE, "event", numbers)
        self._done = True

    def progress(self) -> float:
        return float(self._done)

    def _column(self, key: str) -> pa.Array | InputError:
        values = [_plain(event.get(key)) for event in self._events]
        if key == self._names.type:
            return pa.array([value if _is_text(value) else None for value in values], pa.string())
        if key == self._names.time:
            kind = usual_kind(values)
            values = [value if kind_of(value) == kind and _countable(value) else None for value in values]
            return _array_or_raise(_array(key, values))
        return _array(key, values)

    def _bad_rows(self) -> dict[int, str]:
        """Return the events that have a type or a time of the wrong kind, with the reasons."""
        bad = {}
        for key, asked in ((self._names.type, "a text"), (self._names.time, "a time like those of the others")):
            column = self._columns.get(key)
            for row in np.flatnonzero(column.is_null()).tolist() if isinstance(column, pa.Array) else ():
                value = _plain(self._events[row].get(key))
                if kind_of(value) is not None:
                    bad[row] = f"its {key} is not {asked}: {value!r}"
        return bad

    @staticmethod
    def _type(column: pa.Array | InputError) -> pa.DataType:
        return column.type if isinstance(column, pa.Array) else pa.null()


def _attributes_of_types(events: Sequence[Any], names: Names) -> dict[str, set[str]]:
    """Return the attributes of the events of each type; raise InputError if an event is no dict with text keys."""
    found: dict[str, set[str]] = {}
    for index, event in enumerate(events):
        if not isinstance(event, Mapping) or not all(isinstance(key, str) for key in event):
            raise InputError(
                f"event {index} is {_shown(event)}, not a dict with texts as keys; "
                f"an event looks like {{{names.type!r}: 'Request', {names.time!r}: 17, 'district': 'Soho'}}."
            )
        kind = event.get(names.type)
        if isinstance(kind, str):
            found.setdefault(kind, set()).update(event)
    return {kind: keys - {names.type, names.time} for kind, keys in found.items()}


def _plain(value: Any) -> Any:
    """Return a NumPy scalar as a Python value. NumPy's times stay as they are, because they are finer than Python's."""
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        return value.item()
    return value


def _is_text(value: Any) -> bool:
    """Return whether a value is a text that UTF-8 can encode: one without lone surrogates."""
    return isinstance(value, str) and (value.isascii() or value.encode("utf-8", "ignore").decode() == value)


def _countable(value: Any) -> bool:
    return not isinstance(value, int) or -INT64_END <= value < INT64_END


def _array_or_raise(column: pa.Array | InputError) -> pa.Array:
    if isinstance(column, InputError):
        raise column
    return column


def _array(key: str, values: Sequence[Any]) -> pa.Array | InputError:
    try:
        array = pa.array(values, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError, UnicodeEncodeError, ValueError):
        return _misfit(key, values)
    return _misfit(key, values) if _mixes_zones(array.type, values) else array


def _mixes_zones(kind: pa.DataType, values: Sequence[Any]) -> bool:
    """Return whether times with and without a zone are mixed, which Arrow would treat alike."""
    times = (value for value in values if not is_null(value))
    return pa.types.is_timestamp(kind) and len({getattr(time, "tzinfo", None) is None for time in times}) > 1


def _misfit(key: str, values: Sequence[Any]) -> EventError:
    """Return an error that names the first event whose value does not fit the values before it."""
    good: list[Any] = []
    for index, value in enumerate(values):
        if kind_of(value) is None:
            continue
        if isinstance(value, int) and not _countable(value):
            return EventError(f"event {index}: {key!r} is {value}, beyond 64 bits; scale it, or give it as a text.")
        try:
            kind = pa.array([*good, value]).type
        except (pa.ArrowException, OverflowError, TypeError, UnicodeEncodeError, ValueError):
            kind = None
        if kind is None or _mixes_zones(kind, [*good, value]):
            before = f", and {good[0]!r} before it" if good else ""
            return EventError(f"event {index}: {key!r} is {value!r}{before}; an attribute has values of one kind.")
        good = _kept(good, value)
    return EventError(f"the values of {key!r} do not make one column; give each event the same kind of value.")


def _kept(good: list[Any], value: Any) -> list[Any]:
    """Return the values that later ones are compared with: the first one of each class."""
    return good if type(value) in {type(other) for other in good} else [*good, value]


def _shown(event: Any) -> str:
    text = repr(event)
    return text if len(text) <= 60 else text[:57] + "..."
