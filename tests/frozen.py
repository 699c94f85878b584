"""Freeze what the vectors answer under every strategy: digests of rows, and places of problems.

`python -m tests.frozen` writes both files anew, in some minutes. A line of `rows.txt` is a case of the vectors, a
numeric, an outcome, and the strategies that have it. A line of `problems.txt` is a bad workload of
`tests/planner/golden`, and the query and place of each of its problems, whatever is said of them.
After a change that is meant, read the difference before it goes in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Any, Literal

import elsinore
from elsinore.planner.checks.check import check_text
from elsinore.planner.language.errors import Problem, WorkloadError
from elsinore.planner.plans.strategies import METHODS
from tests.vectors import CASES, FOLDER, name

ROWS, PROBLEMS = FOLDER / "rows.txt", FOLDER / "problems.txt"
GOLDEN = Path(__file__).parent / "planner" / "golden"
LINE = "\n----------------------------------------\n"
NUMERICS: tuple[Literal["exact", "approximate"], ...] = ("exact", "approximate")
ALL = "all"
"""Stands in a line for every strategy."""
DIGITS = 9
"""Of approximate numbers; behind them the order of additions shows."""

Combination = tuple[str, Literal["exact", "approximate"], str]
"""A case, a numeric and a strategy."""

BY_NAME = {name(case): case for case in CASES}
COMBINATIONS: list[Combination] = list(product(BY_NAME, NUMERICS, METHODS))


def outcome(one: Combination, engine: Literal["ray", "local"] = "local") -> str:
    """Run a combination: how many rows it has and their digest, or where its problems are."""
    case, numeric, strategy = one
    found = BY_NAME[case]
    try:
        result = elsinore.run(found["workload"], found["events"], engine=engine, strategy=strategy, numeric=numeric)
    except WorkloadError as error:
        return places(error.problems)
    rows = result.rows()
    return f"{len(rows)}:{digest(rows, numeric)}"


def digest(rows: Iterable[Mapping[str, Any]], numeric: str) -> str:
    """Return the digest of rows in their order, with their columns in theirs."""
    found = hashlib.blake2b(digest_size=6)
    for row in rows:
        shown = {column: _shown(value, numeric) for column, value in row.items()}
        found.update(f"{shown}\n".encode())
    return found.hexdigest()


def _shown(value: Any, numeric: str) -> str:
    """Return a value with its type; whole numbers of any size are exact, unless the run is approximate."""
    match value:
        case None | str() | bool() | datetime():
            return repr(value)
        case int() if numeric == "exact":
            return str(value)
        case int() | float():
            return f"{type(value).__name__} {value:.{DIGITS - 1}e}"
    raise TypeError(f"{value!r} stands in no row")


def places(problems: Iterable[Problem]) -> str:
    """Return the query and the place of each problem, in order, without spaces."""
    found = (
        f"{one.query or '-'}@{'-' if one.place is None else f'{one.place.start}-{one.place.end}'}" for one in problems
    )
    return f"refused:{','.join(found)}"


def refusals() -> dict[str, str]:
    """Return the places of the problems of every bad workload, by the name of its file."""
    found = {}
    for path in sorted(GOLDEN.glob("*.txt")):
        try:
            check_text(path.read_text(encoding="utf-8").partition(LINE)[0])
            found[path.stem] = "fine"
        except WorkloadError as error:
            found[path.stem] = places(error.problems)
    return found


def frozen() -> dict[Combination, str]:
    """Read the outcomes of all combinations."""
    found: dict[Combination, str] = {}
    for line in ROWS.read_text(encoding="utf-8").splitlines():
        case, numeric, known, names = line.split()
        for strategy in METHODS if names == ALL else names.split(","):
            found[case, "exact" if numeric == "exact" else "approximate", strategy] = known
    return found


def frozen_refusals() -> dict[str, str]:
    """Read the places of the problems of every bad workload."""
    return dict(line.split(" ", 1) for line in PROBLEMS.read_text(encoding="utf-8").splitlines())


def _lines(outcomes: Mapping[Combination, str]) -> Iterable[str]:
    for case, numeric in product(BY_NAME, NUMERICS):
        by_outcome: dict[str, list[str]] = {}
        for strategy in METHODS:
            by_outcome.setdefault(outcomes[case, numeric, strategy], []).append(strategy)
        for found, names in by_outcome.items():
            yield f"{case} {numeric} {found} {ALL if len(names) == len(METHODS) else ','.join(names)}\n"


def write() -> None:
    """Write both files anew."""
    PROBLEMS.write_text("".join(f"{stem} {found}\n" for stem, found in refusals().items()), encoding="utf-8")
    ROWS.write_text("".join(_lines({one: outcome(one) for one in COMBINATIONS})), encoding="utf-8")


if __name__ == "__main__":
    write()
