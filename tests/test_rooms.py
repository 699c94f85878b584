"""Which room may import which, and what is used in few places only. What is allowed beyond that may only shrink."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.modules import (
    FILES,
    FOUR,
    ROOMS,
    ROOT,
    cycles,
    files_of,
    imports,
    plain_name,
    reached,
    room_of,
)

MAY_IMPORT: dict[str, set[str]] = {
    "planner": set(),
    "actors": {"planner"},
    "connectors": {"planner"},
    "cluster": {"planner", "actors", "connectors"},
    "elsinore": {*FOUR},
}
"""By room, beside itself and the modules that stand by themselves."""

ALONE = {"elsinore._version", "elsinore.calendar_years", "elsinore.errors", "elsinore.problems", "elsinore.tokens"}
"""Modules that import nothing of the project but each other, so that every room may know them."""

UPWARDS = {
    ("cluster.service.submitting", "elsinore.inputs"),
    ("cluster.service.web.api", "elsinore"),
}
"""Imports that no room should have. This list may only shrink."""

CYCLES: dict[str, list[int]] = {"planner": [], "actors": [], "connectors": [], "cluster": [], "elsinore": []}
"""By room, how many modules import each other in a circle; also inside of functions, and for a type checker. This list
may only shrink."""

MODULES = 20
"""The most modules of a folder, without `__init__.py` and `__main__.py`: more make a sub-folder by concept."""

LEVELS = 3
"""The most levels of folders, counted from the top."""

LEAF = "connectors.rows."
"""Rows as a user and a client have them: it needs no other room when it is imported."""

OTHERS = ("tests", "benchmarks", "loadtest", "examples")


def test_rooms_import_what_they_may() -> None:
    found = {
        (name, other)
        for name, path in FILES.items()
        for other in imports(path)
        if room_of(other) in ROOMS and other not in ALONE
        if room_of(other) not in {room_of(name), *MAY_IMPORT[room_of(name)]}
    }
    assert sorted(found - UPWARDS) == []
    assert sorted(UPWARDS - found) == [], "it is gone: take it off the list"


def test_rooms_import_no_tests_and_no_benchmarks() -> None:
    assert [name for name, path in FILES.items() if {room_of(one) for one in imports(path)} & set(OTHERS)] == []


def test_modules_that_every_room_may_know_stand_by_themselves() -> None:
    for name in ALONE:
        assert {one for one in imports(FILES[name]) if room_of(one) in ROOMS} <= ALONE, name


def test_importing_elsinore_imports_no_other_room() -> None:
    at_once = {name: imports(path, later=False) for name, path in FILES.items()}
    assert reached(["elsinore"], at_once) & set(FILES) <= {"elsinore", *ALONE}


def test_the_client_imports_no_other_room() -> None:
    """Neither by itself, at any moment, nor along with what it imports."""
    client = [name for name in FILES if name.startswith("elsinore.client")]
    at_once = {name: imports(path, later=False) for name, path in FILES.items()}
    taken = {one for name in client for one in imports(FILES[name])}
    assert len(client) > 5
    found = {one for one in reached(taken, at_once) if room_of(one) in FOUR}
    assert {one for one in found if not one.startswith(LEAF)} == set()


@pytest.mark.parametrize("room", ROOMS)
def test_no_more_modules_import_each_other_in_a_circle(room: str) -> None:
    edges = {
        name: {one for one in imports(path) if room_of(one) == room}
        for name, path in FILES.items()
        if room_of(name) == room
    }
    found = sorted(cycles(edges), key=len, reverse=True)
    assert [len(one) for one in found] == CYCLES[room], [sorted(one) for one in found]


@pytest.mark.parametrize("top", [*ROOMS, *OTHERS])
def test_no_folder_is_crowded_or_deep(top: str) -> None:
    folders = Counter(path.relative_to(ROOT).parent for path in files_of(ROOT / top) if not path.match("__*__.py"))
    assert {folder: count for folder, count in folders.items() if count > MODULES} == {}
    assert [folder for folder in folders if len(folder.parts) > LEVELS] == []


def test_the_oracle_imports_nothing_that_it_judges() -> None:
    """Nor a module of the tests that does."""
    oracle = files_of(ROOT / "tests" / "oracle")
    assert len(oracle) > 10
    ours = (*ROOMS, *OTHERS)
    found = {(plain_name(path), one) for path in oracle for one in imports(path) if room_of(one) in ours}
    assert [pair for pair in sorted(found) if not f"{pair[1]}.".startswith("tests.oracle.")] == []


PY4J = {
    *("_jdf", "_jvm", "_jsc", "_jconf", "_jsparkSession", "_gateway", "_java_obj", "_jreader", "_jwrite", "_jc"),
    *("_detach", "_target_id", "_gateway_client", "_get_object_id", "_getJavaStorageLevel"),
}


def of_ray(name: str) -> bool:
    first, *others = name.split(".")
    return first == "ray" and any(re.match(r"_[a-z]", one) for one in others)


def of_py4j(name: str) -> bool:
    """Of Spark's objects as well, whose private attributes are Py4J's objects."""
    return not PY4J.isdisjoint(name.split(".")) or re.match(r"(py4j|pyspark)\..*\b_[a-z]", name) is not None


def of_numba(name: str) -> bool:
    return re.match(r"numba\.(core|_)", name) is not None or name == "_nrt"


def of_uvicorn(name: str) -> bool:
    """What it has of documented names is its command and its settings; protocols are its own."""
    return re.match(r"uvicorn\.(protocols|_)", name) is not None


PRIVATE: list[tuple[str, Callable[[str], bool], str]] = [
    ("Ray", of_ray, "connectors.spark.ray_internals"),
    ("Py4J", of_py4j, "connectors.spark.java_objects"),
    ("Numba", of_numba, "planner.kernels.compiled"),
    ("uvicorn", of_uvicorn, "cluster.service.web.edge"),
]
"""The one module that uses what a project keeps to itself: any version may change it."""


def names_in(path: Path) -> set[str]:
    """Return all that a module imports, its attributes with dots, and words that it passes on by name."""
    return set(_names_in(path))


def _names_in(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        match node:
            case ast.Import(names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from (f"{module}.{alias.name}" for alias in names)
            case ast.Attribute(attr=attr):
                yield attr if isinstance(node.value, ast.Call) else dotted(node)
            case ast.keyword(arg=str(word)) | ast.Constant(value=str(word)):
                yield word


def dotted(node: ast.expr) -> str:
    """Return the names of a chain of attributes, as far as they are names."""
    match node:
        case ast.Attribute(value=value, attr=attr):
            return f"{dotted(value)}.{attr}"
        case ast.Name(id=name):
            return name
    return ""


@pytest.fixture(scope="module")
def names() -> dict[str, set[str]]:
    return {name: names_in(path) for name, path in FILES.items()}


@pytest.mark.parametrize(("project", "private", "user"), PRIVATE, ids=[one[0] for one in PRIVATE])
def test_private_interfaces_are_used_in_one_module(
    names: dict[str, set[str]], project: str, private: Callable[[str], bool], user: str
) -> None:
    found = [name for name, used in names.items() if any(map(private, used))]
    assert found == [user], f"uses of what is private to {project}"


@pytest.mark.parametrize(
    ("private", "text"),
    [
        (of_ray, "from ray._private import state"),
        (of_ray, "from ray import _raylet"),
        (of_ray, "import ray.serve._private.replica"),
        (of_ray, "ray._private.worker.global_worker"),
        (of_py4j, "frame._jdf.write()"),
        (of_py4j, "getattr(frame, '_jdf')"),
        (of_py4j, "from pyspark.sql.utils import _to_java"),
        (of_numba, "from numba.core import event"),
        (of_numba, "from numba import _helperlib"),
        (of_numba, "OPTIONS = {'_nrt': False}"),
        (of_numba, "jit(_nrt=False)"),
        (of_uvicorn, "from uvicorn.protocols.http import auto"),
    ],
)
def test_private_interfaces_are_found(private: Callable[[str], bool], text: str, tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(text)
    assert any(map(private, names_in(path)))
    path.write_text("import ray, numba\nray.__version__\nnumba.njit(cache=True)\nself._own\n")
    assert not any(map(private, names_in(path)))


def test_circles_and_what_is_reached_are_found() -> None:
    edges = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set[str](), "e": {"e"}}
    assert sorted(map(sorted, cycles(edges))) == [["b", "c"], ["e"]]
    assert reached(["c"], edges) == {"b", "c", "d"}
