"""The implementation of `elsinore bench`, behind its options."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import track

from elsinore.bench.captions import here
from elsinore.bench.figure import Figure
from elsinore.bench.figures import FIGURES
from elsinore.bench.machine import machine
from elsinore.bench.outcomes import Outcome, outcome
from elsinore.bench.points import Point
from elsinore.errors import InputError

WARM_UP_SECONDS = 600.0
"""The most seconds of a warm-up point."""


def bench(names: Sequence[str], out: Path, quick: bool, shown: bool) -> Iterator[Path]:
    """Measure the points of the figures, each only once, draw the figures into a folder, and yield their paths."""
    figures = [_known(name) for name in dict.fromkeys(names)]
    _require_matplotlib()
    out.mkdir(parents=True, exist_ok=True)
    outcomes: dict[Point, Outcome] = {}
    for figure in figures:
        points = [point for point in dict.fromkeys(figure.points(quick)) if point not in outcomes]
        limits = [
            *((point, WARM_UP_SECONDS) for point in _first(points)),
            *((point, _limit(figure, quick)) for point in points),
        ]
        console = Console(stderr=True)
        for point, limit in track(limits, figure.name, console=console, transient=True, disable=not shown):
            outcomes[point] = outcome(point, limit)
        yield from _written(figure, outcomes, quick, out)


def _first(points: Sequence[Point]) -> list[Point]:
    """Return the warm-up points: one for each strategy and setting that needs one."""
    first = {(point.setting, point.strategy): point for point in reversed(points)}
    return [found for point in first.values() if (found := point.first())]


def _limit(figure: Figure, quick: bool) -> float:
    return figure.kind.limits[quick]


def _written(figure: Figure, outcomes: dict[Point, Outcome], quick: bool, out: Path) -> Iterator[Path]:
    from elsinore.bench.plots import save

    measured = here(figure, outcomes, quick)
    document = {
        "figure": figure.name,
        "title": figure.title,
        "paper": figure.paper,
        "here": measured,
        "settings": figure.settings,
        "definitions": figure.kind.definitions,
        "quick": quick,
        "limit": _limit(figure, quick),
        "machine": machine(),
        "points": [outcomes[point].document() for point in dict.fromkeys(figure.points(quick))],
    }
    data, image = (out / f"{figure.name}.{suffix}" for suffix in ("json", "png"))
    data.write_text(json.dumps(document, indent=2) + "\n")
    save(figure, outcomes, quick, f"The paper: {figure.paper}\nHere: {measured}\n{_settings(figure)}", image)
    yield from (image, data)


def _settings(figure: Figure) -> str:
    return " ".join(f"{name}: {what}." for name, what in figure.settings.items())


def _known(name: str) -> Figure:
    if name not in FIGURES:
        raise InputError(f"there is no figure {name!r}; there is {', '.join(FIGURES)}")
    return FIGURES[name]


def _require_matplotlib() -> None:
    """Raise InputError if matplotlib is missing, before anything is measured."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError("figures are drawn by matplotlib; install it with: pip install 'elsinore[bench]'") from None
