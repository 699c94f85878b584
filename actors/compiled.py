"""One place for how kernels are compiled, and where their machine code is kept."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS: Any = {"nogil": True, "error_model": "numpy", "_nrt": False}
"""Without Numba's runtime: kernels work on memory that they are given, and no reference is counted on the way."""

CONFIG: Any = numba.config

INLINED: Any = {**OPTIONS, "forceinline": True}


def kernel(function: F) -> F:
    """Machine code, kept on disk: the first run of a kernel on a machine compiles it, later ones load it."""
    return _compiled(function, OPTIONS)


def part(function: F) -> F:
    """A piece of a kernel that is compiled into its callers: an event must not pay for handing on dozens of columns."""
    return _compiled(function, INLINED)


def allocating(function: F) -> F:
    """A kernel that makes arrays of its own."""
    return _compiled(function, {"nogil": True, "error_model": "numpy"})


def _compiled(function: F, options: Any) -> F:
    """Numba looks up its folder when a function is decorated; other people's functions keep theirs."""
    users = CONFIG.CACHE_DIR
    CONFIG.CACHE_DIR = _folder(users)
    try:
        compiled: F = numba.njit(function, cache=True, **options)
    finally:
        CONFIG.CACHE_DIR = users
    return compiled


@cache
def _folder(users: str) -> str:
    """A folder for exactly these kernels.

    Numba compares a cached function with its own file alone, and would go on with the old code of a piece
    that was compiled into it from another one.
    """
    digest = hashlib.blake2b(digest_size=8)
    for source in sorted(Path(__file__).parent.glob("*_numba_fns.py")):
        digest.update(source.read_bytes())
    home = Path(users or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return str(home / "elsinore" / f"kernels-{digest.hexdigest()}")
