"""What a run answers: rows, in whatever form suits the one who asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from actors.rows import Rows
from elsinore.columns import listed
from elsinore.errors import InputError
from elsinore.tables import Columns, narrowed, table
from planner.clock import Clock

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from rich.console import RenderableType

    from cluster.local import Metrics


@dataclass(frozen=True, repr=False)
class Result:
    """The rows of a workload: by query as the workload orders them, then by window, then by group."""

    __module__ = "elsinore"

    answers: Mapping[str, Rows]
    columns: Columns
    clock: Clock
    approximate: bool
    metrics: Metrics
    late: pa.Table
    recorded: pa.Table | None = None

    @property
    def decisions(self) -> pa.Table:
        """What was decided about every burst that could be shared; `elsinore.run(..., decisions=True)` records it."""
        if self.recorded is None:
            raise InputError("decisions were not recorded; ask for them with elsinore.run(..., decisions=True)")
        return self.recorded

    def __len__(self) -> int:
        return sum(map(len, self.answers.values()))

    @property
    def queries(self) -> tuple[str, ...]:
        """The names of the queries, those without rows too."""
        return tuple(self.columns)

    def query(self, name: str) -> Result:
        """The rows of one query alone."""
        if name not in self.columns:
            raise InputError(f"the workload has no query {name!r}; it has {', '.join(self.columns)}")
        answers = {name: self.answers[name]} if name in self.answers else {}
        return replace(self, answers=answers, columns={name: self.columns[name]})

    def to_arrow(self) -> pa.Table:
        """One table: query, window_start, window_end, and every column of any query, null where a query has none such.

        A column of values is int64 or float64 where every value fits, else decimal256 or text with all digits.
        """
        return table(self.answers.values(), self.columns, self.clock, self.approximate)

    def to_pandas(self) -> pd.DataFrame:
        return self.to_arrow().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """As `to_arrow`, but integers beyond Polars' 38 digits are text."""
        import polars as pl

        frame = pl.from_arrow(narrowed(self.to_arrow()))
        assert isinstance(frame, pl.DataFrame)
        return frame

    def rows(self) -> list[dict[str, Any]]:
        """A dict per row with its query's own columns; integers are exact, however large."""
        return [row for rows in self.answers.values() for row in self._dicts(rows, len(rows))]

    def head(self, count: int = 10) -> list[dict[str, Any]]:
        """The first rows of each query, as `rows` gives them."""
        return [row for rows in self.answers.values() for row in self._dicts(rows, count)]

    def _dicts(self, rows: Rows, count: int) -> list[dict[str, Any]]:
        columns = {
            "query": [rows.query] * min(count, len(rows)),
            "window_start": self._times(rows.window_start[:count]),
            "window_end": self._times(rows.window_end[:count]),
            **{column: listed(values[:count]) for column, values in (rows.groups | rows.values).items()},
        }
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def _times(self, ticks: npt.NDArray[np.int64]) -> list[int | float | datetime]:
        """In the unit and form of the input; a whole number of units is an int unless the input's times were floats."""
        times = listed(self.clock.show(ticks))
        if pa.types.is_integer(self.clock.form):
            return [int(time) if isinstance(time, float) and time.is_integer() else time for time in times]
        return times

    def __repr__(self) -> str:
        from elsinore.show import plain

        return plain(self)

    def __rich__(self) -> RenderableType:
        from elsinore.show import rich

        return rich(self)

    def _repr_html_(self) -> str:
        from elsinore.show import html

        return html(self)
