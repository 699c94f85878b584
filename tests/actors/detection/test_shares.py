"""Engines that get all events, and search a share of the stream each, find the matches of one that searches all."""

from __future__ import annotations

import pytest

from elsinore.actors.detection.run import DetectionSetting
from elsinore.actors.engine import Engine
from elsinore.actors.rows.rows import Rows
from tests.support.streams import Row, bursts, cut, dicts, engine, planned

PATTERNS = {
    "sequence": "SEQ(A x, D y) WHERE x.w <= y.w",
    "list": "SEQ(A x, C y+, D z) WHERE y.v < NEXT(y).v",
    "any order": "AND(A x, C y)",
    "not first": "SEQ(NOT C, A x, D y)",
    "not last": "SEQ(A x, D y, NOT C)",
    "not last, by partition": "SEQ(A x, D y, NOT C) WHERE [k]",
    "next": "SEQ(A x, D y) SEMANTICS next",
    "contiguous": "SEQ(A x, B y) SEMANTICS contiguous",
}


def listed(one: Engine) -> list[Row]:
    """Return the rows of a stream as they come, of an engine that goes on in another process with each batch."""
    found, detection = list[Rows](), one._detection
    for part in cut(bursts(300), 100):
        found += one.feed(part)
        one = Engine.restore(one.plan, one.save(), detection=detection)
    return [row for rows in (*found, *one.finish()) for row in dicts(one, rows)]


def in_order(rows: list[Row]) -> list[Row]:
    """Sort rows as they are written: by their ends and starts alone."""
    return sorted(rows, key=lambda row: (row["end"], row["start"]))


@pytest.mark.one_in(5)
@pytest.mark.parametrize("limit", ["", " LIMIT 2"])
@pytest.mark.parametrize("unit", ["seconds", "events"])
@pytest.mark.parametrize("name", PATTERNS)
def test_shares_add_up_in_order(name: str, unit: str, limit: str) -> None:
    text = f"QUERY q RETURN MATCHES x.v, x.w PATTERN {PATTERNS[name]} WITHIN 9 {unit}{limit}"
    whole = engine(text)
    expected = in_order(listed(whole))
    for shares in (2, 3):
        settings = [DetectionSetting(share=(number, shares)) for number in range(shares)]
        engines = [Engine(planned(text), whole.clock, places=unit == "events", detection=one) for one in settings]
        found = [listed(one) for one in engines]
        assert in_order([row for rows in found for row in rows]) == expected != []
        assert all(len(rows) < len(expected) for rows in found)
