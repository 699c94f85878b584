"""One place for how kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Machine code, kept on disk: the first run of a kernel on a machine compiles it, later ones load it."""
    compiled: F = numba.njit(function, cache=True, nogil=True, error_model="numpy")
    return compiled
