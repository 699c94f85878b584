"""Streams that go on: a folder that grows, or a streaming DataFrame of the user's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyspark.sql.types as T  # noqa: N812

from connectors.errors import InputError, names_there_are
from connectors.feed import Names
from connectors.spark.cleaning import CORRUPT, FLOATING, WHOLE, cleaned, readable
from planner.clock import Clock

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMATS = {".parquet": "parquet", ".jsonl": "json", ".ndjson": "json", ".json": "json", ".csv": "csv"}

POLL = 0.1
"""Seconds between two looks into a folder that is still empty."""


@dataclass(frozen=True)
class Stream:
    """A streaming DataFrame, and what is known of its columns."""

    frame: DataFrame
    names: Names
    time_unit: str

    @property
    def form(self) -> pa.DataType:
        """Of its times, as a clock counts them."""
        kind = self.frame.schema[self.names.time].dataType
        if isinstance(kind, T.TimestampType):
            return pa.timestamp("us", "UTC")
        if isinstance(kind, T.TimestampNTZType):
            return pa.timestamp("us")
        return pa.float64() if isinstance(kind, FLOATING) else pa.int64()

    @property
    def attributes(self) -> set[str]:
        return set(self.frame.columns) - {self.names.type, self.names.time, CORRUPT}

    def cleaned(self, clock: Clock, columns: Iterable[str], whole: bool = False) -> DataFrame:
        """Type, time in ticks, why an event is dead, these attributes, and, if asked, the whole event."""
        asked = [name for name in dict.fromkeys(columns) if name not in (self.names.type, self.names.time)]
        if not readable(self.frame, self.names, asked):
            kinds = {field.name: field.dataType.simpleString() for field in self.frame.schema.fields}
            shown = ", ".join(f"{name}: {kinds[name]}" for name in asked if name in kinds)
            raise InputError(f"a stream has columns of numbers, texts, truths and timestamps; this one has {shown}")
        return cleaned(self.frame, self.names, clock, asked, whole)


def open_stream(
    spark: SparkSession,
    source: Any,
    *,
    type_column: str = "type",
    time_column: str = "time",
    time_unit: str = "s",
    files_at_once: int = 64,
    waiting: Callable[[], bool] = lambda: True,
) -> Stream:
    """`source`: a folder, a streaming DataFrame, or what makes one of a SparkSession (a Kafka topic, for instance)."""
    if callable(source):
        source = source(spark)
    if isinstance(source, str | Path):
        source = _folder(spark, Path(source), files_at_once, waiting)
    if not getattr(source, "isStreaming", False):
        raise InputError(
            f"a stream is read from {type(source).__name__}, which cannot be; give a folder that grows, a streaming "
            "DataFrame, or a function that makes one: lambda spark: spark.readStream.format('kafka')..."
        )
    kinds = {field.name: field.dataType for field in source.schema.fields}
    for what, name in (("type", type_column), ("time", time_column)):
        if name not in kinds:
            raise InputError(
                f"the stream has no {what} column {name!r}; it has {names_there_are(kinds)}. "
                f"Name another with {what}_column."
            )
    if not isinstance(kinds[time_column], (*WHOLE, *FLOATING, T.TimestampType, T.TimestampNTZType)):
        raise InputError(
            f"the time column {time_column!r} holds {kinds[time_column].simpleString()}; "
            "a stream's times are numbers or timestamps"
        )
    return Stream(source, Names(type_column, time_column), time_unit)


def _folder(spark: SparkSession, folder: Path, files_at_once: int, waiting: Callable[[], bool]) -> DataFrame:
    """Files that appear in a folder, as a whole each: written under another name, and renamed when complete."""
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder; a live stream is read from a folder in which files appear")
    first = _first(folder)
    while first is None and waiting():
        sleep(POLL)
        first = _first(folder)
    if first is None:
        raise InputError(f"{folder} holds no Parquet, JSON lines or CSV file yet, so its columns are not known")
    kind = FORMATS[first.suffix.lower()]
    options = {"inferSchema": "true", "header": "true"} if kind == "csv" else {}
    schema = spark.read.format(kind).options(**options).load(str(first)).schema
    if kind != "parquet":
        schema = T.StructType([*(field for field in schema.fields if field.name != CORRUPT)]).add(CORRUPT, "string")
        options |= {"columnNameOfCorruptRecord": CORRUPT}
    reader = spark.readStream.format(kind).schema(schema).options(**options)
    # A file that is set aside while it is being read is missing from then on, and that is as it should be.
    reader = reader.option("maxFilesPerTrigger", files_at_once).option("ignoreMissingFiles", "true")
    return reader.option("pathGlobFilter", f"*{first.suffix}").load(str(folder.resolve()))


def _first(folder: Path) -> Path | None:
    """Hidden files are drafts, here and to Spark."""
    found = (path for path in folder.iterdir() if path.suffix.lower() in FORMATS and path.name[0] not in "._")
    return min(found, default=None)
