"""Test the output of rows: no digit is lost, and a file appears when it is complete."""

from __future__ import annotations

import csv
import datetime as dt
import json
import os
from decimal import Decimal
from errno import EPERM
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from elsinore.connectors.errors import InputError
from elsinore.connectors.live_sinks import MARKER, LiveSink, open_live_sink
from elsinore.connectors.rows.json_values import NUMBER
from elsinore.connectors.sinks import open_sink

BOUNDS = ["window_start", "window_end"]
QUERIES = {"first": [*BOUNDS, "g", "COUNT(*)"], "second": [*BOUNDS, "SUM(X.v)"]}


def rows(count: pa.Array, total: pa.Array, start: list[Any] | None = None) -> pa.Table:
    bounds = pa.array(start or [0, 0])
    return pa.table(
        {
            "query": ["first", "second"],
            "window_start": bounds,
            "window_end": bounds,
            "g": pa.array(['a\n"ä,', None]),
            "COUNT(*)": count,
            "SUM(X.v)": total,
        },
        metadata={"approximate": "true"},
    )


def write(path: Path | str, *tables: pa.Table) -> None:
    with open_sink(path, QUERIES) as sink:
        for table in tables:
            sink.write(table)


SMALL = rows(pa.array([2**62, None]), pa.nulls(2))
LARGE = rows(pa.array([Decimal(2**200), None], pa.decimal256(76, 0)), pa.array([None, 2.5]), [0.5, 0])
HUGE = rows(pa.array([str(2**300), None]), pa.array([None, 2**60]))


def numbered(table: pa.Table) -> pa.Table:
    """Mark the text column of a table as numbers."""
    place = table.schema.get_field_index("COUNT(*)")
    field = pa.field("COUNT(*)", pa.string(), metadata={NUMBER: b"true"})
    return table.set_column(place, field, table.column(place))


def test_json_lines_have_the_columns_of_their_query(tmp_path: Path) -> None:
    write(tmp_path / "rows.jsonl", SMALL, LARGE, numbered(HUGE))
    lines = (tmp_path / "rows.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    assert [json.loads(line) for line in lines] == [
        {"query": "first", "window_start": 0, "window_end": 0, "g": 'a\n"ä,', "COUNT(*)": 2**62},
        {"query": "second", "window_start": 0, "window_end": 0, "SUM(X.v)": None},
        {"query": "first", "window_start": 0.5, "window_end": 0.5, "g": 'a\n"ä,', "COUNT(*)": 2**200},
        {"query": "second", "window_start": 0, "window_end": 0, "SUM(X.v)": 2.5},
        {"query": "first", "window_start": 0, "window_end": 0, "g": 'a\n"ä,', "COUNT(*)": 2**300},
        {"query": "second", "window_start": 0, "window_end": 0, "SUM(X.v)": 2**60},
    ]


def test_json_lines_go_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    write("-", SMALL)
    with open_sink(None, QUERIES) as sink:
        sink.write(SMALL)
        assert len(capsys.readouterr().out.splitlines()) == 4, "rows are written before the sink is closed"


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_json_times_are_iso(zone: str | None, tmp_path: Path) -> None:
    times = pa.array([dt.datetime(2026, 1, 31, 8, 30, 0, 5000)] * 2, pa.timestamp("ms", zone))
    table = SMALL.set_column(1, "window_start", times).set_column(2, "window_end", times)
    write(tmp_path / "rows.jsonl", table)
    first = json.loads((tmp_path / "rows.jsonl").read_text(encoding="utf-8").split("\n")[0])
    assert first["window_start"] == "2026-01-31T08:30:00.005" + ("Z" if zone else "")


def test_csv(tmp_path: Path) -> None:
    write(tmp_path / "rows.csv", SMALL, LARGE, HUGE)
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.reader(file))
    assert cells[0] == ["query", "window_start", "window_end", "g", "COUNT(*)", "SUM(X.v)"]
    assert [line[4] for line in cells[1:]] == [str(2**62), "", str(2**200), "", str(2**300), ""]
    assert cells[1][3] == 'a\n"ä,'


def test_parquet_widens(tmp_path: Path) -> None:
    write(tmp_path / "one.parquet", SMALL)
    assert pq.read_table(tmp_path / "one.parquet").schema.types == SMALL.schema.types
    write(tmp_path / "two.parquet", SMALL, LARGE, SMALL)
    two = pq.read_table(tmp_path / "two.parquet")
    assert two.schema.field("COUNT(*)").type == pa.decimal256(76, 0)
    assert two.column("COUNT(*)").to_pylist() == [2**62, None, 2**200, None, 2**62, None]
    assert two.column("window_start").to_pylist() == [0, 0, 0.5, 0, 0, 0]
    assert two.schema.metadata == {b"approximate": b"true"}
    write(tmp_path / "three.parquet", SMALL, LARGE, HUGE)
    three = pq.read_table(tmp_path / "three.parquet")
    assert three.column("COUNT(*)").to_pylist()[::2] == [str(2**62), str(2**200), str(2**300)]


