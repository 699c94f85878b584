"""Test that CSV and JSON lines give the same events as tables, and that only bad lines are lost."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from elsinore.connectors import text_blocks
from elsinore.connectors.errors import EventError, InputError
from elsinore.connectors.sources import open_events
from tests.connectors.reading import batches, letters, read

ROWS = 100_000


def stream(rows: int = ROWS) -> pa.Table:
    random = np.random.default_rng(1)
    return pa.table(
        {
            "type": random.choice(np.array(["Request", "Travel", "Pickup", 'it\'s, "quoted"']), rows),
            "time": np.arange(rows),
            "v": pa.array(random.integers(-(2**62), 2**62, rows), mask=random.random(rows) < 0.1),
            "w": pa.array(random.normal(size=rows), mask=random.random(rows) < 0.1),
            "g": pa.array(random.choice(np.array(["x", "ä€", "a,b", "null"]), rows), mask=random.random(rows) < 0.1),
            "b": pa.array(random.random(rows) < 0.5, mask=random.random(rows) < 0.1),
        }
    )


WRITERS: dict[str, Callable[[pa.Table, Path], object]] = {
    "csv": pacsv.write_csv,
    "jsonl": lambda table, path: pl.DataFrame(pl.from_arrow(table)).write_ndjson(path),
    "parquet": pq.write_table,
}


@pytest.mark.parametrize("ending", WRITERS)
def test_round_trip(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 1 << 20)
    table, path = stream(), tmp_path / f"events.{ending}"
    WRITERS[ending](table, path)
    source = open_events(path, dead_letters=tmp_path / "dead")
    assert source.form == pa.int64()
    parts = batches(source, ["v", "w", "g", "b"])
    assert len(parts) > 1 or ending == "parquet"
    got = pa.Table.from_batches(parts)
    assert source.dead == 0
    assert source.progress() == 1
    for name in table.column_names:
        assert got.column(name).to_pylist() == table.column(name).to_pylist(), name


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_only_mangled_lines_are_lost(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 1 << 20)
    path = tmp_path / f"events.{ending}"
    WRITERS[ending](stream(), path)
    lines = path.read_bytes().split(b"\n")
    mangled = {
        17: b"\xff\xfe",
        60_000: b"null" if ending == "jsonl" else b"A",
        90_001: b'{"type": "A", "time": "soon"}',
    }
    for number, line in mangled.items():
        lines[number - 1] = line
    path.write_bytes(b"\n".join(lines))
    source = open_events(path, dead_letters=tmp_path / "dead")
    rows = sum(map(len, batches(source, ["v", "w", "g", "b"])))
    assert (rows, source.dead) == (ROWS - 3, 3)
    assert [letter["line"] for letter in letters(tmp_path / "dead")] == list(mangled)


def csv(tmp_path: Path, text: str | bytes, name: str = "events.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def jsonl(tmp_path: Path, *events: Any) -> Path:
    lines = [event if isinstance(event, str) else json.dumps(event) for event in events]
    return csv(tmp_path, "\n".join(lines), "events.jsonl")


# CSV


def test_csv_cells(tmp_path: Path) -> None:
    path = csv(tmp_path, "\ufefftype,time,v,w,g,b\r\nA,1,,NA,,true\r\n\r\nB,2,3,1e3,NA,FALSE\r\nC,3,4,5, x,")
    assert read(path, "v", "w", "g", "b") == [
        {"type": "A", "time": 1, "v": None, "w": None, "g": None, "b": True},
        {"type": "B", "time": 2, "v": 3, "w": 1000.0, "g": "NA", "b": False},
        {"type": "C", "time": 3, "v": 4, "w": 5.0, "g": " x", "b": None},
    ]


def test_csv_reasons(tmp_path: Path) -> None:
    rows = [f"A,{time},{time}" for time in range(200)]
    rows[3], rows[5], rows[7], rows[9] = "A,3", "A,soon,5", "A,7,many", ",9,9"
    path = csv(tmp_path, "\n".join(["type,time,v", *rows]))
    source = open_events(path, dead_letters=tmp_path / "dead")
    assert source.attributes == {"v": pa.int64()}
    assert sum(map(len, batches(source, ["v"]))) == 196
    assert {letter["line"]: letter["reason"] for letter in letters(tmp_path / "dead")} == {
        5: "it has 2 cells, not 3",
        7: "its 'time' is not a whole number of 64 bits: 'soon'",
        9: "its 'v' is not a whole number of 64 bits: 'many'",
        11: "it has no type (column 'type')",
    }
    with pytest.raises(EventError, match="line 5: it has 2 cells, not 3"):
        read(path, strict=True)


def test_csv_numbers_among_texts_are_texts(tmp_path: Path) -> None:
    path = csv(tmp_path, "type,time,g\nA,1,12\nA,2,12a\n")
    assert [event["g"] for event in read(path, "g")] == ["12", "12a"]


def test_csv_integers_beyond_64_bits_are_not_rounded(tmp_path: Path) -> None:
    big = 2**64
    text = "type,time,id,v\n" + "".join(f"A,{time},{big + time},{time}\n" for time in range(200)) + f"A,200,{big},{big}"
    source = open_events(csv(tmp_path, text), dead_letters=tmp_path / "dead")
    assert source.attributes == {"id": pa.string(), "v": pa.int64()}
    (batch,) = batches(source, ["id", "v"])
    assert batch.column("id").to_pylist() == [str(big + time) for time in range(200)]
    (letter,) = letters(tmp_path / "dead")
    assert letter["reason"] == f"its 'v' is not a whole number of 64 bits: '{big}'"


def test_csv_whose_types_change_behind_the_first_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 1000)
    rows = [f"A,{time},{time},,x" for time in range(500)]
    rows += [f"A,{time},{time}.5,7,{time}" for time in range(500, 1000)]
    source = open_events(csv(tmp_path, "\n".join(["type,time,v,late,g", *rows])))
    assert source.attributes == {"v": pa.int64(), "late": pa.null(), "g": pa.string()}
    parts = batches(source, ["v", "late", "g"])
    events = [event for part in parts for event in part.to_pylist()]
    assert source.dead == 0
    assert [event["v"] for event in events] == [float(v) + (0.5 if v >= 500 else 0) for v in range(1000)]
    assert [event["late"] for event in events] == [None] * 500 + [7] * 500
    assert parts[-1].schema.types[2:] == [pa.float64(), pa.int64(), pa.string()]


def test_csv_times(tmp_path: Path) -> None:
    source = open_events(csv(tmp_path, "type,time\nA,1970-01-01\nA,1970-01-01 00:00:01.5\nA,never\n"))
    assert source.form == pa.timestamp("us")
    assert batches(source)[0].column("time").to_pylist() == [0, 1_500_000]
    assert source.dead == 1


@pytest.mark.parametrize("text", ["type,time\n", "type,time", "type,time\r\n\r\n", "type,time,v\n\n"])
def test_csv_without_events(text: str, tmp_path: Path) -> None:
    assert read(csv(tmp_path, text)) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty; a CSV file begins with a line that names its columns"),
        ("\n\n", "line 1: empty"),
        ("type,time,v,v\nA,1,2,3\n", "several columns called 'v'"),
        ("kind;time\nA;1\n", "has no type column 'type'. Its columns are: kind;time"),
        ('"type,time\n', "no type column"),
        ("type,time\nA,true\n", "the time column 'time' holds bool"),
    ],
)
def test_csv_that_cannot_be_read(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(csv(tmp_path, text))
    assert message in str(caught.value)


# JSON lines


def test_json_values(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path,
        {"type": "A", "time": 1, "v": 2, "g": "2026-01-01", "deep": {"a": [1]}},
        "",
        {"time": 2, "type": "B", "v": 2.5, "b": True, "extra": None},
    )
    source = open_events(path)
    assert source.attributes["g"] == pa.string(), "a text stays a text"
    assert batches(source, ["v", "g", "b"])[0].to_pylist() == [
        {"type": "A", "time": 1, "v": 2.0, "g": "2026-01-01", "b": None},
        {"type": "B", "time": 2, "v": 2.5, "g": None, "b": True},
    ]
    with pytest.raises(InputError, match="column 'deep' holds struct"):
        read(path, "deep")


def test_json_reasons(tmp_path: Path) -> None:
    good = [{"type": "A", "time": time, "v": time, "g": "x"} for time in range(20)]
    bad = {
        3: "null",
        5: "[1]",
        6: '{"type": "A", "time": 5, "v": NaN}',
        8: '{"type": "A", "time": 5',
        9: '{"type": "A", "time": "soon"}',
        11: '{"type": "A", "time": 5, "v": "many"}',
        12: '{"type": "A", "time": 5, "v": 9223372036854775808}',
        13: '{"type": 7, "time": 5}',
        14: '{"type": "A", "time": 5, "g": 6}',
        16: '{"type": "A", "time": 5, "v": true}',
        17: '{"type": "\\ud800", "time": 5}',
        18: "{" + '"a":[' * 5000,
    }
    lines: list[Any] = list(good)
    for number, line in bad.items():
        lines[number - 1] = line
    source = open_events(jsonl(tmp_path, *lines), dead_letters=tmp_path / "dead")
    assert sum(map(len, batches(source, ["v", "g"]))) == len(good) - len(bad)
    reasons = {letter["line"]: letter["reason"] for letter in letters(tmp_path / "dead")}
    assert reasons.keys() == bad.keys()
    assert reasons[3] == reasons[5] == "it is not an object"
    assert reasons[6] == "it is not JSON: NaN is no JSON number"
    assert reasons[9] == "its 'time' is not a whole number of 64 bits: 'soon'"
    assert reasons[12] == "its 'v' is not a whole number of 64 bits: 9223372036854775808"
    assert reasons[14] == "its 'g' is not a text: 6"


def test_json_whose_types_change_behind_the_first_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 1000)
    events: list[dict[str, Any]] = [{"type": "A", "time": time, "v": time} for time in range(200)]
    events += [{"type": "A", "time": time, "v": time + 0.5, "new": "x"} for time in range(200, 400)]
    source = open_events(jsonl(tmp_path, *events))
    assert source.attributes == {"v": pa.int64()}
    parts = batches(source, ["v"])
    assert source.dead == 0
    assert [event["v"] for part in parts for event in part.to_pylist()] == [event["v"] for event in events]


def test_json_times_of_text(tmp_path: Path) -> None:
    source = open_events(jsonl(tmp_path, {"type": "A", "time": "1970-01-01T00:00:01Z"}, {"type": "A", "time": "no"}))
    assert source.form == pa.timestamp("us", "UTC")
    assert batches(source)[0].column("time").to_pylist() == [1_000_000]
    assert source.dead == 1


@pytest.mark.parametrize("text", ["", "\n", " \r\n\n"])
def test_json_without_events(text: str, tmp_path: Path) -> None:
    assert read(csv(tmp_path, text, "events.ndjson")) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"type": "A", "time": 1}]', "is a JSON array; write one object a line"),
        (
            "type,time\nA,1\n",
            "none of its first lines is a JSON object, which an event is; the first line: 'type,time'",
        ),
        ('{"kind": "A", "time": 1}', "has no type column 'type'. Its columns are: kind, time"),
        ('{"type": "A", "time": [1]}', "the time column 'time' holds struct"),
    ],
)
def test_json_that_cannot_be_read(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(csv(tmp_path, text, "events.json"))
    assert message in str(caught.value)


# Bytes


def test_compressed_files(tmp_path: Path) -> None:
    text = b"type,time\n" + b"A,1\n" * 10_000
    path = csv(tmp_path, gzip.compress(text), "events.csv.gz")
    source = open_events(path)
    assert sum(map(len, batches(source))) == 10_000
    assert source.progress() == 1
    with pytest.raises(InputError, match=r"cut\.csv\.gz cannot be read to its end"):
        read(csv(tmp_path, gzip.compress(text)[:40], "cut.csv.gz"))
    with pytest.raises(InputError, match="is not that of a known format"):
        read(csv(tmp_path, b"", "events.parquet.gz"))


def test_a_damaged_parquet_file(tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    pq.write_table(stream(1000), path)
    data = path.read_bytes()
    with pytest.raises(InputError, match="is not a Parquet file that can be read"):
        read(csv(tmp_path, data[:-9], "short.parquet"))
    with pytest.raises(InputError, match=r"holed\.parquet cannot be read to its end"):
        read(csv(tmp_path, data[:4] + bytes(2000) + data[2004:], "holed.parquet"))


def test_a_line_without_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(text_blocks, "MAX_LINE_BYTES", 10_000)
    with pytest.raises(InputError, match="line 1: longer than"):
        read(csv(tmp_path, b"x" * 20_000))


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("seed", range(60))
def test_no_bytes_whatever_make_it_crash(ending: str, seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng([seed, len(ending)])
    path = tmp_path / f"events.{ending}"
    WRITERS[ending](stream(300), path)
    data = bytearray(path.read_bytes())
    for _ in range(random.integers(1, 30)):
        start = int(random.integers(0, len(data)))
        data[start : start + int(random.integers(0, 20))] = random.bytes(int(random.integers(0, 20)))
    path.write_bytes(random.bytes(5000) if seed % 10 == 0 else bytes(data))
    try:
        source = open_events(path, dead_letters=tmp_path / "dead")
        batches(source, ["v", "w", "g", "b"])
    except InputError:
        return
    assert len(letters(tmp_path / "dead")) == source.dead
