"""Test that all kinds of sources give the same batches."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from elsinore.connectors.errors import EventError, InputError
from elsinore.connectors.sources import open_events
from tests.connectors.reading import batches, letters, read

EVENTS = [
    {"type": "Request", "time": 1, "v": 3, "w": 0.5, "g": "x", "b": True},
    {"type": "Travel", "time": 3, "v": None, "w": None, "g": None, "b": None},
    {"type": "Travel", "time": 2, "v": -7, "w": 1e30, "g": "ä\u20ac", "b": False},
]
TABLE = pa.Table.from_pylist(EVENTS)


class Stream:
    """An object with the Arrow C stream interface and nothing else."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return TABLE.__arrow_c_stream__(requested_schema)


FORMS: dict[str, Callable[[], Any]] = {
    "dicts": lambda: EVENTS,
    "generator": lambda: iter(EVENTS),
    "table": lambda: TABLE,
    "chunked table": lambda: pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(1)]),
    "dictionary types": lambda: TABLE.set_column(0, "type", TABLE.column(0).dictionary_encode()),
    "large and view texts": lambda: TABLE.set_column(0, "type", TABLE.column(0).cast(pa.string_view())).set_column(
        4, "g", TABLE.column("g").cast(pa.large_string())
    ),
    "record batch": lambda: TABLE.to_batches()[0],
    "reader": lambda: TABLE.to_reader(),
    "C stream": Stream,
    "pandas": lambda: TABLE.to_pandas(),
    "pandas, Arrow types": lambda: TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "Polars": lambda: pl.from_arrow(TABLE),
    "Polars, lazy": lambda: pl.DataFrame(pl.from_arrow(TABLE)).lazy(),
    "Polars, chunked": lambda: pl.concat([pl.DataFrame(EVENTS[:1]), pl.DataFrame(EVENTS[1:])], rechunk=False),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_events(form: str) -> None:
    assert read(FORMS[form](), "v", "w", "g", "b") == EVENTS


@pytest.mark.parametrize("form", FORMS)
def test_what_is_in_memory_is_one_batch(form: str) -> None:
    source = open_events(FORMS[form]())
    assert source.in_memory == (form not in {"reader", "C stream"})
    assert len(batches(source)) == 1
    assert source.total == (len(EVENTS) if source.in_memory else None)


def test_a_single_chunk_goes_through_without_a_copy() -> None:
    table = pa.table(
        {
            "type": pa.array(["A", "B"]).dictionary_encode(),
            "time": [1, 2],
            "v": [1, 2],
            "w": [0.5, 1.5],
            "g": pa.array(["x", "y"]).dictionary_encode(),
        }
    )
    (batch,) = batches(open_events(table), ("v", "w", "g"))
    for name in table.column_names:
        given, got = table.column(name).chunk(0), batch.column(name)
        if pa.types.is_dictionary(given.type):
            given, got = given.indices, got.indices
        assert got.buffers()[-1].address == given.buffers()[-1].address, name


def test_dictionaries_of_any_width_keep_their_codes() -> None:
    for index in (pa.int8(), pa.uint32()):
        types = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1], index), pa.array(["A", "B"], pa.large_string()))
        (batch,) = batches(open_events(pa.table({"type": types, "time": [1, 2, 3]})))
        assert batch.column("type").indices.to_pylist() == [1, 0, 1]


def test_a_dictionary_that_says_a_text_twice_is_mended() -> None:
    types = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3]), pa.array(["A", "B", "A", None]))
    (batch,) = batches(open_events(pa.table({"type": types, "time": [1, 2, 3, 4]})))
    assert batch.column("type").to_pylist() == ["A", "B", "A"]
    assert batch.column("type").dictionary.to_pylist() == ["A", "B"]


def test_polars_categories_and_enums() -> None:
    frame = pl.DataFrame({"type": ["A", "B"], "time": [1, 2], "g": ["x", None]})
    frame = frame.with_columns(pl.col("type").cast(pl.Categorical), pl.col("g").cast(pl.Enum(["y", "x"])))
    assert read(frame, "g") == [{"type": "A", "time": 1, "g": "x"}, {"type": "B", "time": 2, "g": None}]


