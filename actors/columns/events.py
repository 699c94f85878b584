"""The memory layout of events that kernels are compiled for."""

from __future__ import annotations

import numpy as np

from elsinore.actors.algebra.counters_numba_fns import Events


def plain(events: Events) -> Events:
    """Return events whose columns are contiguous and writable: for other layouts, kernels would be compiled again."""
    # To read a flag is quicker than to call `require` for every pane of every query.
    return Events(*(one if one.flags.carray else np.require(one, requirements=["C", "W"]) for one in events))
