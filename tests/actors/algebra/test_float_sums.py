"""Exact sums over floats are rounded once, at the end; attributes may turn from integers to floats on the way."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elsinore.actors.engine import Engine
from elsinore.planner.language.errors import WorkloadError
from tests.support.generated import fresh
from tests.support.streams import batch, cut, engine, fed, planned, run, shown

WINDOWS = {
    "tumbling": "WITHIN 100 seconds SLIDE 100 seconds",
    "row per window": "WITHIN 100 seconds SLIDE 50 seconds",
    "pane maps": "WITHIN 100 seconds SLIDE 20 seconds",
    "two stacks": "WITHIN 100 seconds",
}
SINGLES = "RETURN COUNT(*), SUM(A.v), AVG(A.v), MIN(A.v), MAX(A.v) PATTERN A "
PLUS = "RETURN COUNT(*), SUM(A.v), AVG(A.v), MIN(A.v), MAX(A.v) PATTERN A+ "

floats = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-1e6, 1e6),
    st.sampled_from([1e16, 1.0, -1e16, 1e300, -1e300, 1e-300, 5e-324, -5e-324, 0.1, -0.0]),
)


def rounded(total: Fraction) -> float | None:
    try:
        return total.numerator / total.denominator
    except OverflowError:
        return None


@fresh(60)
@given(st.lists(floats, min_size=1, max_size=30), st.randoms(use_true_random=False), st.integers(1, 30))
def test_a_sum_is_correctly_rounded_in_any_order(values: list[float], rnd: random.Random, size: int) -> None:
    true = rounded(sum(map(Fraction, values), Fraction(0)))
    for _ in range(2):
        rnd.shuffle(values)
        batches = cut(batch("A", range(len(values)), v=values), size)
        (row,) = fed(engine(SINGLES + WINDOWS["tumbling"]), batches)
        assert (row["MIN(A.v)"], row["MAX(A.v)"]) == (min(values), max(values))
        if true is not None:
            assert row["SUM(A.v)"] == true
            assert row["AVG(A.v)"] == rounded(sum(map(Fraction, values), Fraction(0)) / len(values))
        else:
            assert math.isinf(float(row["SUM(A.v)"]))
            assert not isinstance(row["SUM(A.v)"], float)


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
def test_cancellation_in_every_kind_of_window(window: str) -> None:
    values = [1e16, 1.0, -1e16, 1e300, 1e-300, -1e300, 0.1]
    for shuffled in (values, values[::-1], sorted(values), sorted(values, key=abs)):
        rows = run(PLUS + window, batch("A", range(len(shuffled)), v=shuffled))
        (row,) = [row for row in rows if row["COUNT(*)"] == 127][:1]
        assert row["SUM(A.v)"] == 64 * math.fsum(values)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("numeric", ["exact", "approximate"])
@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
@pytest.mark.parametrize(
    "query", [SINGLES, PLUS, PLUS + "WHERE A.v != NEXT(A).v "], ids=["one event", "by type", "by event"]
)
def test_integers_that_turn_to_floats_in_a_later_batch(window: str, query: str, numeric: str) -> None:
    text = query + window
    values: list[Any] = [5, -3, None, 12, -7, 4.5, -6.5, 0.25, 100, -100, 3]
    kinds = [pa.int64()] * 5 + [pa.float64()] * 3 + [pa.int64()] * 3
    alone = [
        batch("A", [17 * n], v=pa.array([value], kind))
        for n, (value, kind) in enumerate(zip(values, kinds, strict=True))
    ]
    as_floats = batch("A", [17 * n for n in range(len(values))], v=pa.array(values, pa.float64()))
    expected = run(text, as_floats, numeric=numeric)
    assert fed(engine(text, numeric=numeric), alone) == expected
    assert {type(row["MIN(A.v)"]) for row in expected} <= {float, type(None)}
    for stop in range(1, len(alone)):
        one = engine(text, numeric=numeric)
        found = [rows for part in alone[:stop] for rows in one.feed(part)]
        other = Engine.restore(planned(text), one.save())
        found += [rows for part in alone[stop:] for rows in other.feed(part)]
        assert shown(other, [*found, *other.finish()]) == expected


@pytest.mark.parametrize("items", ["MIN(A.v)", "MAX(A.v)", "COUNT(*)"])
def test_integers_that_no_float_holds_are_refused_beside_floats(items: str) -> None:
    predicate = "WHERE A.v < NEXT(A).v " if items == "COUNT(*)" else ""
    text = f"RETURN {items} PATTERN A+ {predicate}WITHIN 100 seconds SLIDE 100 seconds"
    large, small = batch("A", [1], v=[2**53 + 1]), batch("A", [2], v=[0.5])
    end = batch("A", [3], v=[0.5])
    for first, second in ((large, small), (small, batch("A", [2], v=[2**53 + 1]))):
        one = engine(text)
        with pytest.raises(WorkloadError, match=r"2\*\*53|9007199254740992"):
            fed(one, [first, second, end])


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
def test_a_key_that_turns_from_integers_to_floats_names_the_same_partitions(window: str) -> None:
    text = f"RETURN g, h, COUNT(*) PATTERN A+ GROUP-BY g, h {window}"
    keys: list[Any] = [1, 2, 1, 2, 1, 2.0, 2.5, 1.0, -0.0, 0, 1, 2]
    kinds = [pa.int64()] * 5 + [pa.float64()] * 4 + [pa.int64()] * 3
    alone = [
        batch("A", [n], g=pa.array([key], kind), h=pa.array(["x"]))
        for n, (key, kind) in enumerate(zip(keys, kinds, strict=True))
    ]
    whole = batch("A", range(len(keys)), g=pa.array(keys, pa.float64()), h=["x"] * len(keys))
    assert fed(engine(text), alone) == run(text, whole)


def test_a_key_that_is_first_missing_keeps_its_type_later() -> None:
    text = "RETURN g, COUNT(*) PATTERN A+ GROUP-BY g WITHIN 10 seconds SLIDE 10 seconds"
    rows = run(text, batch("A", [1], g=pa.nulls(1)), batch("A", [2], g=[7]), batch("A", [3], g=[7]))
    assert [(row["g"], row["COUNT(*)"]) for row in rows] == [(7, 3)]