@pytest.mark.parametrize(
    ("times", "form", "seconds"),
    [
        (pa.array([1, 2], pa.int8()), pa.int64(), [1, 2]),
        (pa.array([1, 2], pa.uint64()), pa.int64(), [1, 2]),
        (pa.array([1.5, 2], pa.float32()), pa.float64(), [1.5, 2]),
        (pa.array([dt.date(1970, 1, 2), dt.date(1970, 1, 3)]), pa.timestamp("s"), [86400, 172800]),
        (pa.array([1, 2], pa.timestamp("ns", "Europe/Paris")), pa.timestamp("ns", "Europe/Paris"), [1e-9, 2e-9]),
        (pa.array(["1970-01-01T00:00:01.5", "1970-01-02"]), pa.timestamp("us"), [1.5, 86400]),
        (pa.array(["1970-01-01 00:00:01Z", "1970-01-01T02:00:02+02:00"]), pa.timestamp("us", "UTC"), [1, 2]),
        (pa.array(["1970-01-01T00:00:00.000000001", "1970-01-01"]), pa.timestamp("ns"), [1e-9, 0]),
        (pa.array(["1970-01-02"] * 2).dictionary_encode(), pa.timestamp("us"), [86400, 86400]),
        (pa.array(["1970-01-02"] * 2, pa.string_view()), pa.timestamp("us"), [86400, 86400]),
        (pa.array([1, 2], pa.decimal128(9, 0)), pa.int64(), [1, 2]),
        (pa.array([None, None], pa.null()), pa.int64(), []),
    ],
)
def test_times(times: pa.Array, form: pa.DataType, seconds: list[float]) -> None:
    from elsinore.planner.time.clock import Clock

    source = open_events(pa.table({"type": ["A", "A"], "time": times}))
    assert source.form == form
    clock = Clock.of(form, "s", ())
    (batch,) = source.batches(clock, ())
    assert [tick / clock.ticks_per_second for tick in batch.column("time").to_pylist()] == seconds


def test_time_units_and_names() -> None:
    source = open_events([{"what": "A", "when": 3}], type_column="what", time_column="when", time_unit="min")
    (batch,) = batches(source)
    assert batch.to_pylist() == [{"type": "A", "time": 180}]
    assert source.attributes == {}


@pytest.mark.parametrize("events", [[], (), iter([]), pa.table({"type": pa.array([], "string"), "time": []})])
def test_no_events(events: Any) -> None:
    assert read(events) == []


def test_attributes_come_out_in_few_types() -> None:
    columns = {
        "u8": (pa.array([1, 2], pa.uint8()), pa.int64(), [1, 2]),
        "f32": (pa.array([0.5, float("nan")], pa.float32()), pa.float64(), [0.5, None]),
        "inf": (pa.array([float("inf"), 1.0]), pa.float64(), [None, 1.0]),
        "date": (pa.array([dt.date(2026, 1, 1)] * 2), pa.date32(), [dt.date(2026, 1, 1)] * 2),
        "whole": (pa.array([5, None], pa.decimal128(20, 0)), pa.int64(), [5, None]),
        "price": (pa.array([12.34, 0.1]).cast(pa.decimal128(20, 2)), pa.float64(), [12.34, 0.1]),
        "view": (pa.array(["x", "y"], pa.string_view()), pa.string(), ["x", "y"]),
        "coded": (
            pa.array(["x", None], pa.large_string()).dictionary_encode(),
            pa.dictionary(pa.int32(), pa.string()),
            ["x", None],
        ),
        "coded ints": (pa.array([7, 7]).dictionary_encode(), pa.int64(), [7, 7]),
        "runs": (pa.RunEndEncodedArray.from_arrays([2], pa.array([4])), pa.int64(), [4, 4]),
        "null": (pa.nulls(2), pa.null(), [None, None]),
    }
    table = pa.table({"type": ["A", "A"], "time": [1, 2]} | {name: column for name, (column, _, _) in columns.items()})
    source = open_events(table)
    assert source.attributes == {name: kind for name, (_, kind, _) in columns.items()}
    (batch,) = batches(source, [*columns, "missing"])
    for name, (_, kind, values) in columns.items():
        assert batch.column(name).type == kind, name
        assert batch.column(name).to_pylist() == values, name
    assert batch.column("missing").to_pylist() == [None, None]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([2**63], pa.uint64()), "column 'v' holds uint64 with values that int64 cannot carry"),
        (pa.array([[1]]), "column 'v' holds list<item: int64>, which no query can use"),
        (pa.array([b"x"]), "column 'v' holds binary, which no query can use"),
        (pa.array([10**20], pa.decimal128(30, 0)), "column 'v' holds decimal128(30, 0) with values that int64"),
        (pa.array([10**20], pa.decimal128(30, 0)).cast(pa.decimal128(30, 2)), None),
    ],
)
def test_attributes_that_no_query_can_use(column: pa.Array, message: str | None) -> None:
    table = pa.table({"type": ["A"], "time": [1], "v": column})
    assert len(read(table)) == 1, "a column that no query reads is ignored"
    if message is None:
        assert read(table, "v") == [{"type": "A", "time": 1, "v": 1e20}]
    else:
        with pytest.raises(InputError, match=message.replace("(", r"\(").replace(")", r"\)")):
            read(table, "v")


