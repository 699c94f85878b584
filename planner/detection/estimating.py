"""Statistics estimated from a sample of a stream: events counted per type, and pairs that satisfy a condition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from elsinore.planner.detection.pattern import Pattern
from elsinore.planner.detection.statistics import Statistics, key_of, own_key

Sample = Callable[[str, Sequence[str]], tuple[int, int]]
"""Given the text of a condition and the types of its events: how many choices of events were tried, how many passed."""

PAIRS = 4096
"""Choices of events that are tried per condition: the standard error is then below 0.8 %."""


def estimated(patterns: Iterable[Pattern], types: NDArray[np.str_], seconds: float, sample: Sample) -> Statistics:
    """Estimate the rates of types and the selectivity of each condition from a part of the stream that took so long."""
    names, counts = np.unique(types, return_counts=True)
    rates = {str(name): int(count) / seconds for name, count in zip(names, counts, strict=True)}
    selectivities: dict[str, float] = {}
    for pattern in patterns:
        for event in pattern.events:
            if event.own and own_key(event) not in selectivities:
                selectivities[own_key(event)] = _share(*sample(event.own, [event.type]))
        for condition in pattern.conditions:
            if key_of(pattern, condition) not in selectivities:
                kinds = [pattern.by_name[name].type for name in condition.events]
                selectivities[key_of(pattern, condition)] = _share(*sample(condition.text, kinds))
    return Statistics(rates, selectivities, len(types) / seconds)


def _share(tried: int, passed: int) -> float:
    """Return the share that passed, kept away from 0 and 1 by one event (Laplace's rule)."""
    return (passed + 1) / (tried + 2)


def chosen(rows: Sequence[NDArray[np.int64]], seed: int = 0) -> list[NDArray[np.int64]]:
    """Return rows of the sample, one per variable, for `PAIRS` random choices of events that differ from each other."""
    if any(len(one) == 0 for one in rows):
        return [np.empty(0, np.int64) for _ in rows]
    rng = np.random.default_rng(seed)
    picked = [one[rng.integers(0, len(one), PAIRS)] for one in rows]
    apart = np.ones(PAIRS, bool)
    for number, one in enumerate(picked):
        for other in picked[:number]:
            apart &= one != other
    return [one[apart] for one in picked]
