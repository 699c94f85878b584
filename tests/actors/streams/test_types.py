"""What can be added up and compared, and what cannot; and events of which nothing can be expected."""

from __future__ import annotations

import datetime as dt
import json
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elsinore
from elsinore.connectors.errors import EventError, InputError
from elsinore.planner.language.errors import WorkloadError
from tests.support.generated import fresh

ALL = "WITHIN 10 seconds SLIDE 10 seconds"
WINDOWS = [ALL, "WITHIN 10 seconds SLIDE 5 seconds", "WITHIN 10 seconds SLIDE 2 seconds", "WITHIN 10 seconds"]


def run(items: str, column: pa.Array, window: str = ALL, where: str = "") -> list[dict[str, Any]]:
    table = pa.table({"type": ["A"] * len(column), "time": list(range(len(column))), "v": column})
    rows = elsinore.run(f"RETURN {items} PATTERN A+ {where} {window}", table).rows()
    return [row for row in rows if row["window_start"] <= 0 and row["window_end"] >= len(column) - 1]


MINIMA: dict[str, tuple[pa.Array, Any, Any]] = {
    "timestamps": (
        pa.array([5, None, -7, 3], pa.timestamp("s")),
        dt.datetime(1969, 12, 31, 23, 59, 53),
        dt.datetime(1970, 1, 1, 0, 0, 5),
    ),
    "timestamps in a zone": (
        pa.array([5, None, 7, 3], pa.timestamp("ms", "UTC")),
        dt.datetime(1970, 1, 1, 0, 0, 0, 3000, tzinfo=dt.UTC),
        dt.datetime(1970, 1, 1, 0, 0, 0, 7000, tzinfo=dt.UTC),
    ),
    "dates": (pa.array([5, None, 7, 3], pa.date32()), dt.date(1970, 1, 4), dt.date(1970, 1, 8)),
    "booleans": (pa.array([True, None, False, True]), False, True),
    "integers": (pa.array([2**63 - 1, None, -(2**63), 0]), -(2**63), 2**63 - 1),
    "floats": (pa.array([1e300, None, -1e-300, -1e300]), -1e300, 1e300),
    "nothing": (pa.array([None, None, None], pa.int64()), None, None),
    "nulls": (pa.nulls(3), None, None),
}


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("kind", MINIMA)
def test_minima_keep_their_type(kind: str, window: str) -> None:
    column, least, most = MINIMA[kind]
    rows = run("MIN(A.v), MAX(A.v)", column, window)
    assert rows
    assert (rows[-1]["MIN(A.v)"], rows[-1]["MAX(A.v)"]) == (least, most)
    assert type(rows[-1]["MIN(A.v)"]) is type(least)


TEXTS = pa.array(["b", "a", None])
TIMES = pa.array([1, 2, None], pa.timestamp("s"))


@pytest.mark.parametrize(
    ("items", "column", "where", "message"),
    [
        ("SUM(A.v)", TEXTS, "", "SUM and AVG add up numbers"),
        ("AVG(A.v)", TEXTS.dictionary_encode(), "", "SUM and AVG add up numbers"),
        ("SUM(A.v)", TIMES, "", "SUM and AVG add up numbers"),
        ("SUM(A.v)", pa.array([True, False]), "", "SUM and AVG add up numbers"),
        ("MIN(A.v)", TEXTS, "", "MIN and MAX compare"),
        ("MAX(A.v)", TEXTS.dictionary_encode(), "", "MIN and MAX compare"),
        ("COUNT(*)", TEXTS, "WHERE A.v < 3", "compares a text with a number"),
        ("COUNT(*)", TEXTS, "WHERE A.v + 1 < 3", "calculates with numbers only"),
        ("COUNT(*)", pa.array([1, 2]), "WHERE A.v = 'a'", "compares a number with a text"),
        ("COUNT(*)", TIMES, "WHERE A.v = 3", "with a number"),
        ("COUNT(*)", TIMES, "WHERE A.v = 'yesterday'", "yesterday"),
    ],
)
def test_what_cannot_be_is_said_clearly(items: str, column: pa.Array, where: str, message: str) -> None:
    for window in WINDOWS:
        with pytest.raises((WorkloadError, InputError)) as caught:
            run(items, column, window, where)
        assert message in str(caught.value)