def test_a_decimal_with_too_many_digits_is_refused() -> None:
    from decimal import Decimal

    table = pa.table({"type": ["A"], "time": [1], "v": [Decimal("12345678901234567.89")]})
    with pytest.raises(InputError, match="more digits than a float carries"):
        read(table, "v")


# Bad events


def test_bad_events_are_counted_and_written_down(tmp_path: Path) -> None:
    table = pa.table({"type": ["A", None, "", "B", "C"], "time": [1.0, 2.0, 3.0, float("nan"), 1e300], "v": range(5)})
    source = open_events(table, dead_letters=tmp_path / "dead.jsonl")
    (batch,) = batches(source, ["v"])
    assert batch.to_pylist() == [{"type": "A", "time": 10**9, "v": 0}]
    assert source.dead == 4
    found = letters(tmp_path / "dead.jsonl")
    assert [letter["row"] for letter in found] == [1, 2, 3, 4]
    assert [letter["reason"].split(" (")[0] for letter in found[:3]] == ["it has no type"] * 2 + ["it has no time"]
    assert "'1e+300' cannot be read" in found[3]["reason"]
    assert found[0]["event"] == {"type": None, "time": 2.0, "v": 1}
    assert found[0]["source"] == "the table"


def test_without_a_file_they_are_counted_all_the_same() -> None:
    source = open_events(pa.table({"type": ["A", None], "time": [1, 2]}))
    assert source.dead == 0
    batches(source)
    assert source.dead == 1


def test_strict_stops_at_the_first() -> None:
    with pytest.raises(EventError, match=r"the table, row 1: it has no type \(column 'type'\)\n  the event: .*\n  Fix"):
        read(pa.table({"type": ["A", None], "time": [1, 2]}), strict=True)


def test_times_of_text_that_are_none(tmp_path: Path) -> None:
    table = pa.table({"type": ["A"] * 3, "time": ["2026-01-01", "soon", "2026-01-01T00:00:01Z"]})
    source = open_events(table, dead_letters=tmp_path / "dead")
    batches(source)
    assert source.form == pa.timestamp("us", "UTC")
    assert "soon" in {letter["event"]["time"] for letter in letters(tmp_path / "dead")}


def test_whole_floats_among_integers_in_a_stream_of_batches() -> None:
    first = pa.record_batch({"type": ["A"], "time": [1], "v": [1]})
    assert read(pa.Table.from_batches([first]).to_reader(), "v") == [{"type": "A", "time": 1, "v": 1}]


# Dicts


