"""Optimizers of HAMLET that decide by chance."""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

import numpy as np

from elsinore.planner.hamlet.bursts import APART, FEWEST, OWN, SHARED, Bursts, Choices, Facts


@dataclass(frozen=True)
class Drawn:
    """Each row apart, in a graphlet of its own, or with others, as a seed and the bursts say."""

    seed: int

    def decide(self, facts: Facts, bursts: Bursts) -> Choices:
        told = crc32(b"".join(column.tobytes() for column in (bursts.size, bursts.window, bursts.at, bursts.taken)))
        rnd = np.random.default_rng([self.seed, told])
        choice = rnd.choice(np.array([APART, OWN, SHARED], np.uint8), len(bursts.queries), p=[0.1, 0.15, 0.75])
        for first, end in zip(bursts.at[:-1], bursts.at[1:], strict=True):
            if (choice[first + 1 : end] == SHARED).any():
                choice[first] = SHARED
            elif choice[first] == SHARED:
                choice[first] = OWN
        costs = np.full(len(bursts.size), np.nan)
        together, alone = rnd.choice([FEWEST, FEWEST, 3, 5], (2, len(bursts.queries)))
        return Choices(choice, together, alone, lambda: (costs, costs))
