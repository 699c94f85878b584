"""Machine code that is kept belongs to all of the code that it was made of."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
from numba.extending import is_jitted

from elsinore.planner.kernels import compiled, sources
from elsinore.planner.kernels.sources import digest_of, sources_of
from tests.support.modules import KERNELS, MODULES, ROOMS, ROOT

VERSION = "elsinore._version"

IMPORTED = f"""
import json, sys
from importlib import import_module

def own():
    return sorted(name for name in sys.modules if name.partition(".")[0] in {ROOMS!r})

found = {{}}
for kernels in {KERNELS!r}:
    for name in own():
        del sys.modules[name]
    import_module(kernels)
    found[kernels] = own()
print(json.dumps(found))
"""

CHANGED = f"""
import json
from elsinore.planner.kernels.sources import _file_of, digest_of, sources_of

found = {{}}
for kernels in {KERNELS!r}:
    own = _file_of(kernels)
    before, found[kernels] = digest_of(kernels, own), []
    for name, path in sources_of(kernels, own).items():
        code = path.read_bytes()
        path.write_bytes(code.replace(b"e", b"f", 1))
        digest_of.cache_clear()
        if digest_of(kernels, own) == before:
            found[kernels].append(name)
        path.write_bytes(code)
        digest_of.cache_clear()
    assert digest_of(kernels, own) == before
print(json.dumps(found))
"""


def python(code: str, root: Path) -> Any:
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, cwd=root, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def covered(kernels: str) -> set[str]:
    return set(sources_of(kernels, MODULES[kernels]))


def test_all_kernels_are_kept_where_their_whole_code_is_compared() -> None:
    assert len(KERNELS) > 15
    assert [name for name in KERNELS if compiled.__name__ not in covered(name)] == []


def test_all_that_kernels_import_is_compared() -> None:
    """A package that only holds a docstring is imported with its modules, and nothing can be taken from it; nor does a
    kernel take anything of what `elsinore` itself imports."""
    assert python(IMPORTED, ROOT) == {
        kernels: sorted(
            {VERSION, *covered(kernels), *(parent for name in covered(kernels) for parent in parents(name))}
        )
        for kernels in KERNELS
    }
    assert [name for name in {one for kernels in KERNELS for one in covered(kernels)} if is_package(name)] == []


def parents(name: str) -> Iterator[str]:
    parts = name.split(".")
    return (".".join(parts[:count]) for count in range(1, len(parts)))


def is_package(name: str) -> bool:
    return MODULES[name].name == "__init__.py"


def test_all_functions_that_kernels_call_are_compared() -> None:
    for kernels in KERNELS:
        assert set(called(kernels)) <= covered(kernels), kernels
    assert any(len(set(called(kernels))) > 3 for kernels in KERNELS)


def called(kernels: str) -> Iterator[str]:
    """Yield the modules of all functions that those of a module can call, as they are found at run time."""
    waiting = list(vars(import_module(kernels)).values())
    seen = set[int]()
    while waiting:
        one = waiting.pop()
        plain = one.py_func if is_jitted(one) else one
        if isinstance(plain, FunctionType) and plain.__module__ in MODULES and id(plain) not in seen:
            seen.add(id(plain))
            yield plain.__module__
            waiting += [plain.__globals__.get(name) for name in plain.__code__.co_names]


def test_a_byte_in_any_of_it_is_another_digest(tmp_path: Path) -> None:
    """Of a copy, since machine code is found again wherever the same code lies."""
    for room in ROOMS:
        shutil.copytree(ROOT / room, tmp_path / room, ignore=lambda folder, names: not_python(folder, names))
    assert python(CHANGED, tmp_path) == {kernels: [] for kernels in KERNELS}


def not_python(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not name.endswith(".py") and not (Path(folder) / name).is_dir()]


HOUSE = {
    "house/__init__.py": "from house.elsewhere import UNUSED\n",
    "house/elsewhere.py": "UNUSED = 1\n",
    "house/algebra/__init__.py": "",
    "house/algebra/cells_numba_fns.py": "import house.algebra.numbers as n\n",
    "house/algebra/numbers.py": "",
    "house/planner/__init__.py": "from .costs import MOST\n",
    "house/planner/costs.py": "MOST = 3\n",
    "house/planner/bursts.py": "OWN = 2\n",
    "house/planner/late.py": "",
    "house/planner/typed.py": "",
    "house/rooms/hamlet/deep/__init__.py": "",
    "house/rooms/hamlet/deep/run_numba_fns.py": '''"""Long before the first import.

It says import in prose.


import nothing
"""

from typing import TYPE_CHECKING
from ....algebra import cells_numba_fns as cells
from house.planner import MOST, bursts

if TYPE_CHECKING:
    from house.planner.typed import T


def run():
    from house.planner.late import (
        NAME,
    )


def other(): ...
''',
}


def test_imports_are_followed_at_any_depth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in HOUSE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sources, "PACKAGES", frozenset({"house"}))
    module = "house.rooms.hamlet.deep.run_numba_fns"
    found = sources_of(module, tmp_path / "house/rooms/hamlet/deep/run_numba_fns.py")
    assert {name: str(path.relative_to(tmp_path)) for name, path in found.items()} == {
        "house": "house/__init__.py",
        "house.elsewhere": "house/elsewhere.py",
        "house.algebra": "house/algebra/__init__.py",
        "house.algebra.cells_numba_fns": "house/algebra/cells_numba_fns.py",
        "house.algebra.numbers": "house/algebra/numbers.py",
        "house.planner": "house/planner/__init__.py",
        "house.planner.costs": "house/planner/costs.py",
        "house.planner.bursts": "house/planner/bursts.py",
        "house.planner.late": "house/planner/late.py",
        module: "house/rooms/hamlet/deep/run_numba_fns.py",
    }


def test_modules_of_equal_code_have_folders_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "run_numba_fns.py"
    path.write_text("")
    assert digest_of("elsinore.actors.hamlet.run_numba_fns", path) != digest_of(
        "elsinore.actors.gloria.run_numba_fns", path
    )