def test_dicts_know_which_type_has_which_attribute() -> None:
    events = [{"type": "A", "time": 1, "v": 1}, {"type": "B", "time": 2, "w": 2}, {"type": "A", "time": 3, "u": None}]
    source = open_events(events)
    assert source.attributes_of_types == {"A": {"v", "u"}, "B": {"w"}}
    assert open_events(TABLE).attributes_of_types is None


def test_dicts_mix_whole_numbers_and_floats() -> None:
    events = [{"type": "A", "time": 1, "v": 1}, {"type": "A", "time": 2.5, "v": 0.5}]
    assert [event["v"] for event in read(events, "v")] == [1.0, 0.5]
    assert open_events(events).form == pa.float64()


def test_dicts_of_numpy_and_pandas_values() -> None:
    events = [
        {"type": "A", "time": np.int64(1), "v": np.float32(0.5), "b": np.True_},
        {"type": "A", "time": 2, "v": pd.NA, "b": False},
        {"type": "A", "time": 3, "v": float("nan"), "b": None},
    ]
    read_events = read(events, "v", "b")
    assert [(event["v"], event["b"]) for event in read_events] == [(0.5, True), (None, False), (None, None)]


def test_dicts_with_datetimes() -> None:
    zone = dt.timezone(dt.timedelta(hours=2))
    source = open_events([{"type": "A", "time": dt.datetime(1970, 1, 1, 2, 0, 1, tzinfo=zone)}])
    assert pa.types.is_timestamp(source.form)
    assert source.form.tz is not None
    assert batches(source)[0].column("time").to_pylist() == [1_000_000]


def test_bad_dicts(tmp_path: Path) -> None:
    events: list[dict[str, Any]] = [
        {"type": "A", "time": 1},
        {"type": 5, "time": 2},
        {"time": 3},
        {"type": "A", "time": "noon"},
        {"type": "A"},
        {"type": "A", "time": 2**70},
        {"type": "\ud800", "time": 2},
        {"type": "B", "time": 3},
    ]
    source = open_events(events, dead_letters=tmp_path / "dead")
    (batch,) = batches(source)
    assert batch.to_pylist() == [{"type": "A", "time": 1}, {"type": "B", "time": 3}]
    assert sorted(letter["number"] for letter in letters(tmp_path / "dead")) == [1, 2, 3, 4, 5, 6]


def test_a_dead_letter_of_a_dict_holds_the_event_and_its_number(tmp_path: Path) -> None:
    """Whatever attributes the event has."""
    events = [{"type": "A", "time": 1}, {"type": 5, "time": 2, "event": "x", "number": 7}, {"time": 3, "reason": "y"}]
    batches(open_events(events, dead_letters=tmp_path / "dead"), ["event", "number", "reason"])
    found = letters(tmp_path / "dead")
    assert [{name: value for name, value in one["event"].items() if value is not None} for one in found] == events[1:]
    assert [one["number"] for one in found] == [1, 2]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, 2**63], "event 1: 'v' is 9223372036854775808, beyond 64 bits"),
        ([None, 1, "x"], "event 2: 'v' is 'x', and 1 before it"),
        ([True, 2], "event 1: 'v' is 2, and True before it"),
        ([0.5, 2**53 + 1], "event 1: 'v' is 9007199254740993, and 0.5 before it"),
        ([dt.datetime(2026, 1, 1), dt.datetime(2026, 1, 1, tzinfo=dt.UTC)], "event 1: 'v' is datetime"),
        ([1, object()], "event 1: 'v' is <object"),
        (["\ud800"], "event 0: 'v' is"),
    ],
)
def test_attributes_that_mix_kinds(values: list[Any], message: str) -> None:
    events = [{"type": "A", "time": index, "v": value} for index, value in enumerate(values)]
    assert len(read(events)) == len(values), "an attribute that no query reads is ignored"
    with pytest.raises(EventError) as caught:
        read(events, "v")
    assert message in str(caught.value)


# Invalid input


