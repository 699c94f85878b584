from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from fractions import Fraction
from textwrap import dedent

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import elsinore
from elsinore.actors.rows.rows import Rows
from elsinore.cluster.run.local import Metrics
from elsinore.connectors.rows.row_columns import DECIMAL, Values
from elsinore.connectors.rows.row_tables import answers, bounds_type
from elsinore.planner.time.clock import Clock
from elsinore.result import Result

SECONDS = Clock.of(pa.int64(), "s", [Fraction(10)])
BOUNDS = ("window_start", "window_end")
COLUMNS = {
    "rides": (*BOUNDS, "district", "COUNT(*)", "pace"),
    "clicks": (*BOUNDS, "COUNT(*)"),
    "silent": (*BOUNDS, "COUNT(*)"),
}


def rows(query: str, starts: list[int], groups: dict[str, list[str]], values: dict[str, list[object]]) -> Rows:
    ticks = np.array(starts, np.int64)
    return Rows(
        query,
        ticks,
        ticks + 10,
        {name: pa.array(column).dictionary_encode() for name, column in groups.items()},
        {name: column_of(column) for name, column in values.items()},
    )


def column_of(values: list[object]) -> Values:
    if all(type(value) is int and abs(value) < 2**63 for value in values):
        return np.array(values, np.int64)
    array = np.empty(len(values), object)
    array[:] = values
    return array


def result(*parts: Rows, clock: Clock = SECONDS, approximate: bool = False) -> Result:
    return Result(answers(parts, COLUMNS, clock), COLUMNS, bounds_type(clock), approximate, Metrics(), pa.table({}))


@pytest.fixture
def answered() -> Result:
    return result(
        rows("clicks", [20, 0], {}, {"COUNT(*)": [2**5000 - 1, 5]}),
        rows("rides", [0, 10], {"district": ["west", "east"]}, {"COUNT(*)": [3, 1], "pace": [2.5, None]}),
        rows("rides", [0], {"district": ["center"]}, {"COUNT(*)": [2], "pace": [0.5]}),
    )


def test_rows_are_ordered_and_hold_their_own_columns_only(answered: Result) -> None:
    assert answered.rows() == [
        {"query": "rides", "window_start": 0, "window_end": 10, "district": "center", "COUNT(*)": 2, "pace": 0.5},
        {"query": "rides", "window_start": 0, "window_end": 10, "district": "west", "COUNT(*)": 3, "pace": 2.5},
        {"query": "rides", "window_start": 10, "window_end": 20, "district": "east", "COUNT(*)": 1, "pace": None},
        {"query": "clicks", "window_start": 0, "window_end": 10, "COUNT(*)": 5},
        {"query": "clicks", "window_start": 20, "window_end": 30, "COUNT(*)": 2**5000 - 1},
    ]
    assert len(answered) == 5
    assert answered.head(1) == [answered.rows()[0], answered.rows()[3]]


def test_the_order_of_arrival_does_not_show(answered: Result) -> None:
    again = result(
        rows("rides", [10], {"district": ["east"]}, {"COUNT(*)": [1], "pace": [None]}),
        rows("rides", [0, 0], {"district": ["center", "west"]}, {"COUNT(*)": [2, 3], "pace": [0.5, 2.5]}),
        rows("clicks", [0], {}, {"COUNT(*)": [5]}),
        rows("clicks", [20], {}, {"COUNT(*)": [2**5000 - 1]}),
    )
    assert again.rows() == answered.rows()
    assert again.to_arrow().equals(answered.to_arrow())


def test_one_table_for_all_queries(answered: Result) -> None:
    table = answered.to_arrow()
    assert table.column_names == ["query", "window_start", "window_end", "district", "COUNT(*)", "pace"]
    assert table["window_start"].type == pa.int64()
    assert table["district"].to_pylist() == ["center", "west", "east", None, None]
    assert table["pace"].type == pa.float64()
    counts = table["COUNT(*)"].to_pylist()
    assert counts[:4] == ["2", "3", "1", "5"]
    assert Decimal(counts[4]) == Decimal(2**5000 - 1)
    assert table.schema.metadata is None
    assert table.schema.field("COUNT(*)").metadata == {b"number": b"true"}
    assert table.schema.field("district").metadata is None


