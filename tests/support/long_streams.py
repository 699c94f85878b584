"""A stream of twenty thousand events, and queries over it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tests.support.streams import batch

ITEMS = "COUNT(*), COUNT(B), SUM(B.v), AVG(B.v), MIN(B.v), MAX(B.v), SUM(C.f)"

LENGTH = 20_000


def stream(length: int, keys: int = 3, seed: int = 1) -> pa.RecordBatch:
    rnd = np.random.default_rng(seed)
    times = np.sort(rnd.integers(-length // 2, length // 2, length))
    return batch(
        rnd.choice(["A", "B", "C", "X"], length, p=[0.2, 0.4, 0.2, 0.2]),
        times,
        v=pa.array(rnd.integers(-1000, 1000, length), mask=rnd.random(length) < 0.05),
        f=rnd.standard_normal(length) * 10.0 ** rnd.integers(-20, 20, length),
        k=pa.array(rnd.integers(0, keys, length), mask=rnd.random(length) < 0.01),
        g=np.array([f"group {n}" for n in range(4)])[rnd.integers(0, 4, length)],
        one=np.ones(length, np.int64),
    )


EVENTS = stream(LENGTH)


def query(window: str, semantics: str = "any", where: str = "[k]", pattern: str = "SEQ(A, B+, C)") -> str:
    return f"RETURN g, {ITEMS} PATTERN {pattern} SEMANTICS {semantics} WHERE {where} GROUP-BY g {window}"


def within(within: int, slide: int | None = None) -> str:
    return f"WITHIN {within} seconds" + (f" SLIDE {slide} seconds" if slide else "")
