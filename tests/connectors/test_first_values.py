"""Test that the form of a stream's times is inferred from its first times, wherever these are in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from elsinore.connectors import text_blocks
from elsinore.connectors.columns import cast_or_null
from elsinore.connectors.errors import InputError
from elsinore.connectors.sources import open_events
from tests.connectors.reading import letters, read

SCHEMA = pa.schema([("type", pa.string()), ("time", pa.string()), ("v", pa.int64())])
ZONED = [{"type": "A", "time": f"2026-01-01T00:00:{n:02}Z", "v": n} for n in range(3)]
EMPTY = (
    SCHEMA.empty_table().to_batches()[0]
    if SCHEMA.empty_table().to_batches()
    else pa.RecordBatch.from_pylist([], SCHEMA)
)
NULLS = pa.RecordBatch.from_pylist([{"type": "A", "time": None, "v": -1}] * 20_000, SCHEMA)
VALUES = pa.RecordBatch.from_pylist(ZONED, SCHEMA)
FIRST = {"nothing": [], "empty": [EMPTY], "many empty": [EMPTY] * 50, "nulls": [NULLS], "all kinds": [EMPTY, NULLS] * 3}


def a_reader(batches: list[pa.RecordBatch], _: Path) -> Any:
    def hand_out() -> Iterator[pa.RecordBatch]:
        yield from batches

    return pa.RecordBatchReader.from_batches(SCHEMA, hand_out())


def a_stream(batches: list[pa.RecordBatch], _: Path) -> Any:
    class Stream:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return pa.RecordBatchReader.from_batches(SCHEMA, batches).__arrow_c_stream__(requested_schema)

    return Stream()


def coded(batches: list[pa.RecordBatch], _: Path) -> Any:
    found = [batch.set_column(1, "time", batch.column(1).dictionary_encode()) for batch in batches]
    return pa.RecordBatchReader.from_batches(found[0].schema, found)


def a_table(batches: list[pa.RecordBatch], _: Path) -> Any:
    return pa.Table.from_batches(batches, SCHEMA)


def a_frame(batches: list[pa.RecordBatch], folder: Path) -> pd.DataFrame:
    return a_table(batches, folder).to_pandas()


def a_polars_frame(batches: list[pa.RecordBatch], folder: Path) -> Any:
    return pl.from_arrow(a_table(batches, folder))


def dicts(batches: list[pa.RecordBatch], folder: Path) -> list[dict[str, Any]]:
    return list(a_table(batches, folder).to_pylist())


def json_lines(batches: list[pa.RecordBatch], folder: Path) -> Path:
    path = folder / "a.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in dicts(batches, folder)), encoding="utf-8")
    return path


def a_csv_file(batches: list[pa.RecordBatch], folder: Path) -> Path:
    lines = [f"{event['type']},{event['time'] or ''},{event['v']}\n" for event in dicts(batches, folder)]
    path = folder / "a.csv"
    path.write_text("type,time,v\n" + "".join(lines), encoding="utf-8")
    return path


def a_parquet_file(batches: list[pa.RecordBatch], folder: Path) -> Path:
    pq.write_table(a_table(batches, folder), folder / "a.parquet", row_group_size=5000)
    return folder / "a.parquet"


def parquet_files(batches: list[pa.RecordBatch], folder: Path) -> list[Path]:
    for number, batch in enumerate(batches):
        pq.write_table(pa.Table.from_batches([batch]), folder / f"{number}.parquet")
    return [folder / f"{number}.parquet" for number in range(len(batches))]


FORMS: list[Callable[[list[pa.RecordBatch], Path], Any]] = [
    a_reader, a_stream, coded, a_table, a_frame, a_polars_frame, dicts, json_lines, a_csv_file, a_parquet_file,
    parquet_files,
]  # fmt: skip


@pytest.mark.one_in(4)
@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_times_are_seen_wherever_the_first_of_them_stand(
    form: Callable[..., Any], first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 100_000)
    source = open_events(form([*FIRST[first], VALUES], tmp_path))
    assert source.form.tz is not None
    (tmp_path / "again").mkdir()
    events = read(form([*FIRST[first], VALUES], tmp_path / "again"), "v")
    assert [event["v"] for event in events] == [0, 1, 2]


def test_batches_that_were_looked_at_are_read_in_order() -> None:
    rows = pa.RecordBatch.from_pylist([{"type": "B", "time": None, "v": 7}], SCHEMA)
    source = pa.RecordBatchReader.from_batches(SCHEMA, [EMPTY, rows, EMPTY, VALUES, rows, VALUES])
    assert [event["v"] for event in read(source, "v")] == [0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize("zoned_first", [True, False])
def test_times_with_another_zone_than_the_first_ones_are_dead_and_it_is_said_why(
    zoned_first: bool, tmp_path: Path
) -> None:
    zoned, naive = "2026-01-01T00:00:01Z", "2026-01-01T00:00:01"
    first, other = (zoned, naive) if zoned_first else (naive, zoned)
    table = pa.table({"type": ["A"] * 102, "time": [first] * 101 + [other]})
    assert len(read(table, dead_letters=tmp_path / "dead")) == 101
    (letter,) = letters(tmp_path / "dead")
    assert f"has {'no' if zoned_first else 'a'} time zone, but the first times" in letter["reason"]


def test_files_whose_times_differ_in_having_a_zone_are_refused(tmp_path: Path) -> None:
    for name, time in (("a", "2026-01-01T00:00:01Z"), ("b", "2026-01-01T00:00:01")):
        pq.write_table(pa.table({"type": ["A"], "time": [time]}), tmp_path / f"{name}.parquet")
    with pytest.raises(InputError, match="in one file and timestamp"):
        open_events([tmp_path / "a.parquet", tmp_path / "b.parquet"])


def test_no_value_at_all_can_be_cast_to_anything() -> None:
    assert cast_or_null(pa.array([None], pa.bool_()), pa.timestamp("us")).to_pylist() == [None]
