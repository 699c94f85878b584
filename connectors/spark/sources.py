"""What a run reads, as a Spark DataFrame of clean events."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark.sql.functions as F  # noqa: N812

from connectors.files import FilesFeed
from connectors.parquet_files import ParquetFile
from connectors.sources import Source
from connectors.spark.cleaning import ATTRIBUTE, DEAD, TICKS, TYPE, cleaned, readable
from planner.clock import Clock

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@contextmanager
def spark_events(spark: Any, source: Source, clock: Clock, columns: Collection[str]) -> Iterator[DataFrame]:
    """Parquet files are read by Spark; everything else is cleaned here, and written to Parquet for it."""
    asked = [name for name in dict.fromkeys(columns) if name not in (source.names.type, source.names.time)]
    paths = _parquet(source)
    if paths and not source.letters.wants_events:
        frame = spark.read.parquet(*paths)
        if readable(frame, source.names, asked):
            yield cleaned(frame, source.names, clock, asked)
            return
    with TemporaryDirectory(prefix="elsinore-") as folder:
        yield _staged(spark, source, clock, columns, Path(folder))


def _parquet(source: Source) -> list[str]:
    """The paths, where all files have columns of the same types."""
    feed = source.feed
    if not isinstance(feed, FilesFeed) or not all(isinstance(file, ParquetFile) for file in feed.files):
        return []
    alike = all(file.types == feed.files[0].types for file in feed.files)
    return [str(Path(file.source).resolve()) for file in feed.files] if alike else []


def _staged(spark: Any, source: Source, clock: Clock, columns: Collection[str], folder: Path) -> DataFrame:
    wanted = [name for name in dict.fromkeys(columns) if name not in (source.names.type, source.names.time)]
    schema: pa.Schema | None = None
    for number, batch in enumerate(source.batches(clock, columns)):
        table = pa.Table.from_batches([batch]).rename_columns([TYPE, TICKS, *(ATTRIBUTE + name for name in wanted)])
        pq.write_table(table, folder / f"{number:06}.parquet")
        schema = table.schema
    if schema is None:
        fields = [(TYPE, pa.string()), (TICKS, pa.int64()), *((ATTRIBUTE + name, pa.string()) for name in wanted)]
        pq.write_table(pa.schema(fields).empty_table(), folder / "none.parquet")
    frame = spark.read.parquet(str(folder))
    return frame.withColumn(DEAD, F.lit(None).cast("string"))
