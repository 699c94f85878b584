"""Detection and the plain engine of partial matches find the same, so that comparing their times means something."""

from __future__ import annotations

import numpy as np
import pytest

from tests.actors.detection.partial_matches import Event, PartialMatches
from tests.actors.detection.support import queries_of, run

TEXT = "QUERY q RETURN MATCHES PATTERN SEQ(A, B, C, D) {} WITHIN 12 seconds"


@pytest.mark.parametrize("where", ["", "WHERE A.v < C.v AND B.v + 1 != D.v", "WHERE A.v < 3 AND A.v + B.v > D.v * 2"])
def test_both_find_the_same(where: str) -> None:
    draw = np.random.default_rng(3)
    times = np.sort(draw.integers(0, 150, 300)).tolist()
    events = [
        {"id": n, "type": "ABCDX"[draw.integers(5)], "time": time, "v": int(draw.integers(8))}
        for n, time in enumerate(times)
    ]
    (query,) = queries_of(TEXT.format(where))
    plain = PartialMatches(query, 12)
    objects = [Event(event["type"], event["time"], event) for event in events]
    found = [match for event in objects for match in plain.process(event)]
    rows = run(TEXT.format(where), events, cuts=[40, 41, 90])
    assert len(found) > 20
    assert sorted(tuple(event.attributes["id"] for event in match.bound.values()) for match in found) == sorted(
        tuple(row[name] for name in "ABCD") for row in rows
    )
