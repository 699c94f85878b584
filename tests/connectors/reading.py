"""Read sources to their end, for tests."""

from __future__ import annotations

import json
from collections.abc import Collection
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa

from elsinore.connectors.sources import Source, open_events
from elsinore.planner.time.clock import Clock


def batches(source: Source, columns: Collection[str] = ()) -> list[pa.RecordBatch]:
    clock = Clock.of(source.form, source.time_unit, (Fraction(1),))
    read = list(source.batches(clock, columns))
    for batch in read:
        batch.validate(full=True)
        assert batch.schema.names == ["type", "time", *columns]
        assert batch.schema.types[:2] == [pa.dictionary(pa.int32(), pa.string()), pa.int64()]
    return read


def read(events: Any, *columns: str, **options: Any) -> list[dict[str, Any]]:
    """Return all events as dicts."""
    return [event for batch in batches(open_events(events, **options), columns) for event in batch.to_pylist()]


def letters(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


FAILURES = json.loads((Path(__file__).parent / "spark_failures.json").read_text())
"""Messages of Spark 3.5.7 under RayDP about files that were damaged, or not readable for other reasons."""
