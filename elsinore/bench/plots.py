"""Drawing figures as images."""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape
from io import StringIO
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Image
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter, NullLocator

from elsinore.bench.captions import Outcomes, value
from elsinore.bench.figure import Figure, Sweep
from elsinore.bench.metrics import metric
from elsinore.bench.sizes import Size
from elsinore.drawing.themes import COLOURS, themed

MARKERS = ("o", "s", "^", "D", "v", "*", "P", "X")
STYLES = {
    "hamlet": 0,
    "a-seq": 0,
    "cogra": 0,
    "hamlet-static": 1,
    "gloria-noprune": 1,
    "prefix": 1,
    "greta": 2,
    "gloria": 3,
    "sharon": 3,
    "chop-connect": 3,
    "two-step": 4,
    "gloria-greedy": 4,
    "auto": 5,
}
"""The place of a strategy's colour and marker; others take those that their figure leaves over."""

FEW_DECADES = 1_000
"""Ratio of an axis's top to its bottom below which ticks at powers of ten alone would be too few."""

WIDE_AXIS = 30
"""Ratio of the last value of an axis to the first above which it is logarithmic."""

WIDTH, HEIGHT = 4.6, 2.9
"""Size of a panel in inches."""


def save(figure: Figure, outcomes: Outcomes, size: Size, caption: str, path: Path) -> None:
    """Save a figure with metrics from top to bottom, sweeps from left to right, and the caption below."""
    rows, columns = len(figure.metrics), len(figure.sweeps)
    width = WIDTH * max(columns, 2)
    text = "\n".join(fill(part, round(width * 14.4)) for part in caption.split("\n"))
    below = 0.25 + 0.165 * (text.count("\n") + 1)
    height = HEIGHT * rows + 0.75 + below
    with mpl.rc_context({"font.size": 9, "axes.grid": True, "grid.alpha": 0.3}):
        room = (0, below / height, 1, 1 - (below + 0.65) / height)
        image = Image(figsize=(width, height), dpi=140, layout=ConstrainedLayoutEngine(rect=room))
        FigureCanvasAgg(image)
        axes = image.subplots(rows, columns, squeeze=False)
        for place, (name, sweep) in enumerate(parts(figure)):
            own = axes[place // columns][place % columns]
            _panel(own, figure, name, sweep, outcomes, size)
            own.set_title(title(figure, place), loc="left", fontsize=9.5)
        image.suptitle(figure.title, fontsize=12, y=1 - 0.12 / height)
        handles, labels = axes[0][0].get_legend_handles_labels()
        top = 1 - 0.32 / height
        image.legend(handles, labels, loc="upper center", ncols=len(labels), frameon=False, bbox_to_anchor=(0.5, top))
        image.text(0.15 / width, 0.12 / height, text, va="bottom", fontsize=8.5, linespacing=1.3)
        image.savefig(path)


def panels(figure: Figure, outcomes: Outcomes, size: Size) -> Iterator[str]:
    """Yield the panels as SVG, in colours that are variables of CSS, see `elsinore.drawing.themes`."""
    for place, (name, sweep) in enumerate(parts(figure)):
        salt = f"{figure.name}-{place}"
        look: Any = {"font.size": 9, "axes.grid": True, "grid.alpha": 0.5, "svg.fonttype": "none", "svg.hashsalt": salt}
        with mpl.rc_context(look):
            image = Image(figsize=(WIDTH, HEIGHT), layout=ConstrainedLayoutEngine(rect=(0, 0, 1, 1)))
            FigureCanvasSVG(image)
            axes = image.subplots()
            axes.patch.set_alpha(0)
            image.patch.set_alpha(0)
            _panel(axes, figure, name, sweep, outcomes, size)
            text = StringIO()
            image.savefig(text, format="svg", metadata={"Date": None})
        yield themed(text.getvalue(), title(figure, place))


def style(figure: Figure, strategy: str) -> int:
    """Return the place of a strategy's colour and marker."""
    if strategy in STYLES:
        return STYLES[strategy]
    taken = {STYLES[one] for one in figure.strategies if one in STYLES}
    free = [place for place in range(len(COLOURS)) if place not in taken] or list(range(len(COLOURS)))
    others = [one for one in figure.strategies if one not in STYLES]
    return free[others.index(strategy) % len(free)]


def parts(figure: Figure) -> list[tuple[str, Sweep]]:
    """Return the metrics and sweeps of the panels."""
    return [(name, sweep) for name in figure.metrics for sweep in figure.sweeps]


def title(figure: Figure, place: int) -> str:
    """Return the title of a panel."""
    name, sweep = parts(figure)[place]
    return f"({chr(ord('a') + place)}) {metric(name).words}, {sweep.fixed.setting}"


def _panel(axes: Any, figure: Figure, name: str, sweep: Sweep, outcomes: Outcomes, size: Size) -> None:
    axes.set_yscale("log" if figure.log else "linear")
    at, kind = sweep.at(size), metric(name)
    for place, strategy in enumerate(figure.strategies):
        look = style(figure, strategy)
        values = [value(outcomes[point], name) for point in sweep.points(strategy, size)]
        heights = [math.nan if found is None else found for found in values]
        label = _label(figure, strategy, outcomes, size)
        axes.plot(at, heights, color=COLOURS[look], marker=MARKERS[look], markersize=5, label=label)
        _crosses(axes, [x for x, found in zip(at, values, strict=True) if found is None], COLOURS[look], place)
    axes.set_xlabel(figure.along(sweep.axis))
    axes.set_ylabel(kind.axis or kind.words)
    if figure.log:
        low, high = axes.get_ylim()
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < FEW_DECADES else (1,)))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(EngFormatter(unit=kind.unit, sep=" " if kind.unit else ""))
    if min(at) > 0 and max(at) / min(at) > WIDE_AXIS:
        axes.set_xscale("log")
        axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(at)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))


