from __future__ import annotations

import datetime as dt
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import elsinore
from elsinore.api import seconds
from tests.support.one_workload import EVENTS, ROWS, WORKLOAD


def test_a_workload_as_text_and_as_path(tmp_path: Path) -> None:
    path = tmp_path / "rides.elsinore"
    path.write_text(WORKLOAD)
    for workload in (WORKLOAD, path, str(path)):
        assert elsinore.run(workload, EVENTS).rows() == ROWS
        assert elsinore.parse(workload) == elsinore.parse(WORKLOAD)
        elsinore.check(workload)
        assert "rides" in elsinore.explain(workload)


def test_a_file_without_a_telling_name(tmp_path: Path) -> None:
    (tmp_path / "rides").write_text(WORKLOAD)
    assert elsinore.run(str(tmp_path / "rides"), EVENTS).rows() == ROWS


@pytest.mark.parametrize(
    "events",
    [
        pl.DataFrame(EVENTS).to_arrow(),
        pl.DataFrame(EVENTS),
        pl.DataFrame(EVENTS).to_pandas(),
        pl.DataFrame(EVENTS).to_arrow().to_reader(max_chunksize=2),
    ],
    ids=["arrow", "polars", "pandas", "reader"],
)
def test_events_in_many_forms(events: Any) -> None:
    assert elsinore.run(WORKLOAD, events).rows() == ROWS


def test_metrics() -> None:
    metrics = elsinore.run(WORKLOAD, EVENTS).metrics
    assert (metrics.events, metrics.rows, metrics.late, metrics.dead, metrics.dropped) == (6, 1, 0, 0, 1)


def test_columns_may_have_other_names_and_times_another_unit() -> None:
    events = [{"what": event["type"], "at": event["time"] * 1000} | event for event in EVENTS]  # type: ignore[operator]
    for event in events:
        del event["type"], event["time"]
    rows = elsinore.run(WORKLOAD, events, type_column="what", time_column="at", time_unit="ms").rows()
    assert rows == [ROWS[0] | {"window_end": 10_000}]


def test_late_events_are_handed_back_with_the_names_and_times_of_the_user() -> None:
    table = pl.DataFrame([EVENTS[5], EVENTS[0], EVENTS[1]]).to_arrow().slice(0, 2)
    late = elsinore.run(WORKLOAD, table.to_reader(max_chunksize=1)).late
    assert late.select(["type", "time", "district"]).to_pylist() == [{"type": "Request", "time": 0, "district": "west"}]
    assert elsinore.run(WORKLOAD, table.to_reader(max_chunksize=1), lateness=11).late.num_rows == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "spark"}, "the setting engine .* is 'spark': Input should be 'auto', 'ray' or 'local'"),
        ({"numeric": "float"}, "there is no numeric 'float'; there is 'exact' and 'approximate'"),
        ({"strategy": "fast"}, "there is no strategy 'fast'; there is 'auto'"),
        ({"lateness": -1}, "lateness must be a number of seconds, 0 or more, not -1"),
        ({"lateness": float("nan")}, "lateness must be a number of seconds, 0 or more, not nan"),
        ({"lateness": "soon"}, "lateness must be a number of seconds, 0 or more, not soon"),
    ],
)
def test_an_option_that_does_not_exist(options: dict[str, Any], message: str) -> None:
    with pytest.raises(elsinore.InputError, match=message):
        elsinore.run(WORKLOAD, EVENTS, **options)


def test_a_workload_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "raw.txt").write_bytes(b"RETURN \xff")
    for workload, message in (
        (tmp_path / "none.elsinore", "there is no workload file"),
        ("none.eql", "there is no workload file none.eql"),
        (tmp_path, "is a folder"),
        (tmp_path / "raw.txt", r"not a text in UTF-8 \(byte 7\)"),
        (7, "not int"),
    ):
        with pytest.raises(elsinore.InputError, match=message):
            elsinore.check(workload)  # type: ignore[arg-type]


def test_all_that_is_wrong_with_a_workload_at_once() -> None:
    bad = WORKLOAD.replace("T.speed", "Q.speed") + "; RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 1 hours SLIDE 2 hours"
    with pytest.raises(elsinore.WorkloadError) as caught:
        elsinore.check(bad)
    assert len(caught.value.problems) == 2


def test_an_attribute_that_no_event_has() -> None:
    with pytest.raises(elsinore.WorkloadError, match="speed"):
        elsinore.run(WORKLOAD.replace("T.speed", "T.sped"), EVENTS)


def test_what_only_the_events_can_tell_is_shown_in_the_workload_too() -> None:
    with pytest.raises(elsinore.WorkloadError, match=r"T\.speed < 10") as caught:
        elsinore.run(
            WORKLOAD.replace("GROUP-BY", "WHERE T.speed < 10 GROUP-BY"),
            [event | {"speed": "slow"} for event in EVENTS],
        )
    assert "line 5" in str(caught.value)


@pytest.mark.parametrize(
    ("length", "exact"),
    [
        (0, 0),
        (5, 5),
        (0.1, Fraction(1, 10)),
        (dt.timedelta(milliseconds=1500), Fraction(3, 2)),
        (1e-7, Fraction(1, 10**7)),
        (1e-30, 0),
    ],
)
def test_lateness_is_exact(length: float | dt.timedelta, exact: Fraction | int) -> None:
    assert seconds(length) == exact
