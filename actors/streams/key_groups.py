"""Key groups as Spark computes them, to tell which actor has a partition after the stream is dealt out differently."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.streams.key_groups_numba_fns import hash_texts, hash_truths, hash_words
from elsinore.actors.streams.text_bytes import text_bytes

SEED = 42

Hashes = npt.NDArray[np.uint32]


def key_groups(columns: Iterable[pa.Array], count: int, groups: int) -> npt.NDArray[np.int64]:
    """Return the key group of each of `count` tuples of values; a null leaves the hash unchanged, as in Spark."""
    hashes = np.full(count, SEED, np.uint32)
    for column in columns:
        _go_on(column, hashes)
    return hashes.view(np.int32).astype(np.int64) % groups


def _go_on(column: pa.Array, hashes: Hashes) -> None:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if column.null_count:
        known = column.is_valid().to_numpy(zero_copy_only=False)
        some = hashes[known]
        _go_on(column.drop_null(), some)
        hashes[known] = some
        return
    if pa.types.is_boolean(column.type):
        hash_truths(column.to_numpy(zero_copy_only=False), hashes)
    elif pa.types.is_floating(column.type):
        # -0.0 and 0.0 hash alike, as where Spark deals events out.
        hash_words((column.to_numpy().astype(np.float64) + 0.0).view(np.int64), hashes)
    elif pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        hash_texts(*text_bytes(column), hashes)
    else:
        hash_words(np.ascontiguousarray(column.cast(pa.int64()).to_numpy()), hashes)
