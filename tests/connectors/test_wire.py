"""Test request bodies: all formats give the same events, and invalid bytes are refused."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import msgpack
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elsinore.connectors.errors import InputError
from elsinore.connectors.feed import Names
from elsinore.connectors.wire import json_events
from elsinore.connectors.wire.arrow_events import read_arrow
from elsinore.connectors.wire.fitting import FittedEvents, fitted
from elsinore.connectors.wire.inflating import inflated
from elsinore.connectors.wire.json_events import numbered_lines, read_json
from elsinore.connectors.wire.msgpack_events import read_msgpack
from elsinore.connectors.wire.raw import MAX_CELLS, BodyTooLargeError, RawEvents
from tests.support.generated import fresh

NAMES = Names("type", "time")
LIMIT = 1000

VALUES = {
    "int64": st.integers(-(2**63), 2**63 - 1),
    "float64": st.floats(allow_nan=False, allow_infinity=False),
    "string": st.text(max_size=5),
    "bool": st.booleans(),
}
EVENTS = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from("ABC"), "time": st.integers(0, 99)},
        optional={f"{kind} column": values | st.none() for kind, values in VALUES.items()},
    ),
    min_size=1,
    max_size=20,
)


def as_json(events: list[dict[str, Any]]) -> bytes:
    return "\n".join(map(json.dumps, events)).encode()


def as_arrow(events: list[dict[str, Any]]) -> bytes:
    names = dict.fromkeys(name for event in events for name in event)
    table = pa.table({name: pa.array([event.get(name) for event in events]) for name in names})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def from_json(body: bytes, known: dict[str, str] | None = None) -> RawEvents:
    return read_json(body, LIMIT, known or {})


def from_arrow(body: bytes) -> RawEvents:
    return read_arrow(body, LIMIT, 1 << 20)


def from_msgpack(body: bytes) -> RawEvents:
    return read_msgpack(body, LIMIT)


def in_columns(raw: RawEvents, known: dict[str, str] | None = None) -> FittedEvents:
    return fitted(raw, NAMES, known or {})


@given(EVENTS)
@fresh(100)
def test_all_forms_say_the_same(events: list[dict[str, Any]]) -> None:
    first = in_columns(from_msgpack(msgpack.packb(events)))
    there = first.columns
    assert first.table.num_rows == len(events)
    for found in (
        in_columns(from_json(as_json(events))),
        in_columns(from_json(as_json(events), there), there),
        in_columns(from_arrow(as_arrow(events))),
    ):
        assert found.table.select(sorted(there)).to_pylist() == first.table.select(sorted(there)).to_pylist()


@given(EVENTS, st.integers(1, 60))
@fresh(100)
def test_json_in_pieces_is_as_in_one(events: list[dict[str, Any]], values: int) -> None:
    """Test columns without values in some or all pieces."""
    known = in_columns(from_msgpack(msgpack.packb(events))).columns | {"nobody's": "int64"}
    whole = in_columns(from_json(as_json(events), known), known).table
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(json_events, "MAX_PIECE_VALUES", values)
        pieces = in_columns(from_json(as_json(events), known), known).table
    assert pieces.to_pylist() == whole.select(pieces.column_names).to_pylist()
    assert set(pieces.column_names) == set(whole.column_names)
    assert "nobody's" not in whole.column_names


@given(st.text(st.sampled_from('\n\r\t {}"x\x0b\x0c'), max_size=40))
def test_lines_are_those_of_the_body(text: str) -> None:
    lines = enumerate(text.encode().splitlines(), start=1)
    assert list(numbered_lines(text.encode())) == [(number, line.lstrip()) for number, line in lines if line.strip()]


RUNS = pa.array([2, 3, 6], pa.int32())


@pytest.mark.parametrize(
    "values",
    [pa.array([1, None, 3]), pa.array(["a", None, "c"]), pa.array([1.5, 2.5, None]), pa.array([True, None, False]),
     pa.array(["a", "b", "a"]).dictionary_encode(), pa.array([7, None, 7]).dictionary_encode(),
     pa.nulls(3, pa.int64())],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("offset", [0, 1, 4])
def test_runs_are_what_they_stand_for(values: pa.Array, offset: int) -> None:
    runs = pa.RunEndEncodedArray.from_arrays(RUNS, values).slice(offset)
    plain = [values[run].as_py() for run in (0, 0, 1, 2, 2, 2)][offset:]
    fixed = {"type": pa.array(["A"] * len(plain)), "time": pa.array(range(len(plain)))}
    sink = io.BytesIO()
    table = pa.table({**fixed, "x": runs})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    found = in_columns(from_arrow(sink.getvalue()))
    assert found.columns["x"] in ("int64", "string", "float64", "bool")
    there = found.table["x"].to_pylist() if "x" in found.table.column_names else [None] * len(plain)
    assert there == plain


def test_what_a_body_makes_is_bounded() -> None:
    """Test the limit on events times columns with values; the refusal says how to split the body."""
    room = 8 * 100
    full = json.dumps({"type": "A", "time": 1, "x": 2, "y": 3}).encode()
    known = {"type": "string", "time": "int64", "x": "int64", "y": "int64", **{f"c{n}": "int64" for n in range(50)}}
    for columns in ({}, known):
        assert read_json(b"\n".join([full] * 25), LIMIT, columns, room).events == 25
        with pytest.raises(BodyTooLargeError, match=r"26 events with 4 columns are 104 values, .* at most 25 events"):
            read_json(b"\n".join([full] * 26), LIMIT, columns, room)
        assert read_json(b"\n".join([b"{}"] * 500), LIMIT, columns, room).events == 500
    packed = [json.loads(full)] * 26
    assert read_msgpack(msgpack.packb(packed[:25]), LIMIT, room).events == 25
    with pytest.raises(BodyTooLargeError, match="at most 25 events"):
        read_msgpack(msgpack.packb(packed), LIMIT, room)
    assert read_arrow(as_arrow(packed[:25]), LIMIT, room).events == 25
    with pytest.raises(BodyTooLargeError, match="at most 25 events"):
        read_arrow(as_arrow(packed), LIMIT, room)


FORMS: dict[str, tuple[Callable[[list[dict[str, Any]]], bytes], Callable[[bytes], RawEvents]]] = {
    "json": (as_json, from_json),
    "known json": (as_json, lambda body: from_json(body, {"type": "string", "time": "int64"})),
    "msgpack": (msgpack.packb, from_msgpack),
    "arrow": (as_arrow, from_arrow),
}


@pytest.mark.parametrize("form", FORMS)
@given(EVENTS, st.data())
@fresh(300)
def test_bytes_that_are_changed_are_read_or_refused(
    form: str, events: list[dict[str, Any]], data: st.DataObject
) -> None:
    write, read = FORMS[form]
    body = bytearray(write(events))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(body) - 1))
        body[at] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(body)))
    for content in (bytes(body), bytes(body[:cut])):
        with suppress(InputError):
            in_columns(read(content))


@pytest.mark.parametrize("form", FORMS)
@given(st.binary(max_size=200))
@fresh(100)
def test_bytes_that_are_anything_are_read_or_refused(form: str, body: bytes) -> None:
    with suppress(InputError):
        in_columns(FORMS[form][1](body))


def test_times() -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 6, UTC)
    events = [{"type": "A", "time": moment.isoformat()}, {"type": "B", "time": "yesterday"}]
    found = in_columns(from_json(as_json(events)))
    assert found.columns["time"] == "timestamp"
    assert found.table.column("time").to_pylist() == [moment, None]
    packed = msgpack.packb([{"type": "A", "time": moment}], datetime=True)
    assert in_columns(from_msgpack(packed)).table.column("time").to_pylist() == [moment]
    naive = in_columns(from_json(as_json([{"type": "A", "time": "2026-01-02T03:04:05"}])))
    assert naive.columns["time"] == "timestamp_ntz"


def test_numbers_are_not_rounded() -> None:
    known = {"type": "string", "time": "int64", "x": "int64", "y": "float64"}
    found = in_columns(from_json(b'{"type": "A", "time": 1, "x": 3.0, "y": 3}', known), known)
    assert found.table.to_pylist() == [{"type": "A", "time": 1, "x": 3, "y": 3.0}]
    for wrong in (b'{"x": 3.5}', b'{"x": "3"}', b'{"x": true}', b'{"y": "3"}'):
        with pytest.raises(InputError, match=r"column '[xy]' is (int64|float64), but these events have"):
            in_columns(from_json(wrong, known), known)


def test_not_a_number_is_null_anywhere_but_among_floats() -> None:
    packed = msgpack.packb([{"type": "A", "time": 1, "x": float("nan"), "s": float("nan")}])
    known = {"type": "string", "time": "int64", "x": "int64", "s": "string"}
    assert in_columns(from_msgpack(packed), known).table.to_pylist() == [{"type": "A", "time": 1, "x": None, "s": None}]


def test_values_are_counted_while_they_are_made() -> None:
    wide = msgpack.packb([{f"c{n}": 0 for n in range(MAX_CELLS // 500)}] * LIMIT)
    with pytest.raises(BodyTooLargeError, match="values"):
        from_msgpack(wide)


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_compressed_bodies_have_a_bound(coding: str) -> None:
    content = b"0" * 5000
    body = gzip.compress(content) if coding == "gzip" else pa.Codec("zstd").compress(content).to_pybytes()
    assert inflated(body, coding, 5000) == content
    with pytest.raises(BodyTooLargeError):
        inflated(body, coding, 4999)
    with pytest.raises(InputError, match=coding):
        inflated(body[:-3], coding, 5000)


@pytest.mark.parametrize("unit", ["s", "ms"])
def test_a_time_too_far_for_microseconds_is_no_time_and_the_others_stay(unit: str) -> None:
    times = pa.array([1, 2**62, -(2**62)], pa.timestamp(unit, "UTC"))
    types = pa.array(["A"] * 3)
    found = fitted(RawEvents(3, {"type": types, "time": times}), NAMES, {}).table["time"]
    assert found.null_count == 2
    assert found[0].is_valid
    with pytest.raises(InputError, match="column 'at' is timestamp"):
        fitted(RawEvents(3, {"type": types, "time": pa.array([1, 2, 3]), "at": times}), NAMES, {})
    nanoseconds = pa.array([1, 1000, 1000], pa.timestamp("ns", "UTC"))
    with pytest.raises(InputError, match="would lose data"):
        fitted(RawEvents(3, {"type": types, "time": nanoseconds}), NAMES, {})


def test_a_time_of_msgpack_that_no_datetime_holds_is_no_time() -> None:
    far = [msgpack.Timestamp(2**40), msgpack.Timestamp(-(2**60))]
    body = msgpack.packb([{"type": "A", "time": time} for time in [*far, msgpack.Timestamp(1)]])
    found = fitted(read_msgpack(body, 10), NAMES, {})
    assert found.columns["time"] == "timestamp"
    assert found.table["time"].to_pylist() == [None, None, datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)]
