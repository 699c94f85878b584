"""Rows as JSON lines, each an object with the columns of its query."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from elsinore.connectors.columns import coded_texts
from elsinore.connectors.rows.json_values import json_of


def json_rows(batch: pa.RecordBatch, columns: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the rows as lines, each with only the columns of its query."""
    for rows in _by_query(batch):
        yield json_lines(rows, columns[rows.column("query")[0].as_py()])


def json_lines(rows: pa.RecordBatch, names: Sequence[str]) -> str:
    """Return lines with each row as an object of these columns."""
    keys = [f"{', ' if place else '{'}{json.dumps(name)}: " for place, name in enumerate(names)]
    cells = [cell for key, name in zip(keys, names, strict=True) for cell in (key, _cells(rows, name))]
    return "".join(pc.binary_join_element_wise(*cells, "}\n", "").to_pylist())


def _by_query(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield slices of one query each, in order."""
    codes = coded_texts(batch.column("query")).indices.to_numpy()
    starts = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist(), len(codes)]
    for start, end in pairwise(starts):
        if end > start:
            yield batch.slice(start, end - start)


def _cells(rows: pa.RecordBatch, name: str) -> pa.Array:
    """Return the JSON of each value."""
    return json_of(rows.column(name), rows.schema.field(name))
