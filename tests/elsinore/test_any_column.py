"""Test all types and encodings of Arrow: the rows are those of a plain column, or an error names the cause."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import elsinore
from elsinore.connectors.errors import InputError
from elsinore.connectors.feed import Names
from elsinore.connectors.wire.arrow_events import read_arrow
from elsinore.connectors.wire.fitting import fitted
from tests.support.generated import fresh

DAY = dt.datetime(2026, 1, 2, 3)
VALUES: dict[str, tuple[list[Any], list[pa.DataType]]] = {
    "whole": ([1, 2, 2, 7], [pa.int8(), pa.int64(), pa.uint16(), pa.uint64(), pa.decimal128(5, 0)]),
    "huge": ([2**63 + 1, 1, 2, 2**64 - 1], [pa.uint64(), pa.decimal256(60, 0)]),
    "floats": ([1.5, 2.0, -0.25, 2.0], [pa.float16(), pa.float32(), pa.float64()]),
    "decimals": ([Decimal("1.50"), Decimal("2.25")] * 2, [pa.decimal32(5, 2), pa.decimal64(9, 2), pa.decimal128(9, 2)]),
    "truths": ([True, False, True, True], [pa.bool_()]),
    "texts": (["x", "y", "x", ""], [pa.string(), pa.large_string(), pa.string_view()]),
    "bytes": ([b"xy", b"ab", b"xy", b"zz"], [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(2)]),
    "dates": ([DAY.date(), dt.date(2026, 1, 3)] * 2, [pa.date32(), pa.date64()]),
    "clocks": ([dt.time(1), dt.time(2)] * 2, [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")]),
    "moments": ([DAY, DAY.replace(second=1)] * 2, [pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("us", "UTC")]),
    "spans": ([dt.timedelta(1), dt.timedelta(0, 5)] * 2, [pa.duration("s"), pa.duration("ns")]),
    "intervals": ([(1, 2, 3), (0, 0, 1)] * 2, [pa.month_day_nano_interval()]),
    "lists": ([[1], [], [1, 2], [1]], [pa.list_(pa.int64()), pa.large_list(pa.int8()), pa.list_view(pa.int64())]),
    "pairs": ([[1, 2], [1, 3]] * 2, [pa.list_(pa.int64(), 2)]),
    "records": ([{"a": 1}, {"a": 2}] * 2, [pa.struct([("a", pa.int64())])]),
    "maps": ([[("a", 1)], []] * 2, [pa.map_(pa.string(), pa.int64())]),
    "nothing": ([None] * 4, [pa.null()]),
}  # fmt: skip
UNIONS = [
    pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])]),
    pa.UnionArray.from_dense(
        pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array([1]), pa.array(["b"])]
    ),
]
EXTENSIONS = [
    pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, None, 0], pa.int8())),
    pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0" * 16, None], pa.binary(16))),
    pa.ExtensionArray.from_storage(pa.json_(), pa.array(["1", None])),
]

ROLES = {
    "SUM": "RETURN SUM(A.v) PATTERN A+",
    "AVG": "RETURN AVG(A.v), COUNT(A.v) PATTERN A+",
    "MIN": "RETURN MIN(A.v), MAX(A.v) PATTERN A+",
    "GROUP-BY": "RETURN COUNT(*) PATTERN A+ GROUP-BY v",
    "equivalence": "RETURN COUNT(*) PATTERN SEQ(A x, A y) WHERE [v]",
    "WHERE number": "RETURN COUNT(*) PATTERN A+ WHERE A.v < 2",
    "WHERE text": "RETURN COUNT(*) PATTERN A+ WHERE A.v = 'x'",
    "WHERE truth": "RETURN COUNT(*) PATTERN A+ WHERE A.v",
    "WHERE sum": "RETURN COUNT(*) PATTERN A+ WHERE A.v + 1 > 2",
    "NEXT": "RETURN COUNT(*) PATTERN A+ WHERE A.v <= NEXT(A).v",
    "type": "RETURN COUNT(*) PATTERN x+",
    "time": "RETURN COUNT(*) PATTERN A+",
}

WITHIN = " WITHIN 10 seconds SLIDE 10 seconds"


def _dictionary_with_nulls(values: pa.Array) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(range(len(values)), pa.int32()), values)


def _runs(values: pa.Array) -> pa.Array:
    return pa.RunEndEncodedArray.from_arrays(pa.array(range(1, len(values) + 1), pa.int32()), values)


SHAPES: dict[str, Callable[[pa.Array], pa.Array | pa.ChunkedArray]] = {
    "plain": lambda values: values,
    "chunked": lambda values: pa.chunked_array([values.slice(0, 1), values.slice(1)]),
    "chunked with an empty one": lambda values: pa.chunked_array(
        [values.slice(0, 1), values.slice(1, 0), values.slice(1)]
    ),
    "sliced": lambda values: pa.concat_arrays([values, values]).slice(len(values)),
    "dictionary": lambda values: values.dictionary_encode(),
    "dictionary with nulls": _dictionary_with_nulls,
    "chunked dictionary with nulls": lambda values: pa.chunked_array(
        [_dictionary_with_nulls(values.slice(0, 2)), _dictionary_with_nulls(values.slice(2))]
    ),
    "runs": _runs,
    "chunked runs": lambda values: pa.chunked_array([_runs(values.slice(0, 1)), _runs(values.slice(1))]),
}


@st.composite
def columns(draw: st.DrawFn) -> pa.Array:
    values, kinds = VALUES[draw(st.sampled_from(sorted(VALUES)))]
    kind = draw(st.sampled_from(kinds))
    found = draw(st.lists(st.sampled_from(values), max_size=6))
    nulls = draw(st.sampled_from([set(), {0}, {0, 1, 2}, {len(found) - 1}, set(range(6))]))
    return pa.array([None if n in nulls else value for n, value in enumerate(found)], kind)


def table(column: pa.Array | pa.ChunkedArray, role: str) -> pa.Table:
    count = len(column)
    found = {"type": pa.array(["A"] * count, pa.string()), "time": pa.array(range(count), pa.int64())}
    return pa.table(found | {role if role in found else "v": column})


def rows(events: Any, role: str) -> Any:
    """Return the rows; None after an error that names the cause."""
    try:
        result = elsinore.run(ROLES[role] + WITHIN, events, engine="local")
        return repr(result.rows()), result.metrics.dead
    except (elsinore.InputError, elsinore.WorkloadError):
        return None


def check(values: pa.Array, shape: str, role: str) -> None:
    try:
        column = SHAPES[shape](values)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):
        return
    found = rows(table(column, role), role)
    assert found is None or found == rows(table(values, role), role)


@given(columns(), st.sampled_from(sorted(SHAPES)), st.sampled_from(sorted(ROLES)))
@example(pa.array(["x", "y"], pa.string_view()), "dictionary with nulls", "time")
@example(pa.array(["", "x"]), "chunked", "time")
@example(pa.array([1.5, 2.5, 1.5], pa.float16()), "chunked dictionary with nulls", "GROUP-BY")
@fresh(200)
def test_any_column_gives_the_rows_of_a_plain_one_or_an_error(values: pa.Array, shape: str, role: str) -> None:
    check(values, shape, role)


@pytest.mark.long
@given(columns(), st.sampled_from(sorted(SHAPES)), st.sampled_from(sorted(ROLES)))
@settings(deadline=None, max_examples=20_000)
def test_any_column_of_many_gives_the_rows_of_a_plain_one_or_an_error(values: pa.Array, shape: str, role: str) -> None:
    check(values, shape, role)


@given(columns(), st.sampled_from(sorted(SHAPES)), st.sampled_from(["type", "time", "v"]), st.booleans())
@fresh(150)
def test_any_column_of_an_arrow_body_is_taken_or_refused(values: pa.Array, shape: str, role: str, known: bool) -> None:
    try:
        events = table(SHAPES[shape](values), role)
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, events.schema) as writer:
            writer.write_table(events)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):
        return
    columns = {"type": "string", "time": "int64", "v": "float64"} if known else {}
    try:
        found = fitted(read_arrow(sink.getvalue(), 100, 1 << 20), Names("type", "time"), columns)
    except InputError:
        return
    assert found.table.num_rows == len(values)


@given(columns(), st.sampled_from(["csv", "parquet", "dicts"]), st.sampled_from(sorted(ROLES)))
@fresh(100)
def test_any_column_of_a_file_gives_rows_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, values: pa.Array, form: str, role: str
) -> None:
    path = tmp_path_factory.mktemp("events") / f"a.{form}"
    try:
        if form == "csv":
            pacsv.write_csv(table(values, role), path)
        elif form == "parquet":
            pq.write_table(table(values, role), path)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return
    found = rows(path if form != "dicts" else table(values, role).to_pylist(), role)
    assert form != "parquet" or not len(values) or found is None or found == rows(table(values, role), role)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("values", [*UNIONS, *EXTENSIONS], ids=lambda values: str(values.type)[:20])
def test_unions_and_extensions_give_rows_or_an_error(values: pa.Array, role: str) -> None:
    for column in (values, values.slice(1), pa.chunked_array([values, values]), pa.chunked_array([], values.type)):
        rows(table(column, role), role)


@pytest.mark.parametrize("read", [lambda table: table, pa.Table.to_reader, lambda table: pa.table(table)])
def test_an_empty_chunk_of_one_column_changes_no_rows(read: Callable[[pa.Table], Any]) -> None:
    """Where chunks of columns differ, Arrow cuts the other columns, and leaves chunks that it cannot concatenate."""
    values = pa.chunked_array([[1], [], [2, 3]], pa.int64())
    assert rows(read(table(values, "SUM")), "SUM") == rows(table(values.combine_chunks(), "SUM"), "SUM")


@pytest.mark.parametrize("role", ["GROUP-BY", "equivalence", "MIN", "SUM", "WHERE number"])
@pytest.mark.parametrize("kind", ["bytes", "intervals", "lists", "pairs", "records", "maps"])
def test_values_that_no_query_can_use_are_refused_by_name(kind: str, role: str) -> None:
    values, kinds = VALUES[kind]
    with pytest.raises(InputError, match=r"column 'v' holds .*, which no query can use"):
        elsinore.run(ROLES[role] + WITHIN, table(pa.array(values, kinds[0]), role), engine="local").rows()


@pytest.mark.parametrize("item", ["SUM", "AVG"])
def test_texts_behind_nulls_are_not_added_up(item: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"type": "A", "time": 0, "v": null}\n', encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('{"type": "A", "time": 1, "v": "x"}\n', encoding="utf-8")
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    with pytest.raises(elsinore.WorkloadError, match=r"A\.v holds string values; SUM and AVG add up numbers"):
        elsinore.run(f"RETURN {item}(A.v) PATTERN A+" + WITHIN, files, engine="local")


def test_names_of_columns_that_are_not_utf_8_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"type": ["A"], "time": [1], "qqqq": [1]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"qqqq", b"\xff\xfeqq"))
    with pytest.raises(InputError, match="a column whose name is not UTF-8"):
        elsinore.run(ROLES["time"] + WITHIN, path, engine="local")


ZONES = ("Mars/Phobos", "Europe", "+1", "../../UTC", "x" * 5000)


@pytest.mark.parametrize("role", ["time", "MIN", "GROUP-BY"])
@pytest.mark.parametrize("zone", ZONES, ids=lambda zone: str(zone[:12]))
def test_time_zones_that_are_not_known_are_refused_by_name(zone: str, role: str) -> None:
    values = pa.array([DAY, DAY], pa.timestamp("us", zone))
    for column in (values, values.dictionary_encode()):
        with pytest.raises(InputError, match=r"holds timestamps of the time zone .*, which is not known here"):
            elsinore.run(ROLES[role] + WITHIN, table(column, role), engine="local").rows()


def test_a_body_whose_time_zone_is_no_text_is_refused() -> None:
    column = pa.array([DAY, DAY], pa.timestamp("us", "qqqq"))
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table(column, "v").schema) as writer:
        writer.write_table(table(column, "v"))
    with pytest.raises(InputError, match="of a time zone whose name is not UTF-8"):
        read_arrow(sink.getvalue().replace(b"qqqq", b"qq\xff\xc3"), 100, 1 << 20)


@pytest.mark.parametrize(("role", "values"), [("time", ["2026-01-02T03:04:05"] * 2), ("GROUP-BY", ["x", "y"])])
def test_dictionaries_of_text_views_are_read(role: str, values: list[str]) -> None:
    """Polars exports texts as views; Arrow neither decodes nor joins dictionaries of them."""
    plain = pa.array(values)
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), plain.cast(pa.string_view()))
    for column in (coded, pa.chunked_array([coded.slice(0, 1), coded.slice(1)])):
        assert rows(table(column, role), role) == rows(table(plain, role), role) is not None


@pytest.mark.parametrize("role", ["GROUP-BY", "type", "WHERE text"])
def test_texts_that_are_not_utf_8_are_refused(role: str) -> None:
    values = pa.array([b"x", b"\xff"]).view(pa.string())
    with pytest.raises(InputError, match=r"column '(v|type)' holds texts that are not UTF-8"):
        elsinore.run(ROLES[role] + WITHIN, table(values, role), engine="local").rows()
