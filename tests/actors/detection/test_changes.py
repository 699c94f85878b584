"""Changes of rates in the types of events: found where they are, and not where only chance varies."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from elsinore.actors.detection.joins.changes import BLOCK_EVENTS, Changes

NAMES = [f"T{number}" for number in range(20)]
WEIGHTS = np.geomspace(1, 1000, len(NAMES))
MANY = 1 << 40


def types(seed: int, weights: np.ndarray[tuple[int], np.dtype[np.float64]], events: int) -> pa.DictionaryArray:
    codes = np.random.default_rng(seed).choice(len(NAMES), events, p=weights / weights.sum()).astype(np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(NAMES))


@pytest.mark.parametrize("seed", range(5))
def test_rates_that_stay_are_one_slice(seed: int) -> None:
    changes = Changes(NAMES[3:])
    for events in (500, 40 * BLOCK_EVENTS + 17, 900):
        assert changes.steady(types(seed, WEIGHTS, events), MANY) == (events, False)


def test_a_slice_ends_before_the_block_with_other_rates() -> None:
    before, after = types(0, WEIGHTS, 3 * BLOCK_EVENTS + 100), types(1, WEIGHTS[::-1], 4 * BLOCK_EVENTS)
    both = pa.concat_arrays([before, after])
    changes = Changes(NAMES)
    lo, found = 0, []
    while lo < len(both):
        steady, changed = changes.steady(both[lo:], MANY)
        found.append((lo, changed))
        lo += steady
    assert found == [(0, False), (3 * BLOCK_EVENTS, True)]


def test_types_that_no_pattern_asks_for_are_one() -> None:
    changes = Changes(NAMES[:1])
    both = pa.concat_arrays(
        [types(0, WEIGHTS, 2 * BLOCK_EVENTS), types(1, np.roll(WEIGHTS[::-1], 1), 2 * BLOCK_EVENTS)]
    )
    assert changes.steady(both, MANY) == (len(both), False)


def test_at_most_so_many_are_looked_at() -> None:
    assert Changes(NAMES).steady(types(0, WEIGHTS, 5000), 100) == (100, False)
