"""Long streams through HAMLET's graph: whoever decides what is shared, the rows are those of queries run apart."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from elsinore.actors.engine import Engine
from elsinore.planner.checks.check import check_text
from elsinore.planner.hamlet.optimizer import Always, Never, SharingOptimizer
from elsinore.planner.hamlet.optimizers import optimizer_of
from elsinore.planner.plans.kinds import HAMLET
from elsinore.planner.plans.planning import plan
from elsinore.planner.time.clock import Clock
from tests.support.deciders import Drawn
from tests.support.streams import Row, batch, cut, fed, shown

LENGTH = 20_000
DECIDERS: dict[str, SharingOptimizer] = {
    "hamlet": optimizer_of("hamlet"),
    "always": Always(),
    "never": Never(),
    "drawn": Drawn(1),
}


def stream(length: int, keys: int = 3, mean: float = 6, seed: int = 1) -> pa.RecordBatch:
    """Bursts of a type and partition, some events at equal times; values with nulls, and floats of all sizes."""
    rnd = np.random.default_rng(seed)
    sizes = rnd.geometric(1 / mean, length)
    types = np.repeat(rnd.choice(["A", "B", "C", "D", "X"], length, p=[0.2, 0.5, 0.15, 0.1, 0.05]), sizes)[:length]
    owners = np.repeat(rnd.integers(0, keys, length), sizes)[:length]
    strays = rnd.random(length) < 0.05
    return batch(
        types,
        np.cumsum(rnd.integers(0, 3, length)) - length // 2,
        v=pa.array(rnd.integers(-100, 100, length), mask=rnd.random(length) < 0.05),
        w=rnd.integers(0, 1000, length),
        f=rnd.standard_normal(length) * 10.0 ** rnd.integers(-20, 20, length),
        k=pa.array(np.where(strays, rnd.integers(0, keys, length), owners), mask=rnd.random(length) < 0.005),
        g=np.array(["east", "west"])[owners % 2],
    )


EVENTS = stream(LENGTH)


def query(items: str, pattern: str, window: str, where: str = "") -> str:
    within, _, slide = window.partition("/")
    conjuncts = " AND ".join(filter(None, ("[k]", where)))
    return (
        f"RETURN g, COUNT(*){items and ', ' + items} PATTERN {pattern} WHERE {conjuncts} GROUP-BY g "
        f"WITHIN {within} seconds SLIDE {slide} seconds"
    )


SUMS = [
    query("SUM(B.v), COUNT(B)", "SEQ(A, B+)", "600/600"),
    query("AVG(B.v), SUM(C.f)", "SEQ(A, B+, C)", "600/300", "B.v < 50"),
    query("SUM(Y.w)", "SEQ(C, NOT X, B Y+)", "300/100", "Y.v < 50"),
    query("SUM(B.f)", "SEQ(D, B+, NOT X, C)", "600/150"),
    query("COUNT(B), SUM(A.w)", "SEQ(A+, B+)", "300/300", "B.w < 900"),
    query("", "(SEQ(B+, C))+", "150/150"),
    query("SUM(A.v)", "SEQ(A+, D?)", "600/120"),
    query("", "SEQ(A, B+) & C", "300/150"),
    query("", "SEQ(B X1+, D, B X2+)", "300/150", "X2.v < 50"),
    query("", "SEQ(A, C)", "300/300"),
    query("", "SEQ(A, NOT B+, C)", "300/300"),
]
EXTREMES = [
    query("MIN(B.v), MAX(B.v)", "SEQ(A, B+)", "600/600"),
    query("MAX(B.v), MIN(B.v), SUM(B.v)", "SEQ(C, B+)", "600/300", "B.w < 800"),
    query("MIN(Y.v), MAX(Y.v)", "(SEQ(B Y+, C))+", "300/75"),
]
THRESHOLDS = [query("SUM(B.v)", "SEQ(A, B+)", "300/150", f"B.w < {50 * n}") for n in range(1, 21)]
WORKLOADS = {"sums": SUMS, "extremes": EXTREMES, "thresholds": THRESHOLDS}


def engine(
    texts: Iterable[str], optimizer: SharingOptimizer | None, *, numeric: str = "exact", lateness: int = 0
) -> Engine:
    """Without an optimizer, every query apart."""
    made = plan(check_text("; ".join(texts)), "hamlet" if optimizer else "cogra")
    assert bool(made.share_sets) == (optimizer is not None)
    return Engine(made, Clock.of(pa.int64(), "s", made.spans), numeric, lateness, optimizer, record_decisions=True)


APART: dict[tuple[str, ...], list[Row]] = {}


def apart(texts: list[str], events: pa.RecordBatch = EVENTS) -> list[Row]:
    """The rows of queries that are run one by one; those over the stream of most tests are worked out once."""
    if events is not EVENTS:
        return fed(engine(texts, None), [events])
    if tuple(texts) not in APART:
        APART[tuple(texts)] = fed(engine(texts, None), [events])
    return APART[tuple(texts)]


def most_snapshots(one: Engine) -> int:
    return int(max(one.decisions()["snapshots_propagated"].to_pylist()))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("decider", DECIDERS)
@pytest.mark.parametrize("name", WORKLOADS)
def test_whoever_decides(name: str, decider: str) -> None:
    one = engine(WORKLOADS[name], DECIDERS[decider])
    rows = fed(one, [EVENTS])
    assert len(rows) > 100
    assert rows == apart(WORKLOADS[name])
    decisions = [sharing.graph.decisions for sharing in one.runs(HAMLET)]
    assert sum(found.bursts for found in decisions) > 500
    assert (sum(found.shared for found in decisions) > 0) == (decider != "never")
    if decider in ("always", "drawn"):
        assert most_snapshots(one) > 5


@pytest.mark.parametrize("decider", ["always", "drawn"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_approximate_numbers(name: str, decider: str) -> None:
    rows = fed(engine(WORKLOADS[name], DECIDERS[decider], numeric="approximate"), [EVENTS])
    exact = apart(WORKLOADS[name])
    assert len(rows) == len(exact)
    for row, right in zip(by_place(rows), by_place(exact), strict=True):
        assert row.keys() == right.keys()
        for item, value in row.items():
            assert near(value, right[item]), (item, row, right)


def by_place(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row["query"], row["start"], row["g"]))


def near(value: Any, right: Any) -> bool:
    """As near as approximate numbers are; a sum of numbers of both signs may be nearly nothing."""
    if value is None or isinstance(value, str):
        return bool(value == right)
    allowed = max(abs(Fraction(right)), Fraction(1)) / 10**6
    return abs(Fraction(value) - Fraction(right)) <= allowed


@pytest.mark.parametrize("size", [1, 333])
def test_batches_of_odd_sizes(size: int) -> None:
    events = EVENTS.slice(0, 400 if size == 1 else 6000)
    assert fed(engine(SUMS, Drawn(1)), cut(events, size)) == apart(SUMS, events)


def test_batches_do_not_show_in_decisions() -> None:
    events = EVENTS.slice(0, 4000)
    one, other = (engine(SUMS, DECIDERS["hamlet"]) for _ in range(2))
    fed(one, [events])
    fed(other, cut(events, 123))

    def decided(of: Engine) -> list[dict[str, Any]]:
        return sorted(of.decisions().to_pylist(), key=repr)

    assert decided(one) == decided(other)


def test_slices_within_a_batch_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elsinore.actors.engine.SLICE_EVENTS", 700)
    assert fed(engine(SUMS, Always()), [EVENTS]) == apart(SUMS)


@pytest.mark.parametrize("name", WORKLOADS)
def test_saved_and_restored_between_batches(name: str) -> None:
    one = engine(WORKLOADS[name], Drawn(3))
    rows = []
    for number, part in enumerate(cut(EVENTS, 617)):
        rows += one.feed(part)
        if number % 5 == 2:
            one = Engine.restore(one.plan, one.save())
            for sharing in one.runs(HAMLET):
                sharing.graph.optimizer = Drawn(number)
    assert shown(one, [*rows, *one.finish()]) == apart(WORKLOADS[name])


def test_a_burst_of_thousands_of_events() -> None:
    """Three thousand events of one partition at once: numbers of as many bits, and coefficients too."""
    count = 3000
    types = ["A", "C", *["B"] * count, "D"]
    values = [n % 7 for n in range(len(types))]
    events = batch(types, range(len(types)), v=values, k=[1] * len(types), g=["p"] * len(types))
    texts = [query("SUM(B.v)", pattern, "5000/5000") for pattern in ("SEQ(A, B+)", "SEQ(C, B+, D)", "SEQ(A, B+, D)")]
    expected = apart(texts, events)
    assert [row["COUNT(*)"] for row in expected] == [2**count - 1] * 3
    for decider in (Always(), optimizer_of("hamlet")):
        one = engine(texts, decider)
        assert fed(one, [events]) == expected
        assert one.decisions().to_pylist()[0]["events"] == count
        assert most_snapshots(one) == 1


def test_a_long_burst_of_which_one_query_leaves_out_some() -> None:
    """Dozens of snapshots at event level, of numbers of several words; panes are as long as the shortest slide."""
    types = ["A", "C", *["B"] * 600]
    events = batch(types, range(len(types)), v=range(len(types)), k=[1] * len(types), g=["p"] * len(types))
    texts = [
        query("SUM(B.v)", "SEQ(A, B+)", "1000/1000", "B.v % 6 != 0"),
        query("SUM(B.v)", "SEQ(C, B+)", "1000/500"),
        query("COUNT(B)", "SEQ(C, B+)", "1000/250"),
    ]
    one = engine(texts, Always())
    assert fed(one, [events]) == apart(texts, events)
    assert most_snapshots(one) > 40


def short_lived(length: int) -> pa.RecordBatch:
    """Partitions that last some hundred seconds each, a few at a time; their bursts overlap."""
    rnd = np.random.default_rng(4)
    times = np.cumsum(rnd.integers(0, 2, length))
    types = rnd.choice(["A", "B", "B", "B", "B", "C", "D"], length)
    return batch(
        types,
        times,
        v=rnd.integers(-100, 100, length),
        w=rnd.integers(0, 1000, length),
        f=rnd.random(length),
        k=times // 100 + rnd.integers(0, 4, length),
        g=np.array(["east", "west"])[rnd.integers(0, 2, length)],
    )


@pytest.mark.parametrize("decider", ["always", "drawn"])
def test_partitions_that_come_and_go(decider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elsinore.actors.streams.partitions.KEEP_ALL_BELOW", 20)
    events = short_lived(LENGTH)
    texts = [
        text.replace("WITHIN 600 seconds", "WITHIN 300 seconds").replace("SLIDE 600", "SLIDE 300") for text in SUMS
    ]
    one = engine(texts, DECIDERS[decider])
    found = []
    for part in cut(events, 211):
        found += one.feed(part)
        assert all(graph.slots < 80 for sharing in one.runs(HAMLET) for graph in sharing.graph.graphs)
    assert shown(one, [*found, *one.finish()]) == apart(texts, events)


@pytest.mark.parametrize("size", [50, 1111])
def test_events_out_of_order(size: int) -> None:
    """Five seconds late at most, which is waited for."""
    rnd = np.random.default_rng(6)
    times = EVENTS.column("time").to_numpy()
    arriving = np.argsort(times + rnd.integers(0, 6, LENGTH), kind="stable")[:8000]
    events = EVENTS.take(pa.array(arriving))
    one = engine(SUMS, Drawn(1), lateness=5)
    rows = fed(one, cut(events, size))
    assert one.late_events.kept == []
    assert rows == apart(SUMS, events)


def test_late_events_are_left_out() -> None:
    rnd = np.random.default_rng(7)
    events = EVENTS.take(pa.array(np.argsort(np.arange(6000) + rnd.integers(0, 40, 6000), kind="stable")))
    one, other = engine(SUMS, Drawn(5), lateness=2), engine(SUMS, None, lateness=2)
    rows = fed(one, cut(events, 37))
    assert rows == fed(other, cut(events, 37))
    assert sum(map(len, one.late_events.kept)) == sum(map(len, other.late_events.kept)) > 50


def test_columns_that_turn_to_floats_while_a_burst_waits() -> None:
    """The second half of a burst comes in a batch of which the attribute is not whole any more."""
    types, count = list("ACBBBB"), 6
    texts = [
        query("SUM(B.v), MIN(B.v)", "SEQ(A, B+)", "100/100"),
        query("AVG(B.v), MIN(B.v)", "SEQ(C, B+)", "100/100", "B.v < 50"),
    ]

    def part(first: int, values: Any) -> pa.RecordBatch:
        return batch(types, range(first, first + count), v=values, k=[1] * count, g=["p"] * count)

    halves = [
        part(0, [1, 2, 3, 4, 5, 6]),
        batch("B", range(6, 12), v=[0.5, 99.5, 1e-9, 2.0**60, 3.25, -7.5], k=[1] * 6, g=["p"] * 6),
        part(12, [1, 2, 3, 4, 5, 6]),
    ]
    expected = fed(engine(texts, None), halves)
    for decider in DECIDERS.values():
        assert fed(engine(texts, decider), halves) == expected
