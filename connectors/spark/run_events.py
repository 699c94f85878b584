"""The events of a run, as a Spark DataFrame of clean events."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pyspark.sql.functions as F  # noqa: N812
import pyspark.sql.types as T  # noqa: N812

from elsinore.connectors.files import FilesFeed
from elsinore.connectors.formats.parquet_files import ParquetFile, has_all, row_group_bounds
from elsinore.connectors.sources import Source
from elsinore.connectors.spark.clean_frames import ARRIVAL, ATTRIBUTE, DEAD, TICKS, TYPE, cleaned, readable
from elsinore.connectors.spark.java_objects import java_classes
from elsinore.connectors.spark.slices import RowGroup
from elsinore.connectors.times import read_times, too_far
from elsinore.planner.time.clock import Clock

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

Ints = npt.NDArray[np.int64]


METADATA = "_metadata"
"""Spark's column of what it knows of files; an attribute of this name hides it."""

MOST_FILES = 256
"""Number of files above which events are numbered as Spark reads them: it looks a file up by going through all."""

ROW_BITS = 40
"""Bits of the number of a row in a file; the number of the file comes before them."""


@dataclass
class Events:
    """The events of a source, from which it makes a DataFrame for one SparkSession after another.

    Spark reads Parquet files. All other events are cleaned here, once, and written to Parquet for Spark.
    """

    source: Source
    clock: Clock
    columns: tuple[str, ...]
    folder: Path
    numbered: bool = False
    """Whether events get numbers by arrival: those of the first file, row by row, then those of the next."""
    staged: bool = False

    def __call__(self, spark: Any) -> DataFrame:
        paths = _parquet(self.source)
        if paths and not self.staged and not self.source.letters.wants_events:
            schema = _schema(self.source, self.columns)
            # Without a schema Spark would begin with a job that infers it.
            frame = (spark.read.schema(schema) if schema else spark.read).parquet(*paths)
            if readable(frame, self.source.names, self.columns) and self._in_microseconds:
                return cleaned(frame, self.source.names, self.clock, self.columns, arrival=self._arrival(frame))
        if not self.staged:
            _stage(self.source, self.clock, self.columns, self.folder, self.numbered)
            self.staged = True
        return spark.read.parquet(str(self.folder)).withColumn(DEAD, F.lit(None).cast("string"))

    def _arrival(self, frame: DataFrame) -> Column | None:
        """Return the number of an event by arrival, which does not depend on how Spark cuts and orders its files."""
        if not self.numbered:
            return None
        paths, row = list(dict.fromkeys(self.files)), F.col(f"{METADATA}.row_index")
        if METADATA in frame.columns or len(paths) > MOST_FILES:
            return F.monotonically_increasing_id()
        if len(paths) < 2:
            return row
        # Spark writes the addresses of files in its own way.
        address = java_classes(frame.sparkSession).org.apache.hadoop.fs.Path
        known = (address(f"file:{path}").toUri().toString() for path in paths)
        numbers = (part for number, path in enumerate(known) for part in (F.lit(path), F.lit(number)))
        file = F.element_at(F.create_map(*numbers), F.col(f"{METADATA}.file_path"))
        return F.shiftleft(file.cast("long"), ROW_BITS) + row

    @property
    def files(self) -> list[Path]:
        """Return the files that Spark reads, once the DataFrame is made."""
        return sorted(self.folder.iterdir()) if self.staged else [Path(path) for path in _parquet(self.source)]

    @property
    def bytes(self) -> int:
        return sum(path.stat().st_size for path in self.files)

    @property
    def groups(self) -> list[RowGroup] | None:
        """Return the row groups of the files; None if one has no statistics."""
        if self.staged:
            return _groups(self.files, TICKS, lambda bounds: np.asarray(bounds))
        return _groups(self.files, self.source.names.time, self._ticks)

    def _ticks(self, bounds: pa.Array) -> Ints:
        """Return times of a file in ticks; raise OverflowError if one cannot be counted."""
        times = read_times(bounds, self.source.form)
        if too_far(times, self.clock) is not None:
            raise OverflowError("a time is out of range")
        return self.clock.read(times)

    @property
    def _in_microseconds(self) -> bool:
        """Return whether Spark can read all times.

        It converts times of coarser units to microseconds, and fails at one that is too far away for that.
        """
        form: Any = self.source.form
        return not pa.types.is_timestamp(form) or form.unit in ("us", "ns") or self.groups is not None

    def whole(self, attributes: Iterable[str]) -> bool:
        """Return whether the statistics of the files show that no event is dead, and that all have these attributes."""
        names = self.source.names
        asked = {ATTRIBUTE + name for name in attributes} if self.staged else {names.type, names.time, *attributes}
        return self.groups is not None and all(
            has_all(file, name) for path in self.files for file in [pq.ParquetFile(path)] for name in asked
        )


