"""Values of rows as JSON: numbers with all their digits, times as ISO-8601. Arrow formats them column by column."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from elsinore.calendar_years import as_texts

NUMBER = b"number"
"""Metadata key of the field of a text column that holds numbers with more digits than any numeric column."""

JSON = pa.json_(pa.string())
"""The type of a column whose values have no common type: an event in one query, and a list of events in another."""


def as_json(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the values of a column as texts in JSON, null where there is none."""
    field, nothing = pa.field("", column.type), pa.scalar(None, pa.string())
    chunks = [pc.if_else(chunk.is_valid(), json_of(chunk, field), nothing) for chunk in column.chunks]
    return pa.chunked_array(chunks, pa.string())


def json_of(column: pa.Array, field: pa.Field) -> pa.Array:
    """Return the JSON of each value: an event is an object, and several are a list."""
    # A client imports this module, and nothing of how events are read.
    from elsinore.connectors.columns import coded_texts, is_coded_text, is_text

    if field.type == JSON:
        return column.storage.fill_null("null")
    if pa.types.is_struct(field.type):
        return _objects(column).fill_null("null")
    if pa.types.is_list(field.type):
        items = json_of(column.flatten(), field.type.value_field)
        lists = pa.ListArray.from_arrays(_offsets(column), items)
        found = pc.binary_join_element_wise("[", pc.binary_join(lists, ", "), "]", "")
        return pc.if_else(column.is_valid(), found, "null")
    if (is_text(field.type) or is_coded_text(field.type)) and NUMBER not in (field.metadata or {}):
        coded = coded_texts(column)
        words = pa.array([json.dumps(word, ensure_ascii=False) for word in coded.dictionary.to_pylist()], pa.string())
        column = words.take(coded.indices)
    elif pa.types.is_temporal(field.type):
        # Arrow writes a space between date and time; it writes zone and fraction as in ISO-8601.
        iso = pc.replace_substring(as_texts(column), " ", "T", max_replacements=1)
        column = pc.binary_join_element_wise('"', iso, '"', "")
    return column.cast(pa.string()).fill_null("null")


def _objects(events: pa.StructArray) -> pa.Array:
    """Return each event as an object, null where there is none."""
    cells: list[pa.Array | str] = []
    for place, field in enumerate(events.type):
        cells += [f"{', ' if place else '{'}{json.dumps(field.name)}: ", json_of(events.field(place), field)]
    found = pc.binary_join_element_wise(*cells, "}", "")
    return pc.if_else(events.is_valid(), found, pa.scalar(None, pa.string()))


def _offsets(lists: pa.ListArray) -> pa.Array:
    """Return where each list begins and the last one ends, counted from the first."""
    lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
