"""Events as kernels want them."""

from __future__ import annotations

import numpy as np

from actors.counters_numba_fns import Events


def plain(events: Events) -> Events:
    """Each column in one piece: for every other layout a kernel would be compiled anew."""
    return Events(*(np.require(column, requirements=["C", "W"]) for column in events))