@pytest.mark.parametrize("later", [True, False])
def test_parquet_integers_beyond_floats_become_text(later: bool, tmp_path: Path) -> None:
    tables = [rows(pa.array([2**60 + 1, None]), pa.nulls(2)), rows(pa.array([0.5, None]), pa.nulls(2))]
    write(tmp_path / "rows.parquet", *(reversed(tables) if later else tables))
    found = pq.read_table(tmp_path / "rows.parquet").column("COUNT(*)").to_pylist()
    assert set(found) == {str(2**60 + 1), "0.5", None}


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_without_rows(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows.{ending}"
    write(path)
    assert path.exists()
    assert list(tmp_path.iterdir()) == [path]
    write(path, SMALL.slice(0, 0))
    assert list(tmp_path.iterdir()) == [path]


def write_until_stopped(path: Path) -> None:
    with open_sink(path, QUERIES) as sink:
        sink.write(SMALL)
        sink.write(LARGE)
        assert path.read_text() == "what was there"
        raise KeyboardInterrupt


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_a_run_that_fails_leaves_nothing_behind(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows.{ending}"
    path.write_text("what was there")
    with pytest.raises(KeyboardInterrupt):
        write_until_stopped(path)
    assert path.read_text() == "what was there"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["rows.txt", "rows", "no/folder.csv"])
def test_names_that_cannot_be(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the file name must end in \.jsonl|cannot be written: No such file"):
        open_sink(tmp_path / name, QUERIES)


def rows_of(number: int) -> pa.Table:
    return pa.table({"query": ["q"], "window_start": [number], "window_end": [number + 1], "n": [number]})


def live_sink(folder: Path, stream: str, resumed: bool = False) -> LiveSink:
    return open_live_sink(folder, {"q": ["window_start", "window_end", "n"]}, stream, resumed)


def test_a_folder_of_rows_belongs_to_one_stream(tmp_path: Path) -> None:
    folder = tmp_path / "rows.jsonl"
    live_sink(folder, "one").write(1, [rows_of(1)])
    with pytest.raises(InputError, match=f"{folder} holds the rows of another stream. Use another folder"):
        live_sink(folder, "two")
    with pytest.raises(InputError, match="another stream"):
        live_sink(folder, "two", resumed=True)
    live_sink(folder, "one", resumed=True).write(2, [rows_of(2)])
    assert sorted(path.name for path in folder.glob("*.jsonl")) == [f"part-{n:012}.jsonl" for n in (1, 2)]


def test_rows_of_an_older_version_belong_to_the_stream_that_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "rows.jsonl"
    live_sink(folder, "").write(1, [rows_of(1)])
    with pytest.raises(InputError, match="holds rows that this stream did not write"):
        live_sink(folder, "new")
    live_sink(folder, "old", resumed=True).write(2, [rows_of(2)])
    with pytest.raises(InputError, match="another stream"):
        live_sink(folder, "new", resumed=True)


def test_readers_of_rows_do_not_see_whose_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "rows.parquet"
    live_sink(folder, "one").write(1, [rows_of(1)])
    assert ds.dataset(folder).to_table().num_rows == 1
    assert pq.read_table(folder).num_rows == 1


def test_a_folder_is_claimed_by_one_of_many(tmp_path: Path) -> None:
    folder, claimed = tmp_path / "rows.csv", list[str]()

    def claim(stream: str) -> None:
        try:
            live_sink(folder, stream)
        except InputError:
            return
        claimed.append(stream)

    threads = [Thread(target=claim, args=(str(number),)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(folder / MARKER).read_text()] == claimed


def test_a_folder_is_claimed_where_files_have_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*_: Any) -> None:
        raise OSError(EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    live_sink(tmp_path / "rows.csv", "one")
    with pytest.raises(InputError, match="another stream"):
        live_sink(tmp_path / "rows.csv", "two")


def test_events_are_json(tmp_path: Path) -> None:
    """Whole events are objects in JSON lines, their JSON in CSV, and structs in Parquet."""
    event = {"type": "A", "time": dt.datetime(2026, 1, 31), "v": None, "s": 'a"b'}
    table = pa.table(
        {
            "query": ["q", "q", "q"],
            "start": [0, 1, 2],
            "end": [0, 1, 2],
            "A": [event, None, event],
            "B": [[event, {**event, "v": 1}], [], None],
        }
    )
    queries = {"q": ["start", "end", "A", "B"]}
    for kind in ("jsonl", "csv", "parquet"):
        with open_sink(tmp_path / f"rows.{kind}", queries) as sink:
            sink.write(table.slice(1))
            sink.write(table.slice(0, 1))
    shown = event | {"time": "2026-01-31T00:00:00.000000"}
    lines = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [(line["A"], line["B"]) for line in lines] == [
        (None, []),
        (shown, None),
        (shown, [shown, {**shown, "v": 1}]),
    ]
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        cells = [row[3:] for row in csv.reader(file)][1:]
    assert [[cell and json.loads(cell) for cell in row] for row in cells] == [
        ["", []], [shown, ""], [shown, [shown, {**shown, "v": 1}]]
    ]  # fmt: skip
    assert pq.read_table(tmp_path / "rows.parquet").column("A").to_pylist() == [None, event, event]


def test_a_function_is_given_batches_or_pieces() -> None:
    """What it is given follows from its arguments: one of three needs the number of the piece."""
    parts = [pa.table({"n": [1]}), pa.table({"n": [2, 3]})]
    calls: list[tuple[Any, ...]] = []

    def of_pieces(rows: pa.Table, batch: int, piece: int) -> None:
        calls.append((rows.num_rows, batch, piece))

    def of_batches(rows: pa.Table, batch: int, seen: Any = calls) -> None:
        seen.append((rows.num_rows, batch))

    pieces, batches = (open_live_sink(one, QUERIES, "") for one in (of_pieces, of_batches))
    assert pieces.takes_parts
    assert not batches.takes_parts
    pieces.write(7, iter(parts))
    pieces.write(7, iter(parts))
    batches.write(8, iter(parts[1:]))
    assert calls == [(1, 7, 0), (2, 7, 1)] * 2 + [(2, 8)]
    assert not open_live_sink(max, QUERIES, "").takes_parts
