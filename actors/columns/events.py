"""Events as kernels want them."""

from __future__ import annotations

import numpy as np

from elsinore.actors.algebra.counters_numba_fns import Events


def plain(events: Events) -> Events:
    """Each column in one piece: for every other layout a kernel would be compiled anew."""
    # To ask an array is quicker than `require`, which every pane of every query would call.
    return Events(*(one if one.flags.carray else np.require(one, requirements=["C", "W"]) for one in events))
