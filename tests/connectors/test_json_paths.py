"""Test that both parsers of JSON, Arrow and the json module, give the same events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elsinore.connectors.errors import InputError
from elsinore.connectors.feed import Names
from elsinore.connectors.wire.fitting import fitted
from elsinore.connectors.wire.json_events import read_json
from elsinore.connectors.wire.msgpack_events import read_msgpack
from tests.connectors.reading import letters, read
from tests.support.generated import fresh

NAMES = Names("type", "time")
KINDS = ("int64", "float64", "string", "bool", "timestamp", "timestamp_ntz")
TOO_LONG = 2**53 + 1

DIGITS = st.text("0123456789", min_size=1, max_size=25)
NUMBERS = st.one_of(
    st.integers(-9, 9).map(str),
    st.integers(-(2**66), 2**66).map(str),
    st.integers(-5, 5).map(lambda n: str(2**53 + n)),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.builds(
        "{}{}{}{}".format,
        st.sampled_from(["", "-"]),
        DIGITS,
        st.sampled_from(["", ".0", ".5", ".", ".000000000000000000001"]),
        st.sampled_from(["", "e0", "E5", "e-3", "e308", "E400", "e-400"]),
    ),
    st.sampled_from(["-0", "-0.0", "1.0", "1E5", "1e400", "00", "+1", "1.", ".5", "NaN", "Infinity", "9" * 5000]),
)
TEXTS = st.one_of(
    st.text(max_size=6).map(json.dumps),
    st.text(max_size=6).map(lambda text: json.dumps(text, ensure_ascii=False)),
    st.sampled_from(['"[1]"', '"{"', '"\\u005b"', '"\\ud800"', '"\\ud83d\\ude00"', '"\\x"', '"9007199254740993"']),
    st.sampled_from(['"2026-01-02T03:04:05Z"', '"2026-01-02T03:04:05.123456"', '"2026-01-02"', '"a\tb"', '"\x7f"']),
)
VALUES = st.one_of(NUMBERS, NUMBERS, TEXTS, st.sampled_from(["null", "true", "false", "[1]", "{}", "[[]]", ""]))
BLANKS = st.sampled_from(["", "", "", "", " ", "\t", "\r", "\n"])
KEYS = st.sampled_from(['"a"', '"b"', '"c"', '"d"', '"\\u0061"'])


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    lines = []
    for number in range(draw(st.integers(1, 4))):
        fields = ['"type":"A"', f'"time":{number}']
        fields += [f"{draw(KEYS)}:{draw(BLANKS)}{draw(VALUES)}" for _ in range(draw(st.integers(0, 3)))]
        lines.append("{" + draw(BLANKS) + ("," + draw(BLANKS)).join(fields) + "}" + draw(BLANKS))
    text = draw(st.sampled_from(["\n", "\n", "\n", "\n", "\r\n", "\r", "", "\n\n"])).join(lines)
    body = text.encode("utf-8", "surrogatepass") + draw(st.sampled_from([b"", b"\n"]))
    return draw(st.sampled_from([b"", b"", b"", b"", b"", b"\xef\xbb\xbf", b" "])) + body


def outcome(body: bytes, known: dict[str, str]) -> Any:
    try:
        found = fitted(read_json(body, 1000, known), NAMES, known)
    except InputError:
        return "refused"
    table = found.table
    full = [name for name in table.column_names if table.column(name).null_count < len(table)]
    return len(table), {name: repr(table.column(name).to_pylist()) for name in sorted(full)}


def check_both_ways(body: bytes, kinds: tuple[str, ...]) -> None:
    """Compare both parsers; a blank line at the beginning is enough to select the json module."""
    known = {"type": "string", "time": "int64"} | dict(zip("abcd", kinds, strict=True))
    assert outcome(body, known) == outcome(b"\n" + body, known)


@given(bodies(), st.tuples(*[st.sampled_from(KINDS)] * 4))
@fresh(400)
def test_both_ways_to_read_json_say_the_same(body: bytes, kinds: tuple[str, ...]) -> None:
    check_both_ways(body, kinds)


@pytest.mark.long
@given(bodies(), st.tuples(*[st.sampled_from(KINDS)] * 4))
@settings(deadline=None, max_examples=100_000)
def test_both_ways_to_read_json_say_the_same_of_many_bodies(body: bytes, kinds: tuple[str, ...]) -> None:
    check_both_ways(body, kinds)


KNOWN = {"type": "string", "time": "int64", "f": "float64", "i": "int64"}
EVENT = '{"type":"A","time":1,%s}\n'


@pytest.mark.parametrize("blank", ["", "\n"], ids=["quick", "slow"])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ('"f":9007199254740992', 2.0**53),
        ('"f":-9007199254740992', -(2.0**53)),
        ('"f":0.1', 0.1),
        ('"f":12345678901234567890.5', 12345678901234567890.5),
        ('"f":1e300', 1e300),
        ('"f":9007199254740993.0', 2.0**53),
        ('"f":1e-400', 0.0),
        ('"i":1.0', 1),
        ('"i":1E5', 100_000),
        ('"i":9007199254740993', TOO_LONG),
        ('"i":-9223372036854775808', -(2**63)),
    ],
)
def test_numbers_that_a_column_holds_are_taken(blank: str, field: str, value: float) -> None:
    found = fitted(read_json((blank + EVENT % field).encode(), 9, KNOWN), NAMES, KNOWN).table.to_pylist()
    assert found[0][field[1]] == value


@pytest.mark.parametrize("blank", ["", "\n"], ids=["quick", "slow"])
@pytest.mark.parametrize(
    "field",
    [
        '"f":9007199254740993',
        '"f":-9007199254740993',
        '"f": 9007199254740993 ',
        '"f":18446744073709551616',
        '"f":' + "9" * 400,
        '"f":' + "9" * 5000,
        '"f":1e400',
        '"i":1.5',
        '"i":9007199254740993.0',
        '"i":9223372036854775808',
        '"i":1e400',
    ],
)
def test_numbers_that_would_be_rounded_are_refused(blank: str, field: str) -> None:
    with pytest.raises(InputError, match=r"column|line"):
        fitted(read_json((blank + EVENT % field).encode(), 9, KNOWN), NAMES, KNOWN)


def test_whole_numbers_stay_exact_beside_floats() -> None:
    """Test a column of whole numbers, with any other values in it."""
    body = (EVENT % '"i":9007199254740993' + EVENT % '"i":1.0').encode()
    assert fitted(read_json(body, 9, KNOWN), NAMES, KNOWN).table.column("i").to_pylist() == [TOO_LONG, 1]


def test_msgpack_rounds_nothing() -> None:
    for wrong in ({"f": TOO_LONG}, {"f": 2**64 - 1}, {"i": 2.0**60}, {"i": 0.5}, {"i": 2**64 - 1}):
        with pytest.raises(InputError, match=r"is (float64|int64), but these events have"):
            fitted(read_msgpack(msgpack.packb([{"type": "A", "time": 1} | wrong]), 9), NAMES, KNOWN)


LINES = '{"type":"A","time":1,"v":0.5}\n{"type":"A","time":2,"v":%s}\n{"type":"A","time":3,"v":1.5}\n'


@pytest.mark.parametrize("blank", ["", " "], ids=["quick", "slow"])
@pytest.mark.parametrize("value", [str(TOO_LONG), str(-TOO_LONG), "1" * 30, "9" * 400, "1e400", "NaN", "-Infinity"])
def test_json_lines_that_would_be_rounded_are_dead(tmp_path: Path, blank: str, value: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(blank + LINES % value, encoding="utf-8")
    assert [event["v"] for event in read(path, "v", dead_letters=tmp_path / "dead")] == [0.5, 1.5]
    assert [letter["line"] for letter in letters(tmp_path / "dead")] == [2]


@pytest.mark.parametrize("value", ["9007199254740992", "1e300", "123456789.123456789123456789", "-1.7e308"])
def test_json_lines_with_large_floats_are_read(tmp_path: Path, value: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(LINES % value, encoding="utf-8")
    assert [event["v"] for event in read(path, "v", strict=True)] == [0.5, float(value), 1.5]


CELLS = "type,time,v\nA,1,0.5\nA,2,%s\nA,3,1.5\n"


@pytest.mark.parametrize("behind", [0, 200], ids=["first", "later"])
@pytest.mark.parametrize("value", [str(TOO_LONG), str(-TOO_LONG), "1" * 30, "9" * 400, "1e400", "x"])
def test_cells_that_would_be_rounded_are_dead(tmp_path: Path, behind: int, value: str) -> None:
    """Test values whose column has its type from other lines; `behind`: from earlier lines."""
    path = tmp_path / "a.csv"
    path.write_text(CELLS % value + "A,4,2.5\n" * 300, encoding="utf-8")
    assert [event["v"] for event in read(path, "v", dead_letters=tmp_path / "dead")][:2] == [0.5, 1.5]
    assert [letter["line"] for letter in letters(tmp_path / "dead")] == [3]


@pytest.mark.parametrize("value", ["9007199254740992", "1e300", "-1.7e308", "12345678901234567890.5"])
def test_cells_with_large_floats_are_read(tmp_path: Path, value: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(CELLS % value, encoding="utf-8")
    assert [event["v"] for event in read(path, "v", strict=True)] == [0.5, float(value), 1.5]


def test_dicts_round_nothing() -> None:
    with pytest.raises(InputError, match="'v' is 9007199254740993"):
        read([{"type": "A", "time": 1, "v": 0.5}, {"type": "A", "time": 2, "v": TOO_LONG}], "v")
