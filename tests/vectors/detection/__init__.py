"""Read the cases of detection whose rows are known.

`semantics.json` has small cases, one decision each, counted by hand; `random.json` random workloads of RETURN MATCHES,
and of aggregates over windows of events, which have the tag `aggregate`. Every event has an attribute `id`. In an
expected row a variable is the id of its event or null, and a list of ids if it may be bound more than once; a real row
has the whole event there. Rows are a multiset. Events may be unsorted, times tie, nulls occur.

`opencep.json` and `flink.json` have what these systems return where their meaning and ours agree, with the queries
written in our language, and rows with our columns. OpenCEP's windows include their bound, so w became w + 1 seconds;
its sequences allow equal times, so only cases without such ties are here. Flink's events have conditions instead of
types, so all are of one type; `followedByAny` became skip-till-any-match, `followedBy` without loops and optional parts
skip-till-next-match, `next` contiguous.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Event = dict[str, Any]
Row = dict[str, Any]

FOLDER = Path(__file__).parent


def _cases(*kinds: str) -> list[dict[str, Any]]:
    return [case for kind in kinds for case in json.loads((FOLDER / f"{kind}.json").read_text(encoding="utf-8"))]


CASES = _cases("semantics", "random")
OTHERS = _cases("opencep", "flink")
"""Cases of other systems; larger streams are among them."""

WORKLOAD_TEXTS: list[str] = [case["workload"] for case in (*CASES, *OTHERS)]


def numbered(row: Row, events: dict[int, Event]) -> Row:
    """Return a row with the ids of events in place of the events, which must be as they were given."""

    def number(value: Any) -> Any:
        if isinstance(value, list):
            return [number(part) for part in value]
        if not isinstance(value, dict):
            return value
        given = events[value["id"]]
        assert {name: part for name, part in value.items() if part is not None} == {
            name: part for name, part in given.items() if part is not None
        }
        return given["id"]

    return {name: number(value) for name, value in row.items()}


def multiset(rows: Iterable[Row]) -> Counter[str]:
    return Counter(repr(sorted(row.items())) for row in rows)
