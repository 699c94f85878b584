"""Interpret kernels: let Python run them where that takes less time than compiling them would.

Machine code is some hundred times faster than Python, and takes seconds to compile. So for a few events, on a machine
that has not compiled a kernel yet, a run may interpret it. A kernel that has been interpreted for long is compiled.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import local
from time import perf_counter
from types import FunctionType
from typing import Any, TypeVar

import numpy as np
from numba.extending import is_jitted

T = TypeVar("T")
Function = Callable[..., Any]

COMPILE_SECONDS = 5.0
"""A process compiles a kernel that it has interpreted for so long."""

MAX_STEPS = 1 << 17
"""The most steps of a run that interprets kernels. A step is an event in a window, or beside another event, for each
query; it takes up to 0.1 milliseconds."""

CHOOSERS: dict[Any, Function] = {}
"""By a function that kernels call: the one that chooses a piece by the types of arguments."""

INSTRUCTIONS: dict[Any, Function] = {}
"""By a function that is LLVM's code in kernels: one of Python that does the same."""


class _Thread(local):
    interprets = False


_THREAD = _Thread()
_seconds: defaultdict[Function, float] = defaultdict(float)
_always_compiles = False


def compile_always() -> None:
    """Compile all kernels that this process calls, however few the events."""
    global _always_compiles
    _always_compiles = True


@contextmanager
def interpreting(allowed: bool = True) -> Iterator[None]:
    """Interpret kernels without machine code that this thread calls in the block, if that is allowed."""
    before, _THREAD.interprets = _THREAD.interprets, allowed
    try:
        yield
    finally:
        _THREAD.interprets = before


def interpreting_each(found: Iterable[T]) -> Iterator[T]:
    """Yield what an iterator yields; kernels that it calls on the way are interpreted."""
    waiting, ended = iter(found), object()
    while True:
        with interpreting():
            one: Any = next(waiting, ended)
        if one is ended:
            return
        yield one


def interprets(function: Function) -> bool:
    """Return whether a kernel without machine code is to be interpreted, not compiled, when this thread calls it."""
    return _THREAD.interprets and not _always_compiles and _seconds[function] < COMPILE_SECONDS


def interpreted(function: FunctionType) -> Function:
    """Return a function that interprets a kernel, and notes how long that takes."""
    plain = _plain(function)

    def run(*arguments: Any) -> Any:
        begun = perf_counter()
        try:
            # Words wrap around in machine code, and kernels rely on that for the lower words of a number.
            with np.errstate(all="ignore"):
                return plain(*arguments)
        finally:
            _seconds[function] += perf_counter() - begun

    return run


@cache
def _plain(function: FunctionType) -> Function:
    """Return a copy of a kernel or of a piece in which all that it calls is a function of Python, too."""
    names = _Names(function.__globals__)
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)


class _Names(dict[str, Any]):
    """The global names of an interpreted function."""

    def __init__(self, compiled: dict[str, Any]) -> None:
        super().__init__()
        self._compiled = compiled

    def __missing__(self, name: str) -> Any:
        found = self[name] = _in_python(self._compiled[name])
        return found


def _in_python(value: Any) -> Any:
    if is_jitted(value):
        return _plain(value.py_func)
    if callable(value):
        return INSTRUCTIONS.get(value) or (_choosing(CHOOSERS[value]) if value in CHOOSERS else value)
    return value


def _choosing(chooser: Function) -> Function:
    """Return a function that calls the piece that is chosen by the types of its arguments."""
    pieces: dict[Any, Function] = {}

    def run(*arguments: Any) -> Any:
        chosen = chooser(*arguments)
        # Each call of a chooser makes a function anew, of code that stays the same.
        if chosen.__code__ not in pieces:
            pieces[chosen.__code__] = _plain(chosen)
        return pieces[chosen.__code__](*arguments)

    return run
