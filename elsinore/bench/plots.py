"""Drawing figures as images."""

from __future__ import annotations

import math
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Image
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

from elsinore.bench.captions import LABELS, Outcomes, value, words
from elsinore.bench.figure import Figure, Metric, Sweep

STYLES = {
    "hamlet": ("#0b6e4f", "o"),
    "hamlet-static": ("#c8553d", "s"),
    "greta": ("#3a5a98", "^"),
    "sharon": ("#b8860b", "D"),
    "two-step": ("#7d3c98", "v"),
    "auto": ("#111111", "*"),
    "gloria": ("#b8860b", "D"),
    "gloria-noprune": ("#c8553d", "s"),
    "gloria-greedy": ("#7d3c98", "v"),
    "a-seq": ("#0b6e4f", "o"),
    "prefix": ("#c8553d", "s"),
    "chop-connect": ("#b8860b", "D"),
    "cogra": ("#3a5a98", "^"),
}
UNITS = {
    "latency": "s",
    "throughput": "",
    "memory": "B",
    "optimization_time": "s",
    "execution_time": "s",
    "insertion_time": "s",
    "snapshots": "",
}
AXES = {
    "rate": "events a minute",
    "queries": "queries",
    "length": "types of a Kleene sub-pattern",
    "percent": "% of queries with Kleene, or complex",
    "burst": "events of a burst",
    "types": "types of a sequence, or in common",
    "window": "ms of a window",
    "negated": "negated types",
}

FEW_DECADES = 1_000
"""Ratio of an axis's top to its bottom below which ticks at powers of ten alone would be too few."""

WIDTH, HEIGHT = 4.6, 2.9
"""Size of a panel in inches."""


def save(figure: Figure, outcomes: Outcomes, quick: bool, caption: str, path: Path) -> None:
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
        for row, metric in enumerate(figure.metrics):
            for column, sweep in enumerate(figure.sweeps):
                letter = chr(ord("a") + row * columns + column)
                _panel(axes[row][column], figure, metric, sweep, outcomes, quick, letter)
        image.suptitle(figure.title, fontsize=12, y=1 - 0.12 / height)
        handles, labels = axes[0][0].get_legend_handles_labels()
        top = 1 - 0.32 / height
        image.legend(handles, labels, loc="upper center", ncols=len(labels), frameon=False, bbox_to_anchor=(0.5, top))
        image.text(0.15 / width, 0.12 / height, text, va="bottom", fontsize=8.5, linespacing=1.3)
        image.savefig(path)


def _panel(
    axes: Any, figure: Figure, metric: Metric, sweep: Sweep, outcomes: Outcomes, quick: bool, letter: str
) -> None:
    axes.set_yscale("log" if figure.log else "linear")
    at = sweep.ends(quick)
    for place, strategy in enumerate(figure.strategies):
        colour, marker = STYLES[strategy]
        values = [value(outcomes[point], metric) for point in sweep.points(strategy, quick)]
        heights = [math.nan if found is None else found for found in values]
        label = _label(figure, strategy, outcomes, quick)
        axes.plot(at, heights, color=colour, marker=marker, markersize=5, label=label)
        _crosses(axes, [x for x, found in zip(at, values, strict=True) if found is None], colour, place)
    axes.set_xlabel(AXES[sweep.axis])
    axes.set_ylabel("events a second" if metric == "throughput" else words(metric))
    if figure.log:
        low, high = axes.get_ylim()
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < FEW_DECADES else (1,)))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(EngFormatter(unit=UNITS[metric], sep=" " if UNITS[metric] else ""))
    axes.set_title(f"({letter}) {words(metric)}, {sweep.fixed.setting}", loc="left", fontsize=9.5)
    axes.set_xticks(at)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))


def _crosses(axes: Any, missing: list[int], colour: str, place: int) -> None:
    """Mark points without a value by crosses at the top of the panel."""
    for x in missing:
        height = 0.95 - 0.07 * place
        axes.plot([x], [height], transform=axes.get_xaxis_transform(), color=colour, marker="x", clip_on=False)


def _label(figure: Figure, strategy: str, outcomes: Outcomes, quick: bool) -> str:
    own = [outcomes[point] for point in dict.fromkeys(figure.points(quick)) if point.strategy == strategy]
    reasons = sorted({outcome.status for outcome in own if outcome.status != "measured"})
    return LABELS[strategy] + (f" (x: {', '.join(reasons)})" if reasons else "")
