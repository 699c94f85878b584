"""What a run reads, as a Spark DataFrame of clean events."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pyspark.sql.functions as F  # noqa: N812

from connectors.files import FilesFeed
from connectors.parquet_files import ParquetFile
from connectors.sources import Source
from connectors.spark.cleaning import ATTRIBUTE, DEAD, TICKS, TYPE, cleaned, readable
from connectors.times import read_times
from planner.clock import Clock

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Floats = npt.NDArray[np.float64]


@contextmanager
def spark_events(source: Source, clock: Clock, columns: Collection[str]) -> Iterator[Callable[[Any], DataFrame]]:
    """What makes a DataFrame of the events, for a SparkSession, or for another one after it.

    Parquet files are read by Spark; everything else is cleaned here, once, and written to Parquet for it.
    """
    asked = [name for name in dict.fromkeys(columns) if name not in (source.names.type, source.names.time)]
    with TemporaryDirectory(prefix="elsinore-") as folder:
        staged: list[Path] = []

        def events(spark: Any) -> DataFrame:
            paths = _parquet(source)
            if paths and not staged and not source.letters.wants_events:
                frame = spark.read.parquet(*paths)
                if readable(frame, source.names, asked):
                    return cleaned(frame, source.names, clock, asked)
            if not staged:
                _stage(source, clock, columns, Path(folder))
                staged.append(Path(folder))
            return spark.read.parquet(folder).withColumn(DEAD, F.lit(None).cast("string"))

        yield events


def quantiles(source: Source, clock: Clock, events: DataFrame, count: int) -> list[int]:
    """The times, in ticks, that cut the events into so many parts, about equally large: from what Parquet files tell of
    themselves, or else Spark looks."""
    spread = _spread(source, clock)
    if spread is None:
        shares = [part / count for part in range(1, count)]
        return [int(cut) for cut in events.where(F.col(DEAD).isNull()).approxQuantile(TICKS, shares, 0.01)]
    first, last, events_in = spread
    grid = np.linspace(first.min(), last.max(), 1 << 10)
    reached = np.clip((grid[:, None] - first) / np.maximum(last - first, 1), 0, 1) @ events_in
    wanted = np.arange(1, count) * (events_in.sum() / count)
    return [int(cut) for cut in grid[np.searchsorted(reached, wanted)]]


def _spread(source: Source, clock: Clock) -> tuple[Floats, Floats, Floats] | None:
    """First and last time of parts of the source, and how many events are in each."""
    if not _parquet(source):
        return None
    assert isinstance(source.feed, FilesFeed)
    found: list[tuple[int, int, int]] = []
    for file in source.feed.files:
        told = file.spread(source.names.time) if isinstance(file, ParquetFile) else None
        if told is None:
            return None
        for bounds, events in told:
            ticks = clock.read(read_times(bounds, source.form))
            found.append((int(ticks[0]), int(ticks[1]), events))
    first, last, counts = np.array(found, np.float64).reshape(-1, 3).T
    return first, last, counts


def _parquet(source: Source) -> list[str]:
    """The paths, where all files have columns of the same types."""
    feed = source.feed
    if not isinstance(feed, FilesFeed) or not all(isinstance(file, ParquetFile) for file in feed.files):
        return []
    alike = all(file.types == feed.files[0].types for file in feed.files)
    return [str(Path(file.source).resolve()) for file in feed.files] if alike else []


def _stage(source: Source, clock: Clock, columns: Collection[str], folder: Path) -> None:
    wanted = [name for name in dict.fromkeys(columns) if name not in (source.names.type, source.names.time)]
    schema: pa.Schema | None = None
    for number, batch in enumerate(source.batches(clock, columns)):
        table = pa.Table.from_batches([batch]).rename_columns([TYPE, TICKS, *(ATTRIBUTE + name for name in wanted)])
        pq.write_table(table, folder / f"{number:06}.parquet")
        schema = table.schema
    if schema is None:
        fields = [(TYPE, pa.string()), (TICKS, pa.int64()), *((ATTRIBUTE + name, pa.string()) for name in wanted)]
        pq.write_table(pa.schema(fields).empty_table(), folder / "none.parquet")
