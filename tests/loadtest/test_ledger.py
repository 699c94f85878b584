from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import elsinore
from loadtest.ledger import COUNTED, Ledger
from loadtest.shapes import MOST, SHAPES, burst, ramp, steady
from loadtest.stream import BATCH, END, WINDOW, appends
from loadtest.summary import Summary, differences, expected, summarized, write

APPENDS = 4
PARTS = list(islice(appends(7), APPENDS))


@pytest.fixture(scope="module")
def result() -> elsinore.Result:
    """Return the rows of the engine for these appends."""
    return expected(7, APPENDS)


def noted() -> Ledger:
    ledger = Ledger()
    for part in PARTS:
        ledger.note(part)
    return ledger


def test_a_sender_counts_what_the_engine_counts(result: elsinore.Result) -> None:
    ledger = noted()
    ledger.check(result.rows())
    assert ledger.complete
    assert not ledger.wrong
    assert ledger.seen == len(result)
    assert ledger.checked == sum(len(result.query(name)) for name in COUNTED) > 80


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: [rows[0] | {"COUNT(*)": rows[0]["COUNT(*)"] + 1}, *rows[1:]], "is expected"),
        (lambda rows: [rows[0] | {"district": "D999"}, *rows[1:]], "an unexpected row"),
        (lambda rows: [rows[0] | {"window_end": 7}, *rows[1:]], "is expected"),
        (lambda rows: [*rows, rows[0]], "an unexpected row"),
    ],
)
def test_a_wrong_row_is_found(change: Any, message: str, result: elsinore.Result) -> None:
    ledger = noted()
    ledger.check(change(result.query("requests").rows()))
    assert len(ledger.wrong) == 1
    assert message in ledger.wrong[0]


def test_a_missing_row_is_found(result: elsinore.Result) -> None:
    ledger = noted()
    ledger.check(result.rows()[1:])
    assert not ledger.complete
    assert len(ledger.due) == 1


def test_times_of_a_stream_only_grow() -> None:
    latest = -1
    for part in islice(appends(3), 70):
        times = part.column("time")
        assert len(part) == BATCH
        assert times[0].as_py() >= latest
        latest = times[-1].as_py()
    assert latest > 2 * WINDOW


def test_trends_are_compared_when_the_load_is_over(result: elsinore.Result) -> None:
    here = result.to_arrow()
    assert not differences(7, here, here)
    trends = here.filter(pa.compute.equal(here["query"], "gave_up"))
    other = pa.concat_tables([here.slice(1), trends.slice(0, 1)])
    assert [message.split()[2] for message in differences(7, other, here)] == ["misses", "has"]
    assert "misses the row ('requests'" in differences(7, here.slice(1), here)[0]
    wrong = here.set_column(here.column_names.index("COUNT(*)"), "COUNT(*)", pa.array(["1"] * len(here)))
    assert len(differences(7, wrong, here)) > 100


def kept(folder: Path, rows: pa.Table, **changes: Any) -> Summary:
    """Write the files of a user and of Locust, and return their summary."""
    (folder / "users").mkdir(parents=True)
    pq.write_table(rows, folder / "users" / "7.parquet")
    events = APPENDS * BATCH
    user = {
        "number": 7,
        "appends": APPENDS,
        "events": events,
        "checked": 100,
        "wrong": [],
        "missing": 0,
        "acknowledged": [[10.0 + at, BATCH] for at in range(APPENDS)],
        "taken_at": 18.0,
        "metrics": {"events": events + len(END), "late": 0, "dead": 0},
    }
    (folder / "users" / "7.json").write_text(json.dumps(user | changes))
    append = {"requests": 30, "failures": 0, "p50": 10.0, "p95": 20.0, "p99": 30.0}
    (folder / "latencies.json").write_text(json.dumps({"seconds": 3.0, "requests": {"append": append}}))
    return summarized(folder, 100_000.0)


def test_a_summary_of_what_went_well(tmp_path: Path, result: elsinore.Result) -> None:
    summary = kept(tmp_path, result.to_arrow())
    assert not summary.wrong
    assert summary.events_per_second == BATCH
    assert summary.taken_per_second == APPENDS * BATCH / 8
    assert summary.ratio == BATCH / 100_000
    assert summary.requests_per_second == 10
    assert summary.rows == len(result)
    assert "p99 30 ms" in summary.told
    write(summary, tmp_path / "summary.json")
    assert json.loads((tmp_path / "summary.json").read_text())["wanted_ratio"] == 0.5


@pytest.mark.parametrize(
    "changes",
    [{"missing": 1}, {"wrong": ["a row"]}, {"metrics": {"events": 5, "late": 0, "dead": 0}}],
)
def test_a_summary_of_what_did_not(tmp_path: Path, changes: dict[str, Any], result: elsinore.Result) -> None:
    assert len(kept(tmp_path, result.to_arrow(), **changes).wrong) == 1


def test_shapes() -> None:
    assert {steady(at / 10) for at in range(10)} == {MOST - 1}
    assert [burst(at) for at in (0.1, 0.5, 0.9)] == [1, MOST, 1]
    assert [ramp(at / MOST) for at in range(MOST)] == list(range(1, MOST + 1))
    assert all(1 <= shape(at / 100) <= MOST for shape in SHAPES.values() for at in range(101))
    assert SHAPES["all"](0.1) == steady(0.3)
    assert SHAPES["all"](0.5) == burst(0.5)
    assert SHAPES["all"](0.99) == MOST
