"""Conversion of Arrow columns for the engine: few types, null for missing values, no copies where none are needed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from elsinore.connectors.errors import InputError

TYPES = pa.dictionary(pa.int32(), pa.string())
"""The Arrow type of the type column."""


WHOLE = re.compile(r"[+-]?\d+")


def is_text(kind: pa.DataType) -> bool:
    """Return whether values of this type are texts, in any memory layout."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_coded_text(kind: pa.DataType) -> bool:
    """Return whether values of this type are dictionary-encoded texts."""
    return pa.types.is_dictionary(kind) and is_text(kind.value_type)


def described(kind: pa.DataType, value: object = None) -> str:
    """Return a name for values of this type in a message; `value` is one that does not fit."""
    if kind == pa.float64() and WHOLE.fullmatch(str(value)):
        return "a whole number that floats hold exactly (up to 2**53), and other values here are floats"
    names = {
        pa.int64(): "a whole number of 64 bits",
        pa.float64(): "a number",
        pa.bool_(): "true or false",
        pa.string(): "a text",
    }
    return names.get(kind, str(kind))


def one_array(column: pa.ChunkedArray, name: str) -> pa.Array:
    """Return a column as one array, copied only if it has several chunks."""
    # Arrow cannot concatenate an empty chunk that has an offset and no buffer, as those of a sliced stream.
    chunks = [chunk for chunk in column.chunks if len(chunk)] or column.chunks[:1]
    if not chunks:
        return pa.nulls(0, column.type)
    if len(chunks) == 1:
        return chunks[0]
    try:
        return pa.concat_arrays(_alike(pa.chunked_array(chunks, column.type)).chunks)
    except pa.ArrowInvalid as error:
        raise _too_much_text(name) from error
    except pa.ArrowNotImplementedError as error:
        raise unusable(name, column.type) from error


