"""Counts far beyond any machine's word, against closed forms: n events of `A+` have 2**n - 1 trends."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from elsinore.planner.plans.model import WindowMethod
from tests.support.streams import Row, batch, planned, run

ITEMS = "COUNT(*), COUNT(A), SUM(A.v), AVG(A.v), MIN(A.v), MAX(A.v)"
INCREASING = "WHERE A.v < NEXT(A).v"


def query(window: str, where: str = "", items: str = ITEMS) -> str:
    return f"RETURN {items} PATTERN A+ {where} WITHIN {window}"


def closed_form(values: list[int]) -> dict[str, Any]:
    """All subsets but the empty one; each event is in half of all subsets."""
    half = 2 ** (len(values) - 1)
    return {
        "COUNT(*)": 2 * half - 1,
        "COUNT(A)": half * len(values),
        "SUM(A.v)": half * sum(values),
        "AVG(A.v)": sum(values) / len(values),
        "MIN(A.v)": min(values),
        "MAX(A.v)": max(values),
    }


def answers(row: Row) -> dict[str, Any]:
    return {name: row[name] for name in closed_form([1])}


def alike(row: Row, expected: dict[str, Any], numeric: str) -> None:
    if numeric == "exact":
        assert answers(row) == expected
        assert all(type(row[name]) is int for name in ("COUNT(*)", "COUNT(A)", "SUM(A.v)"))
        return
    for name, value in expected.items():
        assert isinstance(row[name], int | float | Decimal), row[name]
        assert abs(Fraction(row[name]) - Fraction(value)) <= abs(Fraction(value)) / 10**9, name


@pytest.mark.parametrize("numeric", ["exact", "approximate"])
@pytest.mark.parametrize("where", ["", INCREASING], ids=["by type", "by event"])
def test_five_thousand_events(where: str, numeric: str) -> None:
    values = [3 * n - 4000 for n in range(5000)]
    (row,) = run(query("5000 seconds SLIDE 5000 seconds", where), batch("A", range(5000), v=values), numeric=numeric)
    alike(row, closed_form(values), numeric)
    if numeric == "exact":
        assert row["COUNT(*)"] == 2**5000 - 1


@pytest.mark.parametrize("numeric", ["exact", "approximate"])
@pytest.mark.parametrize(
    ("within", "slide", "where", "method"),
    [
        (1000, 500, "", "row per window"),
        (1000, 100, "", "pane maps"),
        (1000, 300, "", "pane maps"),
        (1000, 100, INCREASING, "window by window"),
        (700, None, "", "two stacks"),
        (300, None, INCREASING, "window by window"),
    ],
)
def test_overlapping_windows(within: int, slide: int | None, where: str, method: WindowMethod, numeric: str) -> None:
    count = 1500 if slide else within + 200
    text = query(f"{within} seconds" + (f" SLIDE {slide} seconds" if slide else ""), where)
    made = planned(text).queries[0]
    assert made.window_method(made.counters[0]) == method
    values = [7 * n % 1000 - 500 if not where else n - 700 for n in range(count)]
    rows = run(text, batch("A", range(count), v=values), numeric=numeric)
    seen = {}
    for row in rows:
        first, end = (row["start"], row["end"]) if slide else (row["start"] + 1, row["end"] + 1)
        alike(row, closed_form(values[max(first, 0) : end]), numeric)
        seen[row["start"]] = row["end"]
    if slide:
        starts = [k * slide for k in range(-within // slide + 1, count // slide + 1)]
        assert seen == {start: start + within for start in starts if start + within > 0 and start < count}
    else:
        assert seen == {end - within: end for end in range(count)}


@pytest.mark.parametrize("where", ["", INCREASING], ids=["by type", "by event"])
@pytest.mark.parametrize(
    "window",
    [
        "3000 seconds SLIDE 3000 seconds",
        "3000 seconds SLIDE 1000 seconds",
        "3000 seconds SLIDE 1500 seconds",
        "900 seconds",
    ],
)
def test_one_huge_partition_beside_small_ones(window: str, where: str) -> None:
    """Numbers are widened for all partitions together; the small ones must not notice."""
    times = np.arange(900)
    keys = np.where(times % 3, 7, times % 100)
    text = query(window, where).replace("RETURN", "RETURN h,") + " GROUP-BY h"
    rows = run(
        text.replace(f"WITHIN {window} GROUP-BY h", f"GROUP-BY h WITHIN {window}"), batch("A", times, v=times, h=keys)
    )
    last = {int(key): int(times[keys == key].max()) for key in keys}
    found = 0
    for row in rows:
        covers = (row["start"] <= 0 and row["end"] >= 900) or (window == "900 seconds" and row["end"] == last[row["h"]])
        if covers:
            alike(row, closed_form(times[keys == row["h"]].tolist()), "exact")
            found += 1
    assert found >= len(last)


def test_approximate_numbers_beyond_any_float_keep_their_sign_and_ratio() -> None:
    (row,) = run(
        query("9000 seconds SLIDE 9000 seconds"), batch("A", range(4000), v=[-3.5] * 4000), numeric="approximate"
    )
    assert row["AVG(A.v)"] == pytest.approx(-3.5, rel=1e-9)
    assert isinstance(row["SUM(A.v)"], Decimal)
    assert abs(Fraction(row["SUM(A.v)"]) / (Fraction(-7, 2) * 4000 * 2**3999) - 1) < Fraction(1, 10**9)


def test_nothing_is_lost_where_a_count_crosses_the_words_of_its_number() -> None:
    """One more event at a time, on both sides of 62, 63, 64, 126, 128 ... bits."""
    for count in [*range(58, 68), *range(122, 132), *range(250, 260)]:
        for where in ("", INCREASING):
            (row,) = run(query("900 seconds SLIDE 900 seconds", where), batch("A", range(count), v=list(range(count))))
            alike(row, closed_form(list(range(count))), "exact")


@pytest.mark.parametrize("numeric", ["exact", "approximate"])
@pytest.mark.parametrize("events", [5, 40, 63, 200])
def test_pairs_of_trends(events: int, numeric: str) -> None:
    """Each trend A+ is in as many pairs as there are trends B+, however small its own numbers are."""
    values = list(range(1, events + 1))
    stream = batch(["A"] * events + ["B"] * events, range(2 * events), v=values * 2)
    (row,) = run(f"RETURN {ITEMS} PATTERN A+ & B+ WITHIN 1 hour SLIDE 1 hour", stream, numeric=numeric)
    alone, others = closed_form(values), 2**events - 1
    pairs = {name: alone[name] * others for name in ("COUNT(*)", "COUNT(A)", "SUM(A.v)")}
    alike(row, alone | pairs, numeric)
