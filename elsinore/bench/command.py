"""The implementation of `elsinore bench`, behind its options."""

from __future__ import annotations

import csv
import json
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from elsinore.bench.captions import here, verdicts
from elsinore.bench.figure import Figure
from elsinore.bench.figures import FIGURES
from elsinore.bench.machine import machine
from elsinore.bench.outcomes import Outcome, outcome
from elsinore.bench.page import Shown, page
from elsinore.bench.points import Point
from elsinore.bench.sizes import SIZES, Size
from elsinore.errors import InputError

ALL = "all"
WARM_UP_SECONDS = 600.0
"""The most seconds of a warm-up point, which may compile kernels."""


def bench(names: Sequence[str], out: Path, size_name: str, shown: bool) -> Iterator[Path]:
    """Measure the points of the figures, each only once, draw the figures into a folder, and yield the paths.

    The page of all figures is written after each of them, and once more where the measurement is stopped: it then says
    what is missing.
    """
    figures = [figure for name in dict.fromkeys(names) for figure in _known(name)]
    figures = list({figure.name: figure for figure in figures}.values())
    size = _size(size_name)
    _require_matplotlib()
    out.mkdir(parents=True, exist_ok=True)
    made = Report(figures, size, out, shlex.join(["elsinore", "bench", *names, "--size", size.name, "--out", str(out)]))
    try:
        with _bar(made.length, shown) as step:
            for figure in figures:
                made.measure(figure, step)
                yield from made.written(figure)
    finally:
        path = made.finished()
    yield path


class Report:
    """The figures of a run of the command, as far as they are measured."""

    def __init__(self, figures: Sequence[Figure], size: Size, out: Path, command: str) -> None:
        self.figures, self.size, self.out, self.command = figures, size, out, command
        self.machine = machine()
        self.outcomes: dict[Point, Outcome] = {}
        self.shown: dict[str, Shown] = {}

    @property
    def length(self) -> int:
        """Return the number of points of all figures; a point of several figures counts once."""
        return len({point for figure in self.figures for point in figure.points(self.size)})

    def measure(self, figure: Figure, step: Any) -> None:
        """Measure all points of a figure that no other figure has measured."""
        points = [point for point in dict.fromkeys(figure.points(self.size)) if point not in self.outcomes]
        step(figure.name, 0)
        for point in _first(points):
            outcome(point, WARM_UP_SECONDS)
        for point in points:
            self.outcomes[point] = outcome(point, figure.kind.limit * self.size.patience)
            step(figure.name, 1)

    def written(self, figure: Figure) -> Iterator[Path]:
        """Write the files of a figure and the page, and yield the paths of the files."""
        from elsinore.bench.plots import panels, save

        known = {point: self.outcomes.get(point, _missing(point)) for point in figure.points(self.size)}
        measured, checks = here(figure, known, self.size), verdicts(figure, known, self.size)
        document: dict[str, Any] = {
            "figure": figure.name,
            "title": figure.title,
            "paper": figure.paper,
            "section": figure.section,
            "here": measured,
            "shape": [asdict(check) for check in checks],
            "settings": figure.settings,
            "definitions": figure.kind.definitions,
            "size": self.size.name,
            "limit": figure.kind.limit * self.size.patience,
            "command": f"elsinore bench {figure.name} --size {self.size.name}",
            "machine": self.machine,
            "points": [one.document() for one in known.values()],
        }
        image, data, table = (self.out / f"{figure.name}.{suffix}" for suffix in ("png", "json", "csv"))
        data.write_text(json.dumps(document, indent=2) + "\n")
        _write_table(table, document["points"])
        caption = f"The paper: {figure.paper}\nHere: {measured}\n{_settings(figure)}"
        save(figure, known, self.size, caption, image)
        svgs = list(panels(figure, known, self.size))
        self.shown[figure.name] = Shown(figure, document, checks, svgs)
        yield from (image, data, table, *self._drawn(figure, svgs))
        self._write_page()

    def _drawn(self, figure: Figure, svgs: Sequence[str]) -> Iterator[Path]:
        from elsinore.drawing.themes import alone

        for place, svg in enumerate(svgs):
            path = self.out / f"{figure.name}-{chr(ord('a') + place)}.svg"
            path.write_text(alone(svg))
            yield path

    def finished(self) -> Path:
        """Write the page; figures of which only some points are measured are drawn too."""
        for figure in self.figures:
            begun = any(point in self.outcomes for point in figure.points(self.size))
            if figure.name not in self.shown and begun:
                list(self.written(figure))
        return self._write_page()

    def _write_page(self) -> Path:
        path = self.out / "index.html"
        path.write_text(page(self.figures, self.shown, self.machine, self.size, self.command))
        return path


def _missing(point: Point) -> Outcome:
    return Outcome(point, "missing", why="stopped before it was run")


def _first(points: Sequence[Point]) -> list[Point]:
    """Return the warm-up points: one for each strategy and setting that needs one."""
    first = {(point.setting, point.strategy): point for point in reversed(points)}
    return [found for point in first.values() if (found := point.first())]


def _write_table(path: Path, points: list[dict[str, Any]]) -> None:
    columns = list(dict.fromkeys(name for point in points for name in point))
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, columns)
        writer.writeheader()
        writer.writerows(points)


def _settings(figure: Figure) -> str:
    return " ".join(f"{name}: {what}." for name, what in figure.settings.items())


def _known(name: str) -> list[Figure]:
    if name == ALL:
        return list(FIGURES.values())
    if name not in FIGURES:
        raise InputError(f"there is no figure {name!r}; there is {ALL}, {', '.join(FIGURES)}")
    return [FIGURES[name]]


def _size(name: str) -> Size:
    if name not in SIZES:
        raise InputError(f"there is no size {name!r}; there is {', '.join(SIZES)}")
    return SIZES[name]


@contextmanager
def _bar(length: int, shown: bool) -> Iterator[Any]:
    """Show how many points are measured, and yield the function that names the figure and counts on."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(
        *columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True, disable=not shown
    ) as bar:
        task = bar.add_task("", total=length)
        yield lambda name, done: bar.update(task, description=name, advance=done)


def _require_matplotlib() -> None:
    """Raise InputError if matplotlib is missing, before anything is measured."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError("figures are drawn by matplotlib; install it with: pip install 'elsinore[bench]'") from None
