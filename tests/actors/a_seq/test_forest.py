"""Sequences by start event, on longer streams: the rows are those of two stacks, each query by itself."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tests.support.streams import batch, rows_of


def stream(count: int, seed: int = 1) -> pa.RecordBatch:
    rnd = np.random.default_rng(seed)
    v, w = rnd.integers(-9, 9, (2, count))
    k = rnd.integers(0, 3, count)
    times = np.sort(rnd.integers(0, count // 2, count))
    return batch(rnd.choice(list("AABBCCDX"), count).tolist(), times, v=v, w=w, f=w / 4, k=k, g=k // 2)


EVENTS = stream(900)


@pytest.mark.parametrize("numeric", ["exact", "approximate"])
@pytest.mark.parametrize("items", ["COUNT(*)", "COUNT(*), SUM(b.v), MIN(a.v)"])
def test_a_start_event_of_its_own_before_what_is_common(items: str, numeric: str) -> None:
    """How many start events there were is all that is told of them; some leave a window before others do."""
    text = "; ".join(
        f"RETURN k, {items} PATTERN SEQ({first}, A a, B b, B) WHERE [k] GROUP-BY k WITHIN {within} seconds"
        for first, within in (("C", 60), ("D", 60), ("X", 25), ("C", 140))
    )
    rows, expected = (rows_of(text, name, EVENTS, 250, numeric=numeric) for name in ("chop-connect", "cogra"))
    assert len(rows) == len(expected) > 500
    assert rows == expected
