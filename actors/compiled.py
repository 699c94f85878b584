"""One place for how kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


OPTIONS: Any = {"nogil": True, "error_model": "numpy", "_nrt": False}
"""Without Numba's runtime: kernels work on memory that they are given, and no reference is counted on the way.

Counting them took 300 of 330 nanoseconds an event.
"""


INLINED: Any = {**OPTIONS, "forceinline": True}


def kernel(function: F) -> F:
    """Machine code, kept on disk: the first run of a kernel on a machine compiles it, later ones load it."""
    compiled: F = numba.njit(function, cache=True, **OPTIONS)
    return compiled


def part(function: F) -> F:
    """A piece of a kernel that is compiled into its callers: an event must not pay for handing on dozens of columns."""
    compiled: F = numba.njit(function, cache=True, **INLINED)
    return compiled


def allocating(function: F) -> F:
    """A kernel that makes arrays of its own."""
    compiled: F = numba.njit(function, cache=True, nogil=True, error_model="numpy")
    return compiled
