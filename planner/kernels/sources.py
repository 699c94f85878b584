"""Find all code that a kernel can contain: its module, and every module of this project that it imports."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec, resolve_name
from pathlib import Path

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
