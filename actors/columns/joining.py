"""Join batches of events, in which an attribute may have the name of the column of types, or of times."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

ATTRIBUTE = "a_"
"""Prefix of attributes while they are joined: a user's types and times may be in columns of other names."""


def one_table(batches: Iterable[pa.RecordBatch], own: int = 2) -> pa.Table:
    """Return the events of batches; `own`: the columns in front of the attributes.

    An attribute that a batch lacks is null, and integers become floats where other batches have floats.
    """
    tables = []
    for batch in batches:
        names = batch.schema.names
        prefixed = [*names[:own], *(f"{ATTRIBUTE}{name}" for name in names[own:])]
        tables.append(pa.Table.from_batches([batch]).rename_columns(prefixed))
    joined = pa.concat_tables(tables, promote_options="permissive").unify_dictionaries().combine_chunks()
    names = joined.schema.names
    return joined.rename_columns([*names[:own], *(name.removeprefix(ATTRIBUTE) for name in names[own:])])
