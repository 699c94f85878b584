"""Events as request bodies: tables as Arrow streams, dicts as msgpack, both compressed with zstd.

The same events are always cut into the same batches, so that batch 7 under a key is always the same batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from itertools import chain, islice
from typing import Any, Protocol

import msgpack
import pyarrow as pa

from elsinore.client.exchange import ARROW, MSGPACK
from elsinore.errors import InputError

BATCH_EVENTS = 1 << 16
"""The most events of a table in one batch."""
BATCH_BYTES = 8 << 20
"""Approximate size of a batch of a table in memory."""
BATCH_DICTS = 1 << 13
"""The most dicts in one batch."""

SENDABLE = (
    "give a pandas or Polars frame, an Arrow table or stream, a list of dicts, or an iterable of any of these; "
    "files are read with `elsinore send`"
)


class EventBatch(Protocol):
    """Events that are sent to a service in one request."""

    def __len__(self) -> int: ...

    def halves(self) -> tuple[EventBatch, EventBatch]: ...

    def headers(self) -> Mapping[str, str]: ...

    def body(self) -> bytes: ...


@dataclass(frozen=True)
class TableBatch:
    """A batch of rows of a table."""

    rows: pa.Table

    def __len__(self) -> int:
        return self.rows.num_rows

    def halves(self) -> tuple[TableBatch, TableBatch]:
        return TableBatch(self.rows.slice(0, len(self) // 2)), TableBatch(self.rows.slice(len(self) // 2))

    def headers(self) -> Mapping[str, str]:
        return {"Content-Type": ARROW, "Content-Encoding": "zstd"}

    def body(self) -> bytes:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self.rows.schema) as writer:
            writer.write_table(self.rows)
        return pa.compress(sink.getvalue(), codec="zstd", asbytes=True)


@dataclass(frozen=True)
class DictBatch:
    """A batch of dicts."""

    events: Sequence[Mapping[str, Any]]

    def __len__(self) -> int:
        return len(self.events)

    def halves(self) -> tuple[DictBatch, DictBatch]:
        return DictBatch(self.events[: len(self) // 2]), DictBatch(self.events[len(self) // 2 :])

    def headers(self) -> Mapping[str, str]:
        return {"Content-Type": MSGPACK, "Content-Encoding": "zstd"}

    def body(self) -> bytes:
        packed = msgpack.packb(self.events, default=_plain)
        return pa.compress(packed, codec="zstd", asbytes=True)


def batches(events: Any) -> Iterator[EventBatch]:
    """Yield events in batches that fit into a request; raise InputError if they are of no supported kind."""
    if isinstance(events, Mapping | str | bytes):
        raise InputError(f"events are {type(events).__name__}, which cannot be sent; {SENDABLE}")
    reader = _reader(events)
    if reader is not None:
        yield from _of_reader(reader)
    elif isinstance(events, Iterable):
        yield from _of_items(iter(events))
    else:
        raise InputError(f"events are {type(events).__name__}, which cannot be sent; {SENDABLE}")


def _of_items(items: Iterator[Any]) -> Iterator[EventBatch]:
    for first in items:
        reader = _reader(first)
        if reader is not None:
            yield from _of_reader(reader)
        elif isinstance(first, Mapping):
            yield from _of_dicts(chain([first], items))
        else:
            raise InputError(f"an event is {type(first).__name__}, which cannot be sent; {SENDABLE}")


def _of_dicts(events: Iterator[Any]) -> Iterator[EventBatch]:
    while some := list(islice(events, BATCH_DICTS)):
        wrong = next((event for event in some if not isinstance(event, Mapping)), None)
        if wrong is not None:
            raise InputError(f"an event is {type(wrong).__name__} among dicts; give only dicts")
        yield DictBatch(some)


def _of_reader(reader: pa.RecordBatchReader) -> Iterator[EventBatch]:
    for batch in reader:
        table = pa.Table.from_batches([batch])
        size = max(1, min(BATCH_EVENTS, BATCH_BYTES * len(batch) // max(1, table.nbytes)))
        for start in range(0, len(batch), size):
            yield TableBatch(_without_views(table.slice(start, size)))


def _without_views(rows: pa.Table) -> pa.Table:
    """Cast string views, which Polars uses, to plain strings, which every Arrow reader supports."""
    for place, field in enumerate(rows.schema):
        if pa.types.is_string_view(field.type):
            rows = rows.set_column(place, field.name, rows.column(place).cast(pa.string()))
        elif pa.types.is_dictionary(field.type) and pa.types.is_string_view(field.type.value_type):
            coded = [_coded(chunk) for chunk in rows.column(place).chunks]
            rows = rows.set_column(place, field.name, pa.chunked_array(coded))
    return rows


def _coded(texts: pa.DictionaryArray) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(texts.indices, texts.dictionary.cast(pa.string()))


def _reader(events: Any) -> pa.RecordBatchReader | None:
    """Return a reader of the events if they are a table of any kind, else None."""
    if isinstance(events, pa.RecordBatchReader):
        return events
    if _is_of(events, "polars", "LazyFrame"):
        events = events.collect()
    if _is_of(events, "pandas", "DataFrame"):
        try:
            events = pa.Table.from_pandas(events, preserve_index=False)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise InputError(f"a column of the frame mixes kinds of values: {error.args[0]}") from None
    if isinstance(events, pa.Table) or _is_of(events, "polars", "DataFrame"):
        # Combine the chunks, so that the cut does not depend on them.
        return pa.table(events).combine_chunks().to_reader()
    if hasattr(events, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(events)
    if hasattr(events, "__arrow_c_array__"):
        return pa.Table.from_batches([pa.record_batch(events)]).to_reader()
    return None


def _is_of(value: Any, package: str, name: str) -> bool:
    """Return whether the value is of this class, without importing a package that may not be installed."""
    return any(cls.__module__.split(".")[0] == package and cls.__name__ == name for cls in type(value).__mro__)


def _plain(value: Any) -> Any:
    """Encode values that msgpack lacks as in JSON lines: times in ISO 8601, numbers as texts with all their digits."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, int | Decimal):
        return str(Decimal(value))
    if hasattr(value, "item"):
        return value.item()
    if isinstance(value, pa.Scalar):
        return value.as_py()
    raise InputError(
        f"an event has {type(value).__name__} in it; an attribute must be a number, a text, a bool or a time"
    )
