"""The result of a run: its rows, as dicts, Arrow tables or frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from elsinore.connectors.rows.answers import Answers, Columns
from elsinore.connectors.rows.row_columns import listed
from elsinore.connectors.rows.row_tables import narrowed, table
from elsinore.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from rich.console import RenderableType

    from elsinore.cluster.run.local import Metrics
    from elsinore.notebooks.plots import Plot
    from elsinore.reasons.asking import Why


def can_be_read_again(events: Any) -> bool:
    """Return whether events are not those of an iterator or a stream."""
    return not (hasattr(events, "__next__") or isinstance(events, pa.RecordBatchReader))


@dataclass(frozen=True)
class RunSource:
    """A workload, its events, and the options with which they were read."""

    workload: str | PathLike[str]
    events: Any
    reading: Mapping[str, Any]

    @classmethod
    def kept(cls, workload: str | PathLike[str], events: Any, reading: Mapping[str, Any]) -> RunSource | None:
        """Return what was run; None for events that can be read only once."""
        return cls(workload, events, reading) if can_be_read_again(events) else None


@dataclass(frozen=True, repr=False)
class Result:
    """The rows of a workload: by query as the workload orders them, then by window, then by group."""

    __module__ = "elsinore"

    answers: Mapping[str, Answers]
    columns: Columns
    form: pa.DataType
    """The Arrow type of window bounds, for results without rows."""
    approximate: bool
    metrics: Metrics | SimpleNamespace
    kept: pa.Table | None = None
    recorded: pa.Table | None = None
    engine: str = "ray"
    """What ran the workload: "local" is this process, "ray" is Spark and Ray."""
    source: RunSource | None = None
    """What was run, where its events can be read again: `why` needs it."""

    def why(self, query: str | None = None, *, group: Any = None, window: Any = None) -> Why:
        """Explain why queries have no row, or not the one that was expected, as `elsinore.why` does.

        The events are read again, so they must be a frame, a table, a list or files of a run in this program.
        """
        if self.source is None:
            raise InputError(
                "these events cannot be read again; call elsinore.why(workload, events) with the events themselves"
            )
        from elsinore.inputs import seconds
        from elsinore.reasons.asking import Question, explained

        asked = self.source
        reading = dict(asked.reading)
        lateness = seconds(reading.pop("lateness"))
        rowless = frozenset(name for name in self.columns if not len(self.answers.get(name, ())))
        return explained(asked.workload, asked.events, reading, lateness, Question(query, group, window, rowless))

    @property
    def late(self) -> pa.Table:
        """Return the first 10,000 late events; `metrics.late` counts all, and `dead_letters` holds all.

        A service counts late events and does not keep them: then this raises InputError.
        """
        if self.kept is None:
            raise InputError("the service does not keep late events; metrics.late says how many there were")
        return self.kept

    @property
    def decisions(self) -> pa.Table:
        """Return the decision about each sharable burst; `elsinore.run(..., decisions=True)` records them."""
        if self.recorded is None:
            raise InputError(
                "decisions were not recorded; ask for them with elsinore.run(..., decisions=True), "
                "and those of a service with job.decisions()"
            )
        return self.recorded

    def __len__(self) -> int:
        return sum(map(len, self.answers.values()))

    @property
    def queries(self) -> tuple[str, ...]:
        """Return the names of all queries, including those without rows."""
        return tuple(self.columns)

    def query(self, name: str) -> Result:
        """Return a result with the rows of one query."""
        if name not in self.columns:
            raise InputError(f"the workload has no query {name!r}; it has {', '.join(self.columns)}")
        answers = {name: self.answers[name]} if name in self.answers else {}
        return replace(self, answers=answers, columns={name: self.columns[name]})

    def to_arrow(self) -> pa.Table:
        """Return one table: query, the bounds of windows, and all queries' columns, null where a query lacks one.

        A column of values is int64 or float64 where every value fits, else decimal256 or text with all digits.
        """
        return table(self.answers.values(), self.columns, self.form, self.approximate)

    def to_pandas(self) -> pd.DataFrame:
        """Return the table of `to_arrow` as a pandas frame; raise InputError for dates that Python does not hold."""
        try:
            return self.to_arrow().to_pandas()
        except (ValueError, OverflowError) as error:
            raise InputError(f"pandas cannot hold these rows: {error}; take to_arrow() or to_polars()") from None

    def to_polars(self) -> pl.DataFrame:
        """Return the table of `to_arrow` as a Polars frame; integers beyond Polars' 38 digits are text."""
        import polars as pl

        frame = pl.from_arrow(narrowed(self.to_arrow()))
        assert isinstance(frame, pl.DataFrame)
        return frame

    def rows(self) -> list[dict[str, Any]]:
        """Return a dict per row with the columns of its query; integers are exact, however large."""
        return [row for rows in self.answers.values() for row in dicts(rows, len(rows))]

    def head(self, count: int = 10) -> list[dict[str, Any]]:
        """Return the first rows of each query, in the form of `rows`."""
        return [row for rows in self.answers.values() for row in dicts(rows, count)]

    def plot(self, query: str | None = None, *, value: str | None = None, by: Sequence[str] | None = None) -> Plot:
        """Draw values over windows, with a line for each group, or the matches of a query over time.

        There is a panel for each query with rows, or for the named one. `value` is the column to draw: by default the
        first aggregate without a name of its own, or the last column. `by` names the columns of groups: by default
        those of text. Values over more than three orders of magnitude have a logarithmic axis. Needs
        `elsinore[plot]`.
        """
        from elsinore.notebooks.plots import plot

        return plot(self, query, value, by)

    def __repr__(self) -> str:
        from elsinore.show import plain

        return plain(self)

    def __rich__(self) -> RenderableType:
        from elsinore.show import rich

        return rich(self)

    def _repr_html_(self) -> str:
        from elsinore.show import html

        return html(self)


def dicts(rows: Answers, count: int) -> Iterator[dict[str, Any]]:
    """Yield the first rows, each as a dict with the columns of its query."""
    columns = {name: listed(column) for name, column in rows.head(count).items()}
    for values in zip(*columns.values(), strict=True):
        yield {"query": rows.query, **dict(zip(columns, values, strict=True))}