def _crosses(axes: Any, missing: list[int], colour: str, place: int) -> None:
    """Mark points without a value by crosses at the top of the panel."""
    for x in missing:
        height = 0.95 - 0.07 * place
        axes.plot([x], [height], transform=axes.get_xaxis_transform(), color=colour, marker="x", clip_on=False)


def _label(figure: Figure, strategy: str, outcomes: Outcomes, size: Size) -> str:
    own = [outcomes[point] for point in dict.fromkeys(figure.points(size)) if point.strategy == strategy]
    reasons = sorted({outcome.status for outcome in own if outcome.status != "measured"})
    return figure.label(strategy) + (f" (x: {', '.join(reasons)})" if reasons else "")


def key_of(figure: Figure, strategy: str) -> str:
    """Return the entry of a strategy in a legend, as HTML."""
    look = style(figure, strategy)
    colour = f"var(--c{look})"
    shapes = {
        "o": '<circle cx="16" cy="7" r="4"/>',
        "s": '<rect x="12" y="3" width="8" height="8"/>',
        "^": '<path d="M16 2l5 9h-10z"/>',
        "D": '<path d="M16 2l5 5-5 5-5-5z"/>',
        "v": '<path d="M16 12l5-9h-10z"/>',
        "*": '<path d="M16 1l1.6 4.2 4.4.2-3.5 2.7 1.2 4.3L16 10l-3.7 2.4 1.2-4.3L10 5.4l4.4-.2z"/>',
        "P": '<path d="M14 2h4v3h3v4h-3v3h-4v-3h-3v-4h3z"/>',
        "X": '<path d="M13 2l3 3 3-3 2 2-3 3 3 3-2 2-3-3-3 3-2-2 3-3-3-3z"/>',
    }
    mark = f'<path d="M0 7h32" stroke="{colour}" stroke-width="1.5"/><g fill="{colour}">{shapes[MARKERS[look]]}</g>'
    return f'<span><svg viewBox="0 0 32 14" aria-hidden="true">{mark}</svg>{escape(figure.label(strategy))}</span>'