def test_texts_and_times_are_compared_with_their_like() -> None:
    assert run("COUNT(*)", TEXTS, where="WHERE A.v < NEXT(A).v")[0]["COUNT(*)"] == 3
    assert run("COUNT(*)", TEXTS, where="WHERE A.v > NEXT(A).v")[0]["COUNT(*)"] == 4
    assert run("COUNT(*)", TIMES, where="WHERE A.v >= '1970-01-01 00:00:02'")[0]["COUNT(*)"] == 1


anything: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.integers(-3, 3),
        st.sampled_from([2**62, 2**63, -(2**63), 2**64, 10**30]),
        st.floats(),
        st.text(max_size=4),
        st.binary(max_size=3),
        st.datetimes(),
        st.dates(),
        st.timedeltas(),
        st.decimals(allow_infinity=False, allow_nan=False),
        st.fractions(),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=2), inner, max_size=2)),
    max_leaves=3,
)
usual = st.integers(-5, 20)


def sometimes(value: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(value, value, value, value, anything)


event = st.fixed_dictionaries(
    {},
    optional={
        "type": sometimes(st.sampled_from(["A", "B", "C"])),
        "time": sometimes(usual),
        "v": sometimes(usual),
        "w": sometimes(st.floats(-5, 5)),
        "k": sometimes(st.sampled_from(["x", "y"])),
        "zzz": anything,
    },
)
QUERIES = [
    f"RETURN k, COUNT(*), SUM(B.v), AVG(B.w), MIN(B.v), MAX(B.w) PATTERN SEQ(A, B+) {{}} GROUP-BY k {window}"
    for window in WINDOWS
]
WHERE = ["", "WHERE B.v < NEXT(B).v", "WHERE B.v > 2 AND A.w != B.w", "WHERE [w] AND B.v IS NOT NULL"]
REFUSED = (WorkloadError, InputError, EventError)


@fresh(150)
@given(st.lists(event, max_size=8), st.sampled_from(QUERIES), st.sampled_from(WHERE), st.booleans())
def test_mangled_events_give_rows_or_a_clear_error(events: list[Any], query: str, where: str, strict: bool) -> None:
    with suppress(*REFUSED):
        result = elsinore.run(query.format(where), events, strict=strict)
        assert result.metrics.rows == len(result.rows()) == result.to_arrow().num_rows


@pytest.mark.parametrize("value", [Decimal("Infinity"), Decimal("-Infinity")])
def test_infinite_decimals(value: Decimal) -> None:
    with suppress(*REFUSED):
        elsinore.run(QUERIES[0].format(""), [{"type": "A", "time": 1, "k": "x", "v": value}])


@fresh(60)
@given(st.lists(anything, max_size=4), st.sampled_from(QUERIES))
def test_things_that_are_no_events(events: list[Any], query: str) -> None:
    with suppress(*REFUSED):
        elsinore.run(query.format(""), events)


@fresh(60)
@given(st.lists(event, max_size=6), st.sampled_from(QUERIES), st.sampled_from(WHERE), st.data())
def test_mangled_lines(tmp_path_factory: Any, events: list[Any], query: str, where: str, data: st.DataObject) -> None:
    """JSON lines, some of them cut short."""
    lines = [json.dumps(one, default=str) for one in events]
    lines = [line[: data.draw(st.integers(0, len(line)))] if data.draw(st.booleans()) else line for line in lines]
    path: Path = tmp_path_factory.mktemp("lines") / "events.jsonl"
    path.write_text("\n".join(lines), "utf-8", "replace")
    with suppress(*REFUSED):
        elsinore.run(query.format(where), path)
