"""Sequences by start event, on longer streams: the rows are those of two stacks, each query by itself."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from elsinore.actors.engine import Engine
from elsinore.planner.a_seq.sets import ForestSet
from elsinore.planner.checks.check import check_text
from elsinore.planner.plans.planning import plan
from elsinore.planner.time.clock import Clock
from tests.support.streams import Row, batch, cut, fed, shown

STRATEGIES = ("a-seq", "prefix", "chop-connect")
SEQUENCES = (
    *("A, B, C", "A, B, D", "A, B, NOT X, C, D", "C, A, B, D", "D, C, A, B", "A, B", "D, C, B, A, B", "C, A, A, B"),
)
WITHIN = (30, 45, 12, 60, 30, 5)


def workload(items: str, where: str = "[k]", group: str = "k", within: tuple[int, ...] = WITHIN) -> str:
    return "; ".join(
        f"RETURN {group}, {items} PATTERN SEQ({_named(sequence)}) WHERE {where} GROUP-BY {group} "
        f"WITHIN {within[number % len(within)]} seconds"
        for number, sequence in enumerate(SEQUENCES)
    )


def _named(sequence: str) -> str:
    """With variables: the first A and the first B are what is asked for."""
    return sequence.replace("A", "A a", 1).replace("B", "B b", 1)


def stream(count: int, seed: int = 1) -> pa.RecordBatch:
    rnd = np.random.default_rng(seed)
    v, w = rnd.integers(-9, 9, (2, count))
    k = rnd.integers(0, 3, count)
    times = np.sort(rnd.integers(0, count // 2, count))
    return batch(rnd.choice(list("AABBCCDX"), count).tolist(), times, v=v, w=w, f=w / 4, k=k, g=k // 2)


EVENTS = stream(900)


def engine(text: str, strategy: str, numeric: str = "exact") -> Engine:
    made = plan(check_text(text), strategy)
    assert strategy in ("a-seq", "cogra") or any(isinstance(one, ForestSet) for one in made.share_sets)
    return Engine(made, Clock.of(pa.int64(), "s", made.spans), numeric)


def run(text: str, strategy: str, events: pa.RecordBatch = EVENTS, numeric: str = "exact") -> list[Row]:
    return fed(engine(text, strategy, numeric), cut(events, 250))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("group", ["k", "g"])
def test_rows_are_those_of_two_stacks(strategy: str, group: str) -> None:
    """Also where several partitions are one group: a row is due in all of them."""
    text = workload("COUNT(*), COUNT(a), SUM(b.v), AVG(a.f)", "[k] AND b.w > -7", group)
    expected = run(text, "cogra")
    assert len(expected) > 500
    assert run(text, strategy) == expected


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_extremes(strategy: str) -> None:
    text = workload("COUNT(*), MIN(a.v), MAX(b.f)")
    assert run(text, strategy) == run(text, "cogra")


@pytest.mark.parametrize("numeric", ["exact", "approximate"])
@pytest.mark.parametrize("items", ["COUNT(*)", "COUNT(*), SUM(b.v), MIN(a.v)"])
def test_a_start_event_of_its_own_before_what_is_common(items: str, numeric: str) -> None:
    """How many start events there were is all that is told of them; some leave a window before others do."""
    text = "; ".join(
        f"RETURN k, {items} PATTERN SEQ({first}, A a, B b, B) WHERE [k] GROUP-BY k WITHIN {within} seconds"
        for first, within in (("C", 60), ("D", 60), ("X", 25), ("C", 140))
    )
    rows, expected = run(text, "chop-connect", numeric=numeric), run(text, "cogra", numeric=numeric)
    assert len(rows) == len(expected) > 500
    assert rows == expected


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_numbers_beyond_any_word(strategy: str) -> None:
    """Sequences of thirty types in turns; sums of both signs."""
    turns = ", ".join("AB"[place % 2] for place in range(30)).replace("A", "A a", 1)
    patterns = (f"SEQ({turns})", f"SEQ({turns}, C)", f"SEQ(C, {turns})", f"SEQ(D, C, {turns})")
    text = "; ".join(f"RETURN COUNT(*), SUM(a.v), MIN(a.v) PATTERN {one} WITHIN 900 seconds" for one in patterns)
    events = batch([*"DDCC", *"AABBA" * 40, *"CC"], range(206), v=(np.arange(206) - 40) * 10**12)
    expected = run(text, "cogra", events)
    assert max(row["COUNT(*)"] for row in expected) > 2**64
    assert run(text, strategy, events) == expected


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_approximate_numbers(strategy: str) -> None:
    text = workload("COUNT(*), SUM(b.f)")
    rows, expected = run(text, strategy, numeric="approximate"), run(text, "cogra", numeric="approximate")
    assert len(rows) == len(expected) > 500
    for row, other in zip(rows, expected, strict=True):
        for name, value in row.items():
            assert value == (pytest.approx(other[name]) if isinstance(value, float) else other[name])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_floats_that_come_late(strategy: str) -> None:
    """What was compared and added up as integers is so as floats from then on, and needs digits of its own."""
    text = workload("SUM(a.v), MAX(b.v)")
    column = pa.array([v + 2.0**-40 for v in EVENTS.column("v").to_pylist()])
    later = EVENTS.set_column(EVENTS.schema.get_field_index("v"), "v", column).slice(450)
    batches = [EVENTS.slice(0, 450), later]
    assert fed(engine(text, strategy), batches) == fed(engine(text, "cogra"), batches)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_saved_and_restored_between_batches(strategy: str) -> None:
    text = workload("COUNT(*), SUM(b.f)")
    one, rows = engine(text, strategy), []
    for part in cut(EVENTS, 150):
        rows += one.feed(part)
        one = Engine.restore(one.plan, one.save())
    assert shown(one, [*rows, *one.finish()]) == run(text, "cogra")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_partitions_that_are_forgotten(strategy: str) -> None:
    count = 4000
    whole = stream(count, 3)
    times = np.arange(count) // 2
    columns = {name: whole.column(name) for name in ("v", "w", "f")}
    events = batch(whole.column("type").to_pylist(), times, **columns, k=times // 40, g=times // 80)
    text = workload("COUNT(*)")
    assert run(text, strategy, events) == run(text, "cogra", events)