def _alike(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column whose chunks share one dictionary, if any: Arrow unifies only dictionaries without nulls."""
    if not pa.types.is_dictionary(column.type):
        return column
    # Arrow unifies dictionaries of half floats to other values.
    if not pa.types.is_float16(column.type.value_type):
        with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return column.unify_dictionaries()
    return pa.chunked_array([_undictionaried(chunk) for chunk in column.chunks])


def without_view(values: pa.Array) -> pa.Array:
    """Return texts without views: Polars exports text views, but few of Arrow's functions accept them."""
    return values.cast(pa.string()) if pa.types.is_string_view(values.type) else values


def decoded(values: pa.Array) -> pa.Array:
    """Return plain values, without extension types, run-end encoding and dictionaries.

    Arrow itself cannot decode a dictionary of text views.
    """
    if isinstance(values, pa.ExtensionArray):
        return decoded(values.storage)
    if pa.types.is_run_end_encoded(values.type):
        return decoded(_run_values(values))
    return decoded(_undictionaried(values)) if isinstance(values, pa.DictionaryArray) else values


def _undictionaried(values: pa.DictionaryArray) -> pa.Array:
    """Return the value of each row of a dictionary array; Arrow itself cannot decode a dictionary of text views."""
    return without_view(values.dictionary).take(values.indices)


def _run_values(values: pa.RunEndEncodedArray) -> pa.Array:
    """Return the value of each row of a run-end encoded array; Arrow itself cannot decode runs of text views."""
    if not pa.types.is_string_view(values.type.value_type):
        return pc.run_end_decode(values)
    places = np.arange(values.offset, values.offset + len(values))
    return without_view(values.values).take(np.searchsorted(values.run_ends.to_numpy(), places, side="right"))


def holds_texts(kind: pa.DataType) -> bool:
    """Return whether `decoded` values of this type are texts."""
    if isinstance(kind, pa.BaseExtensionType):
        return holds_texts(kind.storage_type)
    if pa.types.is_run_end_encoded(kind) or pa.types.is_dictionary(kind):
        return holds_texts(kind.value_type)
    return is_text(kind)


def encode_types(types: pa.Array, name: str) -> pa.DictionaryArray:
    """Return the type column as dictionary<int32, string>, with null for an empty text."""
    if pa.types.is_null(types.type):
        return pa.nulls(len(types), TYPES)
    coded = coded_texts(check_texts(types, name))
    empty = pc.equal(coded.dictionary, "")
    if not pc.any(empty).as_py():
        return coded
    indices = pc.if_else(empty.take(coded.indices), pa.scalar(None, pa.int32()), coded.indices)
    return pa.DictionaryArray.from_arrays(indices, coded.dictionary)


def coded_texts(values: pa.Array) -> pa.DictionaryArray:
    """Return texts as dictionary<int32, string>. A dictionary is rebuilt if it holds null, or one text twice."""
    if isinstance(values, pa.DictionaryArray):
        words = values.dictionary.cast(pa.string())
        if words.null_count or pc.count_distinct(words).as_py() < len(words):
            return coded_texts(words.take(values.indices))
    else:
        values = values.dictionary_encode()
        words = values.dictionary.cast(pa.string())
    if values.type.equals(TYPES):
        return values
    return pa.DictionaryArray.from_arrays(values.indices.cast(pa.int32()), words)


def cast_or_null(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return the values cast to another type, null where a value cannot be cast."""
    try:
        return values.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        coded = values.dictionary_encode()
        return pa.concat_arrays(list(_castable(coded.dictionary, kind))).take(coded.indices)


def _castable(values: pa.Array, kind: pa.DataType) -> Iterator[pa.Array]:
    """Yield the cast values in parts, halved until a value that cannot be cast is alone: few bad values cost little."""
    try:
        yield values.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        if len(values) <= 1:
            yield pa.nulls(len(values), kind)
        else:
            yield from _castable(values[: len(values) // 2], kind)
            yield from _castable(values[len(values) // 2 :], kind)


def attribute_type(kind: pa.DataType) -> pa.DataType:
    """Return the type to which `read_attribute` converts. Nested types stay: it refuses them when they are read."""
    if isinstance(kind, pa.BaseExtensionType):
        return attribute_type(kind.storage_type)
    if pa.types.is_run_end_encoded(kind):
        return attribute_type(kind.value_type)
    if pa.types.is_dictionary(kind):
        return TYPES if is_text(kind.value_type) else attribute_type(kind.value_type)
    if pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale <= 0):
        return pa.int64()
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return pa.float64()
    return pa.string() if is_text(kind) else kind


def read_attribute(values: pa.Array, name: str) -> pa.Array:
    """Return an attribute in one of the types that the engine knows; raise InputError if there is none for it."""
    kind = values.type
    if isinstance(values, pa.ExtensionArray):
        return read_attribute(values.storage, name)
    if pa.types.is_run_end_encoded(kind):
        try:
            return read_attribute(_run_values(values), name)
        except pa.ArrowNotImplementedError as error:
            raise unusable(name, kind) from error
    if is_coded_text(kind):
        return coded_texts(check_texts(values, name))
    if pa.types.is_dictionary(kind):
        try:
            return read_attribute(_undictionaried(values), name)
        except pa.ArrowNotImplementedError as error:
            raise unusable(name, kind) from error
    if pa.types.is_integer(kind):
        return _cast(values, pa.int64(), name)
    if pa.types.is_floating(kind):
        return finite(values.cast(pa.float64()))
    if pa.types.is_decimal(kind):
        return _from_decimal(values, name)
    if is_text(kind):
        return _cast(check_texts(values, name), pa.string(), name)
    if pa.types.is_timestamp(kind):
        check_zone(kind, name)
    if (
        (pa.types.is_temporal(kind) and not pa.types.is_interval(kind))
        or pa.types.is_boolean(kind)
        or pa.types.is_null(kind)
    ):
        return values
    raise unusable(name, kind)


def check_zone(kind: pa.TimestampType, name: str) -> None:
    """Raise InputError for timestamps whose time zone Python does not know, so that no value of them could be shown."""
    try:
        known = kind.tz is None or _is_zone(kind.tz)
    except UnicodeDecodeError:
        raise InputError(f"column {name!r} holds timestamps of a time zone whose name is not UTF-8") from None
    if not known:
        raise InputError(
            f"column {name!r} holds timestamps of the time zone {kind.tz[:64]!r}, which is not known here; cast "
            "them to another, for instance UTC"
        )


@lru_cache
def _is_zone(name: str) -> bool:
    try:
        pa.lib.string_to_tzinfo(name)
    except (pa.ArrowInvalid, ValueError, OSError):
        return False
    return True


def unusable(name: str, kind: pa.DataType) -> InputError:
    return InputError(
        f"column {name!r} holds {kind}, which no query can use; attributes are numbers, texts, truth values or times."
    )


def check_texts(texts: pa.Array, name: str) -> pa.Array:
    """Return the texts; raise InputError if they are not UTF-8, which Arrow does not check before it shows a text."""
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid as error:
        raise InputError(f"column {name!r} holds texts that are not UTF-8: {error}") from error
    return texts


def finite(values: pa.Array) -> pa.Array:
    """Return floats with null for NaN, which is pandas' null, and for infinities, which make every sum useless."""
    is_finite = pc.is_finite(values)
    if pc.all(is_finite, min_count=0).as_py():
        return values
    return pc.if_else(is_finite, values, pa.scalar(None, values.type))


def as_float(values: pa.Array, name: str) -> pa.Array:
    """Return integers as floats, where other parts of the same stream have floats."""
    return _cast(values, pa.float64(), name)


def _from_decimal(values: pa.Array, name: str) -> pa.Array:
    """Return decimals as integers, or as floats that convert back to the same decimals."""
    if values.type.scale <= 0:
        return _cast(values, pa.int64(), name)
    floats = values.cast(pa.float64())
    wide = pa.decimal256(76, values.type.scale)
    if not cast_or_null(floats, wide).equals(values.cast(wide)):
        raise InputError(
            f"column {name!r} holds {values.type} with more digits than a float carries; "
            "scale it to integers, or cast it to float64 yourself if the nearest float will do."
        )
    return floats


def _cast(values: pa.Array, kind: pa.DataType, name: str) -> pa.Array:
    try:
        return values.cast(kind)
    except pa.ArrowInvalid as error:
        if is_text(kind):
            raise _too_much_text(name) from error
        raise InputError(
            f"column {name!r} holds {values.type} with values that {kind} cannot carry ({error}); "
            "cast it to a text or a float64 column, or scale it, before the run."
        ) from error


def _too_much_text(name: str) -> InputError:
    return InputError(
        f"column {name!r} holds more than 2 GiB of text in one table; "
        "make it a dictionary (a categorical column), or hand over files or a record-batch reader."
    )
