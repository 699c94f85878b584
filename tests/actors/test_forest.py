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
from tests.support.streams import Row, batch, cut, fed


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
