"""Matches as a table and as files: any column of the events, and variables that stand for other things elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import elsinore
from elsinore.connectors.rows.json_values import JSON
from elsinore.connectors.rows.widening import fitted, wider
from elsinore.connectors.sinks import open_sink

LISTS = "QUERY lists RETURN MATCHES PATTERN A+ WITHIN 9 seconds"
SINGLE = "QUERY single RETURN MATCHES PATTERN SEQ(A, B) WITHIN 9 seconds"
VALUES = "QUERY vals RETURN MATCHES A.v AS B, COUNT(A) AS n PATTERN A+ WITHIN 9 seconds"
GROUPED = "QUERY grouped RETURN COUNT(*) AS B PATTERN A+ GROUP-BY A WITHIN 9 seconds SLIDE 9 seconds"


def events(**more: pa.Array) -> pa.Table:
    return pa.table({"type": ["A", "A", "B"], "time": [1, 2, 3], "v": [1.5, 2.5, None], **more})


def written(result: elsinore.Result, path: Path) -> str:
    with open_sink(path, result.columns) as sink:
        sink.write(result.to_arrow())
    return path.read_text()


def lines(result: elsinore.Result, folder: Path) -> list[Any]:
    return [json.loads(line) for line in written(result, folder / "rows.jsonl").splitlines()]


def test_a_column_of_nulls_does_not_spoil_lists_of_events(tmp_path: Path) -> None:
    result = elsinore.run(LISTS, events(n=pa.nulls(3)), engine="local")
    assert result.rows()[0]["A"] == [{"type": "A", "time": 1, "v": 1.5, "n": None}]
    assert lines(result, tmp_path) == result.rows()


def test_dates_that_python_does_not_hold_are_texts_in_events_of_matches(tmp_path: Path) -> None:
    days = pa.array([1 << 30, None, 0], pa.int32()).cast(pa.date32())
    for query in (LISTS, SINGLE):
        result = elsinore.run(query, events(day=days), engine="local")
        found = result.rows()[0]["A"]
        assert (found[0] if query == LISTS else found)["day"] == "2941775-04-07"
        assert "2941775-04-07" in repr(result)
        assert "2941775-04-07" in written(result, tmp_path / "rows.jsonl")
        with pytest.raises(elsinore.InputError, match="pandas cannot hold these rows"):
            result.to_pandas()


@pytest.mark.parametrize("others", [[SINGLE], [VALUES], [GROUPED], [SINGLE, VALUES, GROUPED]])
def test_a_name_may_mean_an_event_a_list_and_a_value_in_different_queries(others: list[str], tmp_path: Path) -> None:
    stream = events(A=pa.array(["x", "y", "x"]))
    result = elsinore.run("\n".join([LISTS, *others]), stream, engine="local")
    assert lines(result, tmp_path) == result.rows()
    for suffix in ("csv", "parquet"):
        with open_sink(tmp_path / f"rows.{suffix}", result.columns) as sink:
            sink.write(result.to_arrow())
    assert len(result.to_pandas()) == len(result.to_polars()) == len(result)
    shown = pq.read_table(tmp_path / "rows.parquet").column("A").to_pylist()
    assert (json.loads(shown[0]) if isinstance(shown[0], str) else shown[0]) == result.rows()[0]["A"]


def test_numbers_of_any_size_stand_beside_events_with_all_digits(tmp_path: Path) -> None:
    count = "QUERY many RETURN COUNT(*) AS B PATTERN A+ WITHIN 9 seconds SLIDE 9 seconds"
    single = "QUERY single RETURN MATCHES PATTERN B WITHIN 9 seconds"
    stream = [*({"type": "A", "time": n / 100} for n in range(300)), {"type": "B", "time": 4.0}]
    result = elsinore.run(f"{count}\n{single}", stream, engine="local")
    assert f'"B": {2**300 - 1}' in written(result, tmp_path / "rows.jsonl")


def test_a_column_that_holds_events_later_is_json_for_all_its_values() -> None:
    text, event = pa.chunked_array([["x", None]]), pa.chunked_array([pa.array([{"n": 1}])])
    kind = wider(text.type, event.type)
    assert kind == JSON == wider(JSON, pa.int64()) == wider(pa.list_(pa.int64()), event.type)
    assert fitted(text, kind).to_pylist() == ['"x"', None]
    assert fitted(event, kind).to_pylist() == ['{"n": 1}']
    assert fitted(fitted(event, kind), kind).to_pylist() == ['{"n": 1}']


NAMES = ["type", "time", "", "ticks", "a_type", "start"]
OWN: dict[str, Any] = {"type_column": "kind", "time_column": "at"}


def named(name: str) -> pa.Table:
    return pa.table({"kind": ["A", "B", "A", "B"], "at": [1, 9, 3, 4], name: [1, 2, 3, 4]})


@pytest.mark.parametrize("name", NAMES)
def test_an_attribute_may_have_the_name_of_any_other_column(name: str) -> None:
    """Of types and times too, where a user's have other names; in a stream of batches with late events."""
    query = "RETURN MATCHES PATTERN SEQ(A, B) WITHIN 10 seconds"
    whole = named(name)
    stream = pa.RecordBatchReader.from_batches(whole.schema, whole.to_batches(max_chunksize=2))
    result = elsinore.run(query, stream, engine="local", lateness=4, **OWN)
    event = {"kind": "B", "at": 9, name: 2}
    assert [row["B"] for row in result.rows()] == [event]
    assert result.late.to_pylist() == [{"kind": "A", "at": 3, name: 3}, {"kind": "B", "at": 4, name: 4}]
    found = elsinore.matches(query, whole, **OWN)
    assert [row["B"][name] for row in found.page(0, 9).rows()] == [4, 4, 2, 2]
    assert "estimated from 4 events" in elsinore.explain(query, "auto", whole, **OWN)
    assert elsinore.why(query, whole, **OWN).reasons[0].rows == 4


@pytest.mark.parametrize("name", ["type", "time"])
def test_such_an_attribute_is_read_and_not_the_other_column(name: str) -> None:
    stream = named(name)
    query = f"RETURN MATCHES A.{name}, SUM(B.{name}) AS s PATTERN SEQ(A, B+) WHERE A.{name} + 1 = B.{name}"
    rows = elsinore.run(f"{query} AND LAST(B).{name} < 4 WITHIN 10 seconds", stream, engine="local", **OWN).rows()
    assert [(row[f"A.{name}"], row["s"]) for row in rows] == [(1, 2)]
