from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import elsinore
from elsinore.client import batches as module
from elsinore.client.batches import EventBatch, batches
from elsinore.connectors import ridesharing
from tests.elsinore.client.scripted import inflated, unpacked

TABLE = pa.Table.from_batches(ridesharing.generate(5_000, seed=3))


def read(batch: EventBatch) -> pa.Table:
    return pa.ipc.open_stream(inflated(batch.body())).read_all()


def streamed(table: pa.Table) -> Iterator[pa.RecordBatch]:
    yield from table.to_batches(max_chunksize=700)


@pytest.mark.parametrize(
    "form",
    [
        lambda table: table,
        lambda table: table.to_pandas(),
        lambda table: pl.from_arrow(table),
        lambda table: pl.from_arrow(table).lazy(),  # type: ignore[union-attr]
        lambda table: table.to_reader(max_chunksize=900),
        lambda table: table.combine_chunks().to_batches()[0],
        streamed,
        lambda table: [table.slice(0, 100), table.slice(100).to_pandas()],
        lambda table: table.to_pylist(),
        lambda table: iter(table.to_pylist()),
    ],
    ids=["table", "pandas", "polars", "lazy", "reader", "batch", "batches", "frames", "dicts", "generator"],
)
def test_whatever_holds_events_can_be_sent(form: Callable[[pa.Table], Any]) -> None:
    rows: list[Any] = []
    for batch in batches(form(TABLE)):
        packed = batch.headers()["Content-Type"] == "application/msgpack"
        rows += unpacked(batch.body()) if packed else read(batch).to_pylist()
    assert rows == TABLE.to_pylist()


@pytest.mark.parametrize("coded", [True, False])
def test_texts_are_no_views(coded: bool) -> None:
    """Test string views, as Polars uses them in columns and categories."""
    frame = pl.DataFrame({"type": ["Ride", None, "Stop"], "time": [1, 2, 3]})
    frame = frame.with_columns(pl.col("type").cast(pl.Categorical)) if coded else frame
    (batch,) = batches(frame)
    kind = read(batch).schema.field("type").type
    assert (kind.value_type if coded else kind) == pa.string()
    assert read(batch).column("type").to_pylist() == ["Ride", None, "Stop"]


def test_tables_are_compressed_and_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH_EVENTS", 1_024)
    parts = list(batches(TABLE))
    assert [len(part) for part in parts] == [1_024] * 4 + [904]
    assert sum(len(part.body()) for part in parts) < TABLE.nbytes
    wide = pa.table({"type": ["A"] * 100, "time": range(100), "note": ["x" * 1_000_000] * 100})
    assert max(read(part).nbytes for part in batches(wide)) < 9 << 20


def test_chunks_of_a_table_do_not_show() -> None:
    chunked = pa.Table.from_batches(TABLE.to_batches(max_chunksize=333))
    assert [part.body() for part in batches(chunked)] == [part.body() for part in batches(TABLE)]


def test_halves_are_the_whole() -> None:
    for events in (TABLE, TABLE.to_pylist()):
        (whole,) = batches(events)
        first, second = whole.halves()
        assert len(first) + len(second) == len(whole)


def test_values_that_msgpack_does_not_have_are_as_in_json_lines() -> None:
    moment = dt.datetime(2026, 11, 19, 1, 2, 3, 456, dt.UTC)
    event = {"type": "A", "time": moment, "n": 2**70, "d": Decimal("1.50"), "i": np.int64(7), "f": np.float32(0.5)}
    (batch,) = batches([event | {"s": pa.scalar(3), "day": dt.date(2026, 1, 2), "none": None, "b": True}])
    assert unpacked(batch.body()) == [
        {
            "type": "A",
            "time": "2026-11-19T01:02:03.000456+00:00",
            "n": str(2**70),
            "d": "1.50",
            "i": 7,
            "f": 0.5,
            "s": 3,
            "day": "2026-01-02",
            "none": None,
            "b": True,
        }
    ]


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ({"type": "A"}, "events are dict"),
        ("rides.parquet", "events are str"),
        (7, "events are int"),
        ([1, 2], "an event is int"),
        ([{"type": "A"}, 7], "an event is int among dicts"),
        ([{"type": "A", "v": object()}], "an event has object in it"),
        (pd.DataFrame({"type": ["A", "B"], "v": [1, "x"]}), "mixes kinds"),
    ],
)
def test_what_cannot_be_sent_is_named(events: Any, message: str) -> None:
    with pytest.raises(elsinore.InputError, match=message):
        [batch.body() for batch in batches(events)]


def test_no_events_are_no_batches() -> None:
    assert list(batches([])) == []
    assert list(batches(TABLE.slice(0, 0))) == []
