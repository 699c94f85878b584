"""Partitions that come and go: what is over is forgotten, and nobody can tell from the rows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.support.streams import Row, batch, cut, engine, fed, run

WINDOWS = {
    "one row": "WITHIN 20 seconds SLIDE 20 seconds",
    "row per window": "WITHIN 20 seconds SLIDE 10 seconds",
    "pane maps": "WITHIN 20 seconds SLIDE 5 seconds",
    "two stacks": "WITHIN 20 seconds",
}
BY_EVENT = "AND A.v < NEXT(A).v"


def query(window: str, where: str = "", keys: str = "k") -> str:
    return f"RETURN g, COUNT(*), SUM(A.v), MAX(A.v) PATTERN A+ WHERE [{keys}] {where} GROUP-BY g {WINDOWS[window]}"


def coming_and_going(count: int, keys: Any = None) -> Iterator[pa.RecordBatch]:
    """Partition n has events from second n / 100 on, six of them in ten seconds."""
    partition = np.repeat(np.arange(count), 6)
    times = partition // 100 + np.tile([0, 1, 2, 4, 7, 9], count)
    order = np.argsort(times, kind="stable")
    partition, times = partition[order], times[order]
    named = keys(partition) if keys else {"k": partition}
    yield from cut(batch("A", times, v=partition % 7 + times, g=partition % 3, **named), 6000)


def several(partition: Any) -> dict[str, Any]:
    return {"k": partition // 2, "l": np.char.add("l", partition.astype(str))}


def texts(partition: Any) -> dict[str, Any]:
    return {"k": np.char.add("key ", partition.astype(str))}


CASES: dict[str, tuple[str, Any, int]] = {
    "one row": (query("one row"), None, 200_000),
    "row per window": (query("row per window"), None, 20_000),
    "pane maps": (query("pane maps"), None, 20_000),
    "two stacks": (query("two stacks"), None, 20_000),
    "by event": (query("row per window", BY_EVENT), None, 20_000),
    "by event, moving": (query("two stacks", BY_EVENT), None, 20_000),
    "texts": (query("pane maps"), texts, 20_000),
    "several keys": (query("pane maps", keys="k, l"), several, 20_000),
    "and": (
        "RETURN g, COUNT(*) PATTERN AND(A a+, A b) WHERE [k] GROUP-BY g WITHIN 20 seconds SLIDE 10 seconds",
        None,
        10_000,
    ),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("case", CASES)
def test_partitions_are_forgotten_and_rows_do_not_change(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, keys, count = CASES[case]
    monkeypatch.setattr("elsinore.actors.streams.partitions.KEEP_ALL_BELOW", 1 << 30)
    remembering = engine(text)
    expected = fed(remembering, coming_and_going(count, keys))
    assert most(remembering) == count
    monkeypatch.setattr("elsinore.actors.streams.partitions.KEEP_ALL_BELOW", min(count // 4, 1 << 14))
    forgetting = engine(text)
    sizes, counts = [], []

    def watched() -> Iterator[pa.RecordBatch]:
        for number, part in enumerate(coming_and_going(count, keys)):
            yield part
            if number % 5 == 0:
                sizes.append(len(forgetting.save()))
                counts.append(most(forgetting))

    assert fed(forgetting, watched()) == expected
    assert len(expected) > 20
    # One is in some window for thirty seconds: some 3,000 are alive at once, and half of those kept are.
    assert max(counts) < min(count, 20_000)
    assert most(forgetting) < count
    if count > 100_000:
        early, late = max(sizes[: len(sizes) // 2]), max(sizes[len(sizes) // 2 :])
        assert late <= 1.2 * early, "the state grows"


def most(one: Any) -> int:
    return max(partitions.count for partitions in one._partitions.values())


def test_forgotten_partitions_may_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = [
        batch("A", np.full(500, time), v=np.arange(500) + time, g=np.arange(500) % 3, k=np.arange(500))
        for time in range(0, 900, 30)
    ]
    for window in WINDOWS:
        expected = run(query(window), *rounds)
        with monkeypatch.context() as patched:
            patched.setattr("elsinore.actors.streams.partitions.KEEP_ALL_BELOW", 10)
            assert run(query(window), *rounds) == expected


KEYS: dict[str, tuple[pa.Array, list[Any]]] = {
    "integers": (pa.array([5, -3, 5, None, -3, 5]), [-3, 5]),
    "large integers": (pa.array([2**63 - 1, -(2**63), 2**63 - 1, None, -(2**63), 2**63 - 1]), [-(2**63), 2**63 - 1]),
    "floats": (pa.array([2.5, 0.0, 2.5, None, -0.0, 2.5]), [0.0, 2.5]),
    "texts": (pa.array(["ü", "", "ü", None, "", "ü"]), ["", "ü"]),
    "coded texts": (pa.array(["b", "a", "b", None, "a", "b"]).dictionary_encode(), ["a", "b"]),
    "booleans": (pa.array([True, False, True, None, False, True]), [False, True]),
    "timestamps": (
        pa.array([1, 0, 1, None, 0, 1], pa.timestamp("ms", "Europe/Paris")),
        pa.array([0, 1], pa.timestamp("ms", "Europe/Paris")).to_pylist(),
    ),
    "dates": (pa.array([1, 0, 1, None, 0, 1], pa.date32()), [dt.date(1970, 1, 1), dt.date(1970, 1, 2)]),
}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("window", WINDOWS)
def test_keys_of_every_type(key: str, window: str) -> None:
    """Events 0, 2, 5 are one partition, 1 and 4 the other, and 3 is in none."""
    column, values = KEYS[key]
    text = f"RETURN k, COUNT(*) PATTERN A+ GROUP-BY k {WINDOWS[window]}"
    for batches in ([batch("A", range(6), k=column)], list(cut(batch("A", range(6), k=column), 1))):
        one = engine(text)
        rows = fed(one, batches)
        assert one.dropped == 1
        covering = [row for row in rows if row["start"] <= 0 and row["end"] >= 6]
        if window == "two stacks":
            covering = [row for row in rows if (row["end"], row["k"]) in ((4, values[0]), (5, values[1]))]
        assert {(repr(row["k"]), row["COUNT(*)"]) for row in covering} == {(repr(values[0]), 3), (repr(values[1]), 7)}
        one = engine(text)
        found = [*(rows for part in batches for rows in one.feed(part)), *one.finish()]
        kind = pa.string() if pa.types.is_dictionary(column.type) else column.type
        assert {rows.groups["k"].type for rows in found} == {kind}


def test_a_null_in_any_of_several_keys_drops_the_event() -> None:
    text = "RETURN a, COUNT(*) PATTERN A+ WHERE [b] GROUP-BY a WITHIN 10 seconds SLIDE 10 seconds"
    one = engine(text)
    a, b = pa.array([1, None, 1, 1, None]), pa.array(["x", "x", None, "x", None])
    rows: list[Row] = fed(one, [batch("A", range(5), a=a, b=b)])
    assert one.dropped == 3
    assert [(row["a"], row["COUNT(*)"]) for row in rows] == [(1, 3)]