def test_a_column_is_as_narrow_as_its_values_allow() -> None:
    counts = [2**63 - 1, 2**63, 10**76]
    kinds = [
        result(rows("clicks", [0, 10], {}, {"COUNT(*)": [1, count]})).to_arrow()["COUNT(*)"].type for count in counts
    ]
    assert kinds == [pa.int64(), DECIMAL, pa.string()]


def test_approximate_says_so() -> None:
    assert result(approximate=True).to_arrow().schema.metadata == {b"approximate": b"true"}


def test_no_rows_at_all() -> None:
    empty = result()
    assert empty.rows() == []
    assert len(empty) == 0
    assert empty.to_arrow().num_rows == 0
    assert empty.to_arrow().column_names == ["query", "window_start", "window_end", "district", "COUNT(*)", "pace"]
    assert "rides: no rows" in repr(empty)


def test_one_query(answered: Result) -> None:
    clicks = answered.query("clicks")
    assert clicks.to_arrow().column_names == ["query", "window_start", "window_end", "COUNT(*)"]
    assert [row["query"] for row in clicks.rows()] == ["clicks", "clicks"]
    assert answered.query("silent").rows() == []
    with pytest.raises(elsinore.InputError, match="no query 'ride'; it has rides, clicks, silent"):
        answered.query("ride")


def test_frames(answered: Result) -> None:
    rides = answered.query("rides")
    assert rides.to_pandas()["COUNT(*)"].tolist() == [2, 3, 1]
    assert rides.to_polars()["pace"].to_list() == [0.5, 2.5, None]
    wide = result(rows("clicks", [0], {}, {"COUNT(*)": [10**30]}))
    assert wide.to_pandas()["COUNT(*)"].tolist() == [Decimal(10**30)]
    assert wide.to_polars()["COUNT(*)"].to_list() == [Decimal(10**30)]
    wider = result(rows("clicks", [0], {}, {"COUNT(*)": [10**75 + 1]}))
    assert wider.to_pandas()["COUNT(*)"].tolist() == [Decimal(10**75 + 1)]
    assert wider.to_polars()["COUNT(*)"].to_list() == [str(10**75 + 1)]


def test_times_have_the_form_of_the_input() -> None:
    halves = Clock.of(pa.int64(), "s", [Fraction(1, 2)])
    starts = [
        row["window_start"] for row in result(rows("clicks", [1, 2], {}, {"COUNT(*)": [1, 1]}), clock=halves).rows()
    ]
    assert starts == [0.5, 1]
    assert [type(start) for start in starts] == [float, int]
    stamps = Clock.of(pa.timestamp("ms"), "s", [Fraction(10)])
    row = result(rows("clicks", [1500], {}, {"COUNT(*)": [1]}), clock=stamps).rows()[0]
    assert row["window_start"] == dt.datetime(1970, 1, 1, 0, 0, 1, 500_000)


def test_a_look_at_it(answered: Result) -> None:
    assert repr(answered) == dedent(
        """\
        rides: 3 rows
        window_start   window_end   district   COUNT(*)   pace
        ──────────────────────────────────────────────────────
                   0           10   center            2    0.5
                   0           10   west              3    2.5
                  10           20   east              1   null

        clicks: 2 rows
        window_start   window_end     COUNT(*)
        ──────────────────────────────────────
                   0           10            5
                  20           30   ≈1.41e1505
          ≈ shortened for display; rows() and to_arrow() have every digit

        silent: no rows"""
    )


def test_long_results_are_cut() -> None:
    text = repr(result(rows("clicks", list(range(0, 5000, 10)), {}, {"COUNT(*)": [1] * 500})))
    assert "clicks: 500 rows" in text
    assert "… 490 more" in text
    assert len(text.splitlines()) < 20


def test_a_notebook_shows_what_the_data_says_and_no_more() -> None:
    html = result(rows("rides", [0], {"district": ["<b>[red]"]}, {"COUNT(*)": [1], "pace": [1.0]}))._repr_html_()
    assert "<td>&lt;b&gt;[red]</td>" in html
    assert "[red]" in repr(result(rows("rides", [0], {"district": ["[red]"]}, {"COUNT(*)": [1], "pace": [1.0]})))


def test_arrow_speaks_to_others(answered: Result) -> None:
    assert pl.from_arrow(answered.to_arrow()).height == 5  # type: ignore[union-attr]
    assert json.dumps(answered.query("rides").rows())