@contextmanager
def spark_events(source: Source, clock: Clock, columns: Collection[str], numbered: bool = False) -> Iterator[Events]:
    """Yield the events, with a temporary folder for as long as they are used."""
    asked = tuple(name for name in dict.fromkeys(columns) if name not in (source.names.type, source.names.time))
    with TemporaryDirectory(prefix="elsinore-") as folder:
        yield Events(source, clock, asked, Path(folder), numbered)


def quantiles(events: DataFrame, count: int) -> list[int]:
    """Return the times, in ticks, that cut the events into so many parts of about equal size, by Spark's estimate."""
    shares = [part / count for part in range(1, count)]
    return [int(cut) for cut in events.where(F.col(DEAD).isNull()).approxQuantile(TICKS, shares, 0.01)]


def _groups(files: Iterable[Path], column: str, ticks: Callable[[pa.Array], Ints]) -> list[RowGroup] | None:
    found: list[RowGroup] = []
    for path in files:
        with pq.ParquetFile(path) as file:
            row_groups = row_group_bounds(file, column)
        if row_groups is None:
            return None
        for one in row_groups:
            try:
                first, last = ticks(one.bounds)
            except OverflowError:
                # The time of an event that cannot be counted; Spark will find the event dead.
                return None
            found.append(RowGroup(path, one.start, one.end, one.events, int(first), int(last)))
    return found


PLAIN: dict[pa.DataType, T.DataType] = {
    pa.int8(): T.ByteType(),
    pa.int16(): T.ShortType(),
    pa.int32(): T.IntegerType(),
    pa.int64(): T.LongType(),
    pa.float32(): T.FloatType(),
    pa.float64(): T.DoubleType(),
    pa.string(): T.StringType(),
    pa.large_string(): T.StringType(),
    pa.bool_(): T.BooleanType(),
}
"""Types whose values Parquet, Arrow and Spark represent alike."""


def _schema(source: Source, columns: Sequence[str]) -> T.StructType | None:
    """Return the schema of the columns that are read; None if Spark has to infer it."""
    types = source.feed.types
    fields = [T.StructField(name, kind) for name in _read(source, columns) if (kind := _plain(types[name]))]
    return T.StructType(fields) if len(fields) == len(_read(source, columns)) else None


def _read(source: Source, columns: Sequence[str]) -> list[str]:
    named = dict.fromkeys((source.names.type, source.names.time, *columns))
    return [name for name in named if name in source.feed.types]


def _plain(kind: pa.DataType) -> T.DataType | None:
    return PLAIN.get(kind.value_type if pa.types.is_dictionary(kind) else kind)


def _parquet(source: Source) -> list[str]:
    """Return the paths of the files if all are Parquet files with columns of the same types; else none."""
    feed = source.feed
    if not isinstance(feed, FilesFeed) or not all(isinstance(file, ParquetFile) for file in feed.files):
        return []
    alike = all(file.types == feed.files[0].types for file in feed.files)
    return [str(Path(file.source).resolve()) for file in feed.files] if alike else []


def _stage(source: Source, clock: Clock, wanted: Sequence[str], folder: Path, numbered: bool) -> None:
    schema: pa.Schema | None = None
    before = 0
    for number, batch in enumerate(source.batches(clock, wanted)):
        table = pa.Table.from_batches([batch]).rename_columns([TYPE, TICKS, *(ATTRIBUTE + name for name in wanted)])
        if numbered:
            table = table.append_column(ARRIVAL, pa.array(np.arange(before, before + len(table))))
        pq.write_table(table, folder / f"{number:06}.parquet")
        schema, before = table.schema, before + len(table)
    if schema is None:
        fields = [(TYPE, pa.string()), (TICKS, pa.int64()), *((ATTRIBUTE + name, pa.string()) for name in wanted)]
        fields += [(ARRIVAL, pa.int64())] if numbered else []
        pq.write_table(pa.schema(fields).empty_table(), folder / "none.parquet")
