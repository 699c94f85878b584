"""One place for how kernels are compiled, and where their machine code is kept."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event
from numba.core.caching import UserProvidedCacheLocator

from actors.kernel_folder import begin_compiling, end_compiling, home

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS: Any = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
"""Without Numba's runtime: kernels work on memory that they are given, and no reference is counted on the way."""

CONFIG: Any = numba.config

INLINED: Any = {**OPTIONS, "forceinline": True, "no_cpython_wrapper": True}
"""From Python a piece must not be called, it would crash: without a way to do so, kernels are compiled in two thirds of
the time."""


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
    """Numba looks up its folders when a function is decorated; other people's functions keep theirs."""
    users = CONFIG.CACHE_LOCATOR_CLASSES
    CONFIG.CACHE_LOCATOR_CLASSES = f"{Kept.__module__}.{Kept.__name__}"
    try:
        compiled: F = numba.njit(function, cache=True, **options)
    finally:
        CONFIG.CACHE_LOCATOR_CLASSES = users
    return compiled


class Told(event.Listener):
    """Of each function that is compiled, and of those that are compiled into it meanwhile."""

    def __init__(self) -> None:
        self.depth = 0

    def on_start(self, _: Any) -> None:
        if not self.depth:
            begin_compiling()
        self.depth += 1

    def on_end(self, _: Any) -> None:
        self.depth -= 1
        if not self.depth:
            end_compiling()


event.register("numba:compile", Told())  # type: ignore[no-untyped-call]


class Kept(UserProvidedCacheLocator):
    """A folder for exactly these kernels, wherever they lie.

    Numba compares a cached function with its own file alone, and would go on with the old code of a piece that was
    compiled into it from another one. So the folder is named by all the code that a kernel can have in it. And Numba
    would compile once for every copy of the same code.
    """

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file = file
        self._lineno = function.__code__.co_firstlineno
        self._folder = home() / f"{Path(file).stem}-{_digest(Path(file))}"
        self._folder.mkdir(exist_ok=True)

    def get_cache_path(self) -> str:
        return str(self._folder)

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> Kept:
        return cls(function, file)


@cache
def _digest(module: Path) -> str:
    """Of a module and of all that it imports from these packages."""
    root, found, waiting = module.parent.parent, set[Path](), [module]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            names = re.findall(r"^from ((?:actors|planner)\.\w+) import", one.read_text(), re.MULTILINE)
            waiting += [root / f"{name.replace('.', '/')}.py" for name in names]
    digest = hashlib.blake2b(digest_size=8)
    for one in sorted(found):
        digest.update(one.read_bytes())
    return digest.hexdigest()