@pytest.mark.parametrize(
    ("events", "options", "message"),
    [
        (5, {}, "events are int, which cannot be read; give a pandas or Polars frame"),
        ({"type": ["A"]}, {}, "events are dict"),
        ([1], {}, "event 0 is 1, not a dict"),
        ([{1: 2}], {}, "event 0 is {1: 2}, not a dict with texts as keys"),
        (
            [{"typ": "A", "time": 1}],
            {},
            "no type column 'type'. Its columns are: typ, time. Did you mean type_column='typ'",
        ),
        (pa.table({"type": ["A"], "t": [1]}), {}, "the table has no time column 'time'"),
        (pa.table({"type": ["A"], "t": [1]}), {"time_column": "type"}, "both 'type'"),
        (pa.table({"type": ["A"], "time": [True]}), {}, "the time column 'time' holds bool"),
        (pa.table({"type": ["A"], "time": ["soon"]}), {}, "holds texts such as 'soon'"),
        (pa.table({"type": [1], "time": [1]}), {}, "the type column 'type' holds int64"),
        (pa.table([[1], ["A"], ["A"]], ["time", "type", "type"]), {}, "several columns called 'type'"),
        (TABLE, {"time_unit": "weeks"}, "time_unit is 'weeks'; it must be one of ns, us, ms, s, min, h, d"),
        ("nowhere.csv", {}, "there is no file nowhere.csv"),
        ("no*where.csv", {}, "no file matches no*where.csv"),
        (".", {}, "is a folder"),
        ("pyproject.toml", {}, "is not that of a known format"),
    ],
)
def test_input_that_is_none(events: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(events, **options)
    assert message in str(caught.value)


def test_a_dead_letter_file_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: No such file"):
        open_events([], dead_letters=tmp_path / "no" / "dead")


def test_a_pandas_column_of_many_kinds_matters_only_when_asked_for() -> None:
    frame = pd.DataFrame({"type": ["A", "B"], "time": [1, 2], "v": pd.Series([1, "x"], dtype=object)})
    assert len(read(frame)) == 2
    with pytest.raises(InputError, match="column 'v' of the frame has no single type"):
        read(frame, "v")


def test_a_stream_that_breaks_off() -> None:
    def broken() -> Any:
        yield TABLE.to_batches()[0]
        raise OSError("the wire is cut")

    with pytest.raises(InputError, match="broke off: the wire is cut"):
        read(pa.RecordBatchReader.from_batches(TABLE.schema, broken()))


# Many files


def test_many_files_and_their_progress(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet")
    pacsv.write_csv(TABLE.drop_columns(["b"]), tmp_path / "b.csv")
    floats = TABLE.set_column(2, "v", pa.array([0.5, None, 2.5]))
    pq.write_table(floats, tmp_path / "c.parquet")
    source = open_events([tmp_path / "a.parquet", str(tmp_path / "b.csv"), tmp_path / "c*"])
    assert (source.total, source.in_memory, source.attributes["v"]) == (None, False, pa.float64())
    parts = batches(source, ["v", "b"])
    assert [part.column("v").to_pylist() for part in parts] == [[3, None, -7], [3, None, -7], [0.5, None, 2.5]]
    assert parts[1].column("b").null_count == 3
    assert source.progress() == 1
    assert open_events(str(tmp_path / "*.parquet")).total == 6


def test_files_whose_times_do_not_go_together(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet")
    pq.write_table(TABLE.set_column(1, "time", TABLE.column("time").cast(pa.timestamp("s"))), tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"holds int64 in one file and timestamp\[ms\] in another"):
        open_events([tmp_path / "a.parquet", tmp_path / "b.parquet"])


def test_files_whose_attributes_do_not_go_together(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet")
    pq.write_table(TABLE.set_column(2, "v", pa.array(["x", "y", "z"])), tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"column 'v' holds string in .*b\.parquet, but int64 in earlier events"):
        read(tmp_path / "*.parquet", "v")


def test_a_file_without_the_type_column_is_named(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet")
    pq.write_table(TABLE.rename_columns(["kind", *TABLE.column_names[1:]]), tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"b\.parquet has no type column 'type'"):
        open_events(tmp_path / "*.parquet")
