"""`elsinore bench`, behind its options."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.progress import track

from elsinore.bench.captions import here
from elsinore.bench.figures import FIGURES, Figure
from elsinore.bench.machine import machine
from elsinore.bench.outcomes import Outcome, outcome
from elsinore.bench.replay import DEFINITIONS
from elsinore.bench.settings import Point
from elsinore.errors import InputError

LIMIT, QUICK_LIMIT = 120.0, 30.0
"""Seconds of a point."""

FIRST_LIMIT = 600.0
FEW = 2
"""Queries that have all kernels compiled, and less than any figure asks for."""


def bench(names: Sequence[str], out: Path, quick: bool, shown: bool) -> Iterator[Path]:
    """Measure what the figures need, a point that several show only once, and draw them into a folder, one by one."""
    figures = [_known(name) for name in dict.fromkeys(names)]
    _require_matplotlib()
    out.mkdir(parents=True, exist_ok=True)
    outcomes: dict[Point, Outcome] = {}
    for figure in figures:
        points = [point for point in dict.fromkeys(figure.points(quick)) if point not in outcomes]
        limits = [*((point, FIRST_LIMIT) for point in _first(points)), *((point, _limit(quick)) for point in points)]
        console = Console(stderr=True)
        for point, limit in track(limits, figure.name, console=console, transient=True, disable=not shown):
            outcomes[point] = outcome(point, limit)
        yield from _written(figure, outcomes, quick, out)


def _first(points: Sequence[Point]) -> list[Point]:
    """A run of each strategy over each stream that nobody looks at: on a new machine it compiles the kernels."""
    first = {(point.setting, point.strategy): point for point in reversed(points)}
    return [replace(point, queries=FEW) for point in first.values()]


def _limit(quick: bool) -> float:
    return QUICK_LIMIT if quick else LIMIT


def _written(figure: Figure, outcomes: dict[Point, Outcome], quick: bool, out: Path) -> Iterator[Path]:
    from elsinore.bench.plots import save

    measured = here(figure, outcomes, quick)
    document = {
        "figure": figure.name,
        "title": figure.title,
        "paper": figure.paper,
        "here": measured,
        "settings": {setting.name: setting.what for setting in figure.settings},
        "definitions": DEFINITIONS,
        "quick": quick,
        "limit": _limit(quick),
        "machine": machine(),
        "points": [outcomes[point].document() for point in dict.fromkeys(figure.points(quick))],
    }
    data, image = (out / f"{figure.name}.{suffix}" for suffix in ("json", "png"))
    data.write_text(json.dumps(document, indent=2) + "\n")
    save(figure, outcomes, quick, f"The paper: {figure.paper}\nHere: {measured}\n{_streams(figure)}", image)
    yield from (image, data)


def _streams(figure: Figure) -> str:
    return " ".join(f"{setting.name}: {setting.what}; {setting.numeric} numbers." for setting in figure.settings)


def _known(name: str) -> Figure:
    if name not in FIGURES:
        raise InputError(f"there is no figure {name!r}; there is {', '.join(FIGURES)}")
    return FIGURES[name]


def _require_matplotlib() -> None:
    """Before anything is measured."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError("figures are drawn by matplotlib; install it with: pip install 'elsinore[bench]'") from None
