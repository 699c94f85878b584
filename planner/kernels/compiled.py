"""One place for how kernels are compiled, and where their machine code is kept."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event
from numba.core.caching import UserProvidedCacheLocator

from elsinore.planner.kernels.kernel_folder import begin_compiling, end_compiling, home

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS: Any = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
"""Without Numba's runtime: kernels work on memory that they are given, and no reference is counted on the way."""

CONFIG: Any = numba.config

INLINED: Any = {**OPTIONS, "forceinline": True, "no_cpython_wrapper": True}
"""From Python a piece must not be called, it would crash: without a way to do so, kernels are compiled in two thirds of
the time."""


def kernel(function: F) -> F:
    """Compile a kernel on its first call on a machine, and load it from disk on later ones."""
    return _compiled(function, OPTIONS)


def part(function: F) -> F:
    """Compile a piece of a kernel into its callers, so that no event pays for passing on dozens of columns."""
    return _compiled(function, INLINED)


def allocating(function: F) -> F:
    """Compile a kernel that makes arrays of its own."""
    return _compiled(function, {"nogil": True, "error_model": "numpy"})


def _compiled(function: F, options: Any) -> F:
    """Compile a function with its cache in our folder; functions of other projects keep theirs.

    Numba reads the setting when it decorates a function.
    """
    users = CONFIG.CACHE_LOCATOR_CLASSES
    CONFIG.CACHE_LOCATOR_CLASSES = f"{Kept.__module__}.{Kept.__name__}"
    try:
        compiled: F = numba.njit(function, cache=True, **options)
    finally:
        CONFIG.CACHE_LOCATOR_CLASSES = users
    return compiled


class Told(event.Listener):
    """Mark this process as compiling, from the start of a function to its end; nested ones are part of it."""

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
        self._folder = home() / f"{Path(file).stem}-{digest_of(function.__module__, Path(file))}"
        self._folder.mkdir(exist_ok=True)

    def get_cache_path(self) -> str:
        return str(self._folder)

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> Kept:
        return cls(function, file)


PACKAGES = frozenset({"elsinore", "planner", "actors", "connectors", "cluster"})
"""The top-level packages of this project. What a kernel has of other projects comes with their versions."""

INIT = "__init__.py"


@cache
def digest_of(module: str, file: Path) -> str:
    """Return the digest of all code that a kernel of this module can contain.

    The module's own name is part of it: modules that import each other have the same code, and may have equal file
    names in different folders.
    """
    digest = hashlib.blake2b(module.encode(), digest_size=8)
    for name, path in sorted(sources_of(module, file).items()):
        digest.update(f"\0{name}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def sources_of(module: str, file: Path) -> dict[str, Path]:
    """Return the module and every module of this project that it imports, at any depth, with their files."""
    found: dict[str, Path] = {}
    waiting = {module: file}
    while waiting:
        name, path = waiting.popitem()
        found[name] = path
        waiting |= {one: lies for one in _imports(name, path) if one not in found and (lies := _file_of(one))}
    return found


@cache
def _imports(module: str, file: Path) -> frozenset[str]:
    """Return the names of this project that a module imports and that may be modules."""
    package = module if file.name == INIT else module.rpartition(".")[0]
    return frozenset(name for node in _executed(_head(file.read_text())) for name in _named(node, package))


def _head(source: str) -> ast.Module:
    """Parse a module as far as its last import; kernels are long, and import on top."""
    end = source.find("\n\n\n", source.rfind("import"))
    try:
        return ast.parse(source[:end] if end >= 0 else source)
    except SyntaxError:
        return ast.parse(source)


def _executed(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the import statements of a tree, without those that only a type checker follows."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.If) and ast.unparse(child.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            yield from _executed(ast.Module(child.orelse, []))
        elif not isinstance(child, ast.expr):
            yield from _executed(child)


def _named(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[str]:
    """Yield the modules of this project that an import statement gives names to, or names of."""
    if isinstance(node, ast.Import):
        parts = [alias.name.split(".") for alias in node.names]
        yield from (".".join(one[:count]) for one in parts if one[0] in PACKAGES for count in range(1, len(one) + 1))
        return
    origin = resolve_name("." * node.level + (node.module or ""), package)
    if origin.partition(".")[0] in PACKAGES:
        yield origin
        file = _file_of(origin)
        if file is not None and file.name == INIT:
            yield from (f"{origin}.{alias.name}" for alias in node.names)


@cache
def _file_of(name: str) -> Path | None:
    """Return the file of a module as the import system finds it; None where no module has this name."""
    spec = find_spec(name)
    return Path(spec.origin) if spec is not None and spec.origin is not None else None
