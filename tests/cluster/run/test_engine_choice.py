"""Which engine `auto` takes for a bounded source, and that a run in this process loses no event of an unsorted file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import elsinore
from elsinore.cluster.machines.settings import Settings
from elsinore.cluster.run import engine_choice
from elsinore.cluster.run.engine_choice import EngineChoice, choose_engine
from elsinore.connectors.sources import open_events
from tests.support.one_workload import EVENTS, ROWS, WORKLOAD

AUTO = Settings(engine="auto")
TABLE = pl.DataFrame(EVENTS).to_arrow()


def choice(events: Any, settings: Settings = AUTO, given: tuple[str, ...] = ()) -> EngineChoice:
    return choose_engine(settings, given, open_events(events))


def small(monkeypatch: pytest.MonkeyPatch, events: int) -> None:
    """Let so many events be the most that `auto` runs here."""
    monkeypatch.setattr(engine_choice, "LOCAL_EVENTS", events)


def test_what_is_in_memory_runs_here(monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch, len(EVENTS) - 1)
    for events in (EVENTS, TABLE, TABLE.to_pandas()):
        assert choice(events).engine == "local"


@pytest.mark.parametrize("name", ["events.parquet", "events.jsonl"])
def test_files_run_here_up_to_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    path = tmp_path / name
    if name.endswith(".parquet"):
        pq.write_table(TABLE, path)
        most = len(EVENTS)
    else:
        path.write_text("".join(json.dumps(event) + "\n" for event in EVENTS))
        most = path.stat().st_size // 50
    small(monkeypatch, most)
    assert choice(path) == EngineChoice("local", f"there are at most {most:,} events", whole=True)
    small(monkeypatch, most - 1)
    assert choice(path) == EngineChoice("ray", f"there are more than {most - 1:,} events")


def test_a_reader_is_read_ahead_and_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for most, engine in ((len(EVENTS), "local"), (len(EVENTS) - 1, "ray")):
        small(monkeypatch, most)
        source = open_events(TABLE.to_reader(max_chunksize=2))
        assert choose_engine(AUTO, (), source).engine == engine
        read = [chunk.batch for chunk in source.feed.read(TABLE.schema.names, source.letters)]
        assert pa.Table.from_batches(read).equals(TABLE)


def test_what_asks_for_a_cluster_gets_one() -> None:
    assert choice(EVENTS, Settings(engine="auto", address="192.0.2.1:6379")).engine == "ray"
    assert choice(EVENTS, given=("actors",)) == EngineChoice("ray", "actors is given")
    assert choice(EVENTS, given=("engine",)).engine == "local"


@pytest.mark.parametrize("engine", ["ray", "local"])
def test_an_engine_that_is_named_is_taken(engine: Any) -> None:
    assert choice(EVENTS, Settings(engine=engine)).engine == engine


def test_no_event_of_an_unsorted_file_is_late(tmp_path: Path) -> None:
    """Chunks of a reader are batches: in its order, all events after the first would be late."""
    backwards = TABLE.take(list(reversed(range(len(EVENTS)))))
    result = elsinore.run(WORKLOAD, backwards.to_reader(max_chunksize=1), engine="auto")
    assert (result.rows(), result.metrics.late, result.engine) == (ROWS, 0, "local")


def test_numbers_of_later_files_join_those_of_earlier_ones(tmp_path: Path) -> None:
    """Integers in one file and floats in the next are one column of floats, in whatever order the files are."""
    paths = [tmp_path / f"{name}.parquet" for name in ("ints", "floats")]
    for path, values in zip(paths, ([1, 2], [0.5, 2.5]), strict=True):
        pq.write_table(pa.table({"type": ["A", "A"], "time": [0, 1], "v": values}), path)
    query = "RETURN COUNT(*), SUM(A.v) PATTERN A WITHIN 1 minute SLIDE 1 minute"
    for files in (paths, paths[::-1]):
        rows = elsinore.run(query, [str(path) for path in files], engine="auto").rows()
        assert [(row["COUNT(*)"], row["SUM(A.v)"]) for row in rows] == [(4, 6.0)]
