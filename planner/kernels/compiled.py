"""One place for how kernels are compiled, and where their machine code is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event
from numba.core.caching import FunctionCache, UserProvidedCacheLocator
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import register_pass
from numba.core.registry import cpu_target
from numba.core.typed_passes import NativeLowering
from numba.extending import intrinsic, is_jitted, overload

from elsinore.planner.kernels.interpreted import CHOOSERS, INSTRUCTIONS, interpreted, interprets
from elsinore.planner.kernels.kernel_folder import begin_compiling, end_compiling, home, locked
from elsinore.planner.kernels.sources import digest_of

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS: Any = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
"""Without Numba's runtime: kernels work on memory that they are given, and no reference is counted on the way."""

CONFIG: Any = numba.config


class PieceLibrary(JITCodeLibrary):
    """The code of a piece, as LLVM has it when the piece is compiled into its callers.

    It is optimized there, and there alone becomes machine code. Numba would do both for the piece too, and again for
    each piece around it, which took as long as all the rest.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return that there is no machine code."""
        return 0

    @property
    def codegen(self) -> Any:
        """Return an object for what Numba asks of the code of a function that is complete."""
        return self

    def set_env(self, name: str, env: Any) -> None:
        """Do nothing: Python's objects are for functions that Python calls."""


@register_pass(mutates_CFG=True, analysis_only=False)  # type: ignore[no-untyped-call]
class PieceLowering(NativeLowering):
    """Numba's pass that writes LLVM's code, into the library of a piece."""

    _name = "piece_lowering"

    def run_pass(self, state: Any) -> bool:
        library: Any = PieceLibrary
        state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
        numbas: Any = super()
        return bool(numbas.run_pass(state))


class PieceCompiler(CompilerBase):
    """Numba's compiler, for pieces."""

    def define_pipelines(self) -> list[Any]:
        manager: Any = DefaultPassBuilder.define_nopython_pipeline(self.state)  # type: ignore[no-untyped-call]
        manager.passes = [(PieceLowering if one is NativeLowering else one, what) for one, what in manager.passes]
        manager.finalize()
        return [manager]


INLINED: Any = {**OPTIONS, "forceinline": True, "no_cpython_wrapper": True, "pipeline_class": PieceCompiler}
"""From Python a piece must not be called, it would crash: without a way to do so, kernels are compiled in two thirds of
the time."""


def kernel(function: F) -> F:
    """Compile a kernel on its first call on a machine, and load it from disk on later ones."""
    return _compiled(function, OPTIONS)


def part(function: F) -> F:
    """Compile a piece of a kernel into its callers, so that no event pays for passing on dozens of columns."""
    compiled: F = numba.njit(function, **INLINED)
    return compiled


def allocating(function: F) -> F:
    """Compile a kernel that makes arrays of its own."""
    return _compiled(function, {"nogil": True, "error_model": "numpy"})


def by_type(declared: Callable[..., Any]) -> Callable[[F], F]:
    """Let a function choose what kernels have in place of `declared`, by the types of the arguments there."""

    def note(chooser: F) -> F:
        CHOOSERS[declared] = chooser
        chosen: F = overload(declared, jit_options=INLINED)(chooser)
        return chosen

    return note


def instruction(generate: Callable[..., Any], interpret: Callable[..., Any]) -> Any:
    """Return a function for kernels: LLVM's code by `generate`, or `interpret` where they are interpreted."""
    made: Any = intrinsic(generate)
    INSTRUCTIONS[made] = interpret
    return made


def _compiled(function: F, options: Any) -> F:
    """Compile a function, one process at a time, with its cache in our folder; those of other projects keep theirs.

    Numba reads the setting when it creates the cache of a function.
    """
    compiled: F = numba.njit(function, **options)
    if not is_jitted(compiled):  # NUMBA_DISABLE_JIT: the code runs in a debugger.
        return compiled
    users = CONFIG.CACHE_LOCATOR_CLASSES
    CONFIG.CACHE_LOCATOR_CLASSES = f"{Kept.__module__}.{Kept.__name__}"
    try:
        _share(compiled, function)
    finally:
        CONFIG.CACHE_LOCATOR_CLASSES = users
    return compiled


def _share(dispatcher: Any, function: Callable[..., Any]) -> None:
    """Let a process that needs a kernel wait for the one that is compiling it, and load it then.

    The locks of other kernels are asked for in the order of calls, which has no circles. Numba's own lock is asked for
    first, as by every thread.
    """
    dispatcher._cache = SharedCache(function)  # type: ignore[no-untyped-call]
    compile_or_load = dispatcher.compile

    def compile_alone(signature: Any) -> Any:
        with global_compiler_lock, locked(f"{function.__module__}.{function.__qualname__} {signature}"):
            return compile_or_load(signature)

    dispatcher.compile = compile_alone
    call_missed = dispatcher._compile_for_args

    def interpret_or_compile(*arguments: Any) -> Any:
        """Return what Numba calls for arguments of types that it has not seen in this process."""
        if interprets(function) and not dispatcher._cache.has(arguments, dispatcher):
            return interpreted(dispatcher.py_func)
        return call_missed(*arguments)

    dispatcher._compile_for_args = interpret_or_compile


class SharedCache(FunctionCache):
    """The cache of a kernel, into which several processes write.

    Numba reads the index of a kernel and writes it anew; between these, another process may have given the same file
    name to the machine code for other types.
    """

    def has(self, arguments: tuple[Any, ...], dispatcher: Any) -> bool:
        """Return whether there is machine code for the types of these arguments."""
        types = tuple(map(dispatcher.typeof_pyval, arguments))
        index = self._cache_file._load_index()  # type: ignore[no-untyped-call]
        return bool(self._index_key(types, dispatcher.targetctx.codegen()) in index)  # type: ignore[no-untyped-call]

    def save_overload(self, signature: Any, compiled: Any) -> None:
        with locked(self._cache_file._index_path):
            super().save_overload(signature, compiled)  # type: ignore[no-untyped-call]


def target() -> str:
    """Return what machine code depends on besides the code: Numba's version, and the processor that it is for."""
    return f"{numba.__version__} {cpu_target.target_context.codegen().magic_tuple()}"


class Told(event.Listener):
    """Mark this process as compiling, from the start of a function to its end; nested ones are part of it."""

    def __init__(self) -> None:
        self.depth = 0
        self.kernels = 0
        """Kernels that this process has compiled, once for all types of arguments that it needed."""

    def on_start(self, _: Any) -> None:
        if not self.depth:
            begin_compiling()
        self.depth += 1

    def on_end(self, ended: Any) -> None:
        self.depth -= 1
        self.kernels += isinstance(ended.data["dispatcher"]._cache, SharedCache)
        if not self.depth:
            end_compiling()


TOLD = Told()
event.register("numba:compile", TOLD)  # type: ignore[no-untyped-call]


def kernels_compiled() -> int:
    """Return how many kernels this process has compiled, instead of loading them; each set of types counts."""
    return TOLD.kernels


class Kept(UserProvidedCacheLocator):
    """A folder for exactly these kernels, wherever they lie.

    Numba compares a cached function with its own file alone, and would go on with the old code of a piece that was
    compiled into it from another one. So the folder is named by all the code that a kernel can have in it. And Numba
    would compile once for every copy of the same code.
    """

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file = file
        self._lineno = function.__code__.co_firstlineno
        self._folder = home() / f"{Path(file).stem}-{digest_of(function.__module__, Path(file))}"
        self._folder.mkdir(exist_ok=True)

    def get_cache_path(self) -> str:
        return str(self._folder)

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> Kept:
        return cls(function, file)
