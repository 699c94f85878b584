"""Live streams: a folder that grows, or a streaming DataFrame of the user's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark.sql.types as T  # noqa: N812
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

from elsinore.connectors.errors import FailedError, InputError, names_there_are
from elsinore.connectors.feed import Names
from elsinore.connectors.spark.clean_frames import CORRUPT, FLOATING, WHOLE, cleaned, readable
from elsinore.connectors.spark.setting_aside import causes, tells_of_damage
from elsinore.planner.language.syntax import EventColumns
from elsinore.planner.time.clock import Clock

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMATS = {".parquet": "parquet", ".jsonl": "json", ".ndjson": "json", ".json": "json", ".csv": "csv"}

MAX_FILE_AGE = f"{2**63 - 1}ms"
"""The greatest age of a file, for `maxFileAge`.

Spark's file source silently skips a file whose time is older than the newest time that it has seen by more than
`maxFileAge`. It also forgets names of that age, so it reads such a file again when it is touched. No time of a file,
wherever a clock was set, is so far behind another one.
"""

MAX_LINE_BYTES = 1 << 20
"""Bytes of a line of text that are read to find whether the line is blank."""


class DamagedFileError(Exception):
    """A file from which the columns of a stream cannot be inferred, now or later."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self.path = path


class UnreadableFileError(FailedError):
    """A file that could not be read, for a reason that may pass."""


@dataclass(frozen=True)
class Stream:
    """A streaming DataFrame, and what is known of its columns."""

    frame: DataFrame
    names: Names
    time_unit: str

    @property
    def form(self) -> pa.DataType:
        """Return the form of its times, as a clock counts them."""
        kind = self.frame.schema[self.names.time].dataType
        if isinstance(kind, T.TimestampType):
            return pa.timestamp("us", "UTC")
        if isinstance(kind, T.TimestampNTZType):
            return pa.timestamp("us")
        return pa.float64() if isinstance(kind, FLOATING) else pa.int64()

    @property
    def attributes(self) -> set[str]:
        return set(self.frame.columns) - {self.names.type, self.names.time, CORRUPT}

    @property
    def event_columns(self) -> EventColumns:
        """Return the columns of whole events."""
        known = self.attributes
        return EventColumns(
            self.names.type, self.names.time, tuple(name for name in self.frame.columns if name in known)
        )

    def cleaned(self, clock: Clock, columns: Iterable[str], whole: bool = False) -> DataFrame:
        """Return type, time in ticks, why an event is dead, and these attributes; with `whole`, also its JSON."""
        asked = [name for name in dict.fromkeys(columns) if name not in (self.names.type, self.names.time)]
        if not readable(self.frame, self.names, asked):
            kinds = {field.name: field.dataType.simpleString() for field in self.frame.schema.fields}
            shown = ", ".join(f"{name}: {kinds[name]}" for name in asked if name in kinds)
            raise InputError(
                f"a stream may have columns of numbers, texts, truth values and timestamps; this one has {shown}"
            )
        return cleaned(self.frame, self.names, clock, asked, whole)


def file_options(files_at_once: int) -> dict[str, Any]:
    """Return the options with which Spark reads every folder of events.

    A file that cannot be opened fails its batch. With `ignoreMissingFiles` Spark would treat a file that it may not
    read, or for which there is no descriptor left, as missing, and go on as if it had read it: Java has one exception
    for all of these.
    """
    return {"maxFilesPerTrigger": files_at_once, "maxFileAge": MAX_FILE_AGE}


def check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; a live stream is read from a folder in which files appear")


def open_stream(
    spark: SparkSession,
    source: Any,
    *,
    type_column: str = "type",
    time_column: str = "time",
    time_unit: str = "s",
    files_at_once: int = 64,
) -> Stream | None:
    """Open a folder, a streaming DataFrame, or a function that makes one of a SparkSession (to read Kafka, say).

    The columns of a folder are those of its first file with events. Return None while there is none.
    """
    if callable(source):
        source = source(spark)
    if isinstance(source, str | Path):
        source = _folder(spark, Path(source), files_at_once)
        if source is None:
            return None
    if not getattr(source, "isStreaming", False):
        raise InputError(
            f"a stream cannot be read from {type(source).__name__}; give a folder that grows, a streaming "
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
            "it must hold numbers or timestamps"
        )
    return Stream(source, Names(type_column, time_column), time_unit)


def read_alone(spark: SparkSession, path: Path, schema: T.StructType) -> None:
    """Read a file to its end, with these columns, as a stream reads it; raise what Spark raises."""
    kind = FORMATS[path.suffix.lower()]
    read = spark.read.format(kind).schema(schema).options(**_known_by(kind)).load(str(path))
    read.write.format("noop").mode("overwrite").save()


def _folder(spark: SparkSession, folder: Path, files_at_once: int) -> DataFrame | None:
    """Return a stream of the files that appear in a folder; None while none has events.

    Files must appear complete: they are written under another name, and renamed.
    """
    check_folder(folder)
    for first in _with_events(folder):
        schema = _columns(spark, first)
        if schema is not None:
            break
    else:
        return None
    kind = FORMATS[first.suffix.lower()]
    reader = spark.readStream.format(kind).schema(schema).options(**_known_by(kind), **file_options(files_at_once))
    return reader.option("pathGlobFilter", f"*{first.suffix}").load(str(folder.resolve()))


def _known_by(kind: str) -> dict[str, str]:
    """Return the options with which Spark infers columns, and keeps lines that it cannot read."""
    if kind == "parquet":
        return {}
    return {"columnNameOfCorruptRecord": CORRUPT} | ({"inferSchema": "true", "header": "true"} if kind == "csv" else {})


def _columns(spark: SparkSession, path: Path) -> T.StructType | None:
    """Return the columns of a file; None if no line of it can be read."""
    kind = FORMATS[path.suffix.lower()]
    try:
        schema = spark.read.format(kind).options(**_known_by(kind)).load(str(path)).schema
    except Py4JJavaError as error:
        if tells_of_damage(error):
            raise DamagedFileError(path) from error
        raise UnreadableFileError(f"{path} cannot be read: {causes(error)[-1]}") from error
    if kind == "parquet":
        return schema
    read = [field for field in schema.fields if field.name != CORRUPT]
    return T.StructType(read).add(CORRUPT, "string") if read else None


def _with_events(folder: Path) -> Iterator[Path]:
    """Yield the files that hold events, in order of name. Hidden files are temporary files, here and to Spark."""
    found = (path for path in folder.iterdir() if path.suffix.lower() in FORMATS and path.name[0] not in "._")
    return filter(_holds_events, sorted(found))


def _holds_events(path: Path) -> bool:
    """Return whether a file has a row. Without rows, columns have no types (CSV) or are not known at all."""
    try:
        if path.suffix.lower() == ".parquet":
            return pq.read_metadata(path).num_rows > 0
        with path.open("rb") as file:
            lines = iter(lambda: file.readline(MAX_LINE_BYTES), b"")
            needed = 2 if path.suffix.lower() == ".csv" else 1
            return len(list(islice(filter(bytes.strip, lines), needed))) == needed
    except FileNotFoundError:
        return False
    except OSError as error:
        # Arrow raises this class for damage, too; only errors of the operating system have a number.
        if error.errno is None:
            raise DamagedFileError(path) from error
        raise UnreadableFileError(f"{path} cannot be read: {error.strerror}") from error
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DamagedFileError(path) from error
